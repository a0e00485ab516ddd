"""Figures that a reader moves, written whole by the build: fields, results and tables.

Each function returns one `<figure>`, its results computed from what the page hands over. A small
script of docs/assets/live/ brings it to life and computes the same anew for other inputs; where
there is no script, the fields are hidden and the numbers stand. A figure keeps what the build
wrote as the state to return to, so a page's inputs have one home: its own checked blocks.
"""

from __future__ import annotations

import html
import json
import math

import numpy as np

from _lesson.figures.svg import _mark
from attention import (
    attention_flops,
    attention_scores,
    count_parameters,
    crossover_length,
    entropy,
    layer_flops,
    matrix_flops,
    score_bytes,
    score_entries,
    softmax,
)


def fixed(value: float, places: int = 4) -> str:
    """A number as the scripts' `fixed` writes it."""
    return f"{float(value):z.{places}f}"


def worksheet(title: str, query_name: str, names, query, keys, values) -> str:
    """A query over some keys, step by step; every entry is a field."""
    names = list(names)
    query, keys, values = (np.asarray(x, float) for x in (query, keys, values))
    d_k, d_v = len(query), values.shape[1]
    scores = attention_scores(query[None], keys, scale=1)[0]
    scaled = scores / np.sqrt(d_k)
    exps, weights = np.exp(scaled), softmax(scaled)

    def entries(role: str, prefix: str, name: str, vector) -> str:
        cells = "".join(
            f"<td>{_text_field(f'{prefix}{i}', x, f'{role} {name}, entry {i + 1}')}</td>"
            for i, x in enumerate(vector)
        )
        return f'<tr><th scope="row"><span class="role {role}">{_e(name)}</span></th>{cells}</tr>'

    rows = [entries("query", "q", query_name, query)]
    rows += [
        entries("key", f"k{row}", name, key)
        for row, (name, key) in enumerate(zip(names, keys, strict=True))
    ]
    columns = [
        entries("value", f"v{row}", name, value)
        for row, (name, value) in enumerate(zip(names, values, strict=True))
    ]
    steps = ("score", "q·k"), ("scaled", "/sqrt(d)"), ("exp", "exp"), ("weight", "alpha")
    head = "".join(f'<th scope="col" class="step-{step}">{name}</th>' for step, name in steps)
    body = []
    for row, name in enumerate(names):
        cells = "".join(
            f'<td class="step-{step}{" share" if step == "weight" else ""}" '
            f'data-out="{step}{row}"{_share(column[row]) if step == "weight" else ""}>'
            f"{fixed(column[row])}</td>"
            for (step, _), column in zip(steps, (scores, scaled, exps, weights), strict=True)
        )
        body.append(f'<tr><th scope="row">{_e(name)}</th>{cells}</tr>')
    body.append(
        '<tr><th scope="row">sum</th><td></td><td></td>'
        f'<td class="step-exp" data-out="expsum">{fixed(exps.sum())}</td>'
        f'<td class="step-weight" data-out="weightsum">{fixed(weights.sum())}</td></tr>'
    )
    output = ", ".join(
        f'<span data-out="output{i}">{fixed(x)}</span>' for i, x in enumerate(weights @ values)
    )
    guesses = "".join(
        f'<button type="button" data-guess aria-pressed="false">{_e(name)}</button>'
        for name in names
    )
    parts = [
        _controls(
            '<div class="live-side">'
            f"{_table('Query and keys', '', rows)}{_table('Values', '', columns)}</div>",
            '<p class="live-row"><label><input type="checkbox" name="steps"> Step by step, '
            "and predict first</label></p>",
            '<div class="live-steps"><p data-text="step"></p>'
            '<p class="live-row"><span id="worksheet-guess">The largest weight goes to</span> '
            '<span role="group" aria-labelledby="worksheet-guess" class="live-row">'
            f"{guesses}</span>"
            '<button type="button" data-do="next">Show the next column</button></p>'
            '<p data-text="verdict"></p></div>',
        ),
        _table("From scores to weights", f'<th scope="col">key</th>{head}', body),
        f'<p class="live-result step-result"><span class="role value">output</span> ({output}); '
        f'entropy <span data-out="entropy">{fixed(entropy(weights))}</span> of at most '
        f'<span data-out="maximum">{fixed(np.log2(len(names)))}</span> bits</p>'
        '<p data-text="note"></p>',
    ]
    return _figure("worksheet", title, {"names": names, "d_k": d_k, "d_v": d_v}, parts)


def sharpness(title: str, width: int, scaled) -> str:
    """One trial's scores: how width, length and temperature sharpen raw and scaled weights."""
    scaled = np.asarray(scaled, float)
    scores = {"raw": scaled * math.sqrt(width), "scaled": scaled}
    rows = []
    for i in range(len(scaled)):
        cells = "".join(
            f'<td data-out="{kind}score{i}">{fixed(scores[kind][i], 2)}</td>'
            f'<td class="share" data-out="{kind}{i}"{_share(softmax(scores[kind])[i])}>'
            f"{fixed(softmax(scores[kind])[i])}</td>"
            for kind in scores
        )
        rows.append(f'<tr><th scope="row">key {i + 1}</th>{cells}</tr>')
    bits = {kind: entropy(softmax(these)) for kind, these in scores.items()}
    for name, out, value in (
        ("entropy", "bits", lambda kind: fixed(bits[kind])),
        ("effective keys", "keys", lambda kind: fixed(2 ** bits[kind], 2)),
    ):
        cells = "".join(f'<td></td><td data-out="{k}{out}">{value(k)}</td>' for k in scores)
        rows.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    head = '<th scope="col">key</th>' + "".join(
        f'<th scope="col">{kind} score</th><th scope="col">{kind} alpha</th>' for kind in scores
    )
    parts = [
        _controls(
            _slider("sharpness", "d_k", "width d_k", (0, 12, 1), math.log2(width), width),
            _slider("sharpness", "times", "query times", (-3, 5, 0.5), 0, 1),
            _slider("sharpness", "temperature", "temperature", (-3, 3, 0.5), 0, 1),
        ),
        _table("Scores and weights", head, rows),
    ]
    data = {"scaled": scaled.tolist(), "maximum": math.log2(len(scaled))}
    return _figure("sharpness", title, data, parts, "scale")


def lab(title: str, widths, n_keys: int, trials: int, bits: dict, norms: dict) -> str:
    """The scaling experiment, to be drawn anew; `bits` and `norms` are pairs of raw and scaled,

    each a dict from a width to the trials' entropies or Jacobian norms.
    """
    page = []
    for d in widths:
        row = {}
        for kind in ("raw", "scaled"):
            these, sizes = np.asarray(bits[kind][d]), np.asarray(norms[kind][d])
            row[kind] = [these.mean().item(), (these.std(ddof=1) / math.sqrt(len(these))).item()]
            row[f"{kind}Norm"] = [np.median(sizes).item(), sizes.mean().item()]
        page.append(row)
    rows = []
    for w, (d, row) in enumerate(zip(widths, page, strict=True)):
        cells = "".join(
            f'<td data-out="{kind}{w}">{fixed(row[kind][0], 2)}±{fixed(row[kind][1], 3)}</td>'
            for kind in ("raw", "scaled")
        ) + "".join(
            f'<td data-out="{kind}{name}{w}">{row[f"{kind}Norm"][place]:.2g}</td>'
            for kind in ("raw", "scaled")
            for place, name in enumerate(("median", "mean"))
        )
        rows.append(f'<tr><th scope="row">{d}</th>{cells}</tr>')
    head = "".join(
        f'<th scope="col">{name}</th>'
        for name in (
            "d_k",
            "bits raw",
            "bits scaled",
            "norm raw, median",
            "mean",
            "norm scaled, median",
            "mean",
        )
    )
    parts = [
        _controls(
            '<p class="live-row">'
            + _labelled("lab", "trials", "trials", trials)
            + _labelled("lab", "keys", "keys", n_keys)
            + _labelled("lab", "seed", "seed", "")
            + '<button type="button" data-do="draw">Draw fresh trials</button></p>'
            '<p data-text="progress">These are the page’s own draws.</p>'
        ),
        _plot("width d_k", f"{title}: see the table."),
        _legend(("entropy raw", "entropy scaled")),
        "<p>Upright lines reach one standard error up and down. At most "
        f'<span data-out="maximum">{fixed(math.log2(n_keys), 2)}</span> bits.</p>',
        _table("Entropy, ± its standard error, and the norm of the softmax Jacobian", head, rows),
    ]
    data = {"widths": list(widths), "trials": trials, "keys": n_keys, "page": page}
    return _figure("lab", title, data, parts, "scale")


def probe(title: str, tokens, scores, visible) -> str:
    """The causal mask before and after the softmax, and one hidden score to change."""
    tokens = list(tokens)
    scores, visible = np.asarray(scores, float), np.asarray(visible)
    hidden = [(i, j) for i, j in np.argwhere(~visible).tolist()]
    start = hidden[len(tokens) - 2]  # the first query, the last key
    options = "".join(
        f'<option value="{i},{j}"{" selected" if (i, j) == start else ""}>'
        f"{_e(tokens[i])} → {_e(tokens[j])}</option>"
        for i, j in hidden
    )
    tables = []
    for kind, name, weights in (
        ("first", "Mask, then softmax", softmax(scores, mask=visible)),
        ("last", "Softmax, then mask", np.where(visible, softmax(scores), 0.0)),
    ):
        rows = []
        for i, token in enumerate(tokens):
            cells = "".join(
                f'<td data-out="{kind}{i}{j}">{fixed(weights[i, j])}</td>'
                if visible[i, j]
                else "<td>0</td>"
                for j in range(len(tokens))
            )
            rows.append(
                f'<tr><th scope="row">{_e(token)}</th>{cells}'
                f'<td class="total" data-out="{kind}sum{i}">{fixed(weights[i].sum())}</td></tr>'
            )
        names = "".join(f'<th scope="col">{_e(name)}</th>' for name in ["query", *tokens, "sum"])
        tables.append(
            f'<div class="live-panel">{_table(name, names, rows)}'
            f'<p><span data-out="moved{kind}">no weight moved, not by one bit</span></p></div>'
        )
    i, j = start
    kept = softmax(scores, mask=visible)[i][visible[i]]
    parts = [
        _controls(
            f'<p class="live-row"><label>query → hidden key <select name="pair">{options}</select>'
            "</label></p>"
            + _dial("probe", "score", "its score", scores[i, j], (-5, 20, 0.5), scores[i, j])
        ),
        f'<div class="live-side">{"".join(tables)}</div>',
        "<p>Divided by its sum, the masked-last row mends where it can: "
        f'<span data-out="mended">the row of “{_e(tokens[i])}” is '
        f"{', '.join(map(fixed, kept))}</span>.</p>",
    ]
    data = {"tokens": tokens, "scores": scores.tolist(), "visible": visible.tolist()}
    return _figure("probe", title, data, parts, "causality")


def dial(title: str, n: int, D: int, H: int, h: int) -> str:
    """What a layer costs at a length: scores, memory, operations, and where they cross."""
    quadratic, layer = attention_flops(n, D), layer_flops(n, D, H)
    crossover = crossover_length(D, H)
    size, unit = score_bytes(n, h), 0
    while size >= 1024:
        size, unit = size / 1024, unit + 1
    if n == crossover:
        side = "exactly at the crossover"
    elif n < crossover:
        side = "below it: the matrices cost more"
    else:
        side = "above it: scores and mixing cost more"
    results = (
        ("scores of one head, n²", "scores", f"{score_entries(n):,}"),
        ("scores of all heads, hn²", "allscores", f"{score_entries(n, h):,}"),
        ("bytes for them, four each", "bytes", f"{score_bytes(n, h):,}"),
        ("as memory", "memory", f"{size:g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[unit]}"),
        ("FLOPs of the matrices, 8nD² + 4nDH", "matrices", f"{matrix_flops(n, D, H):,}"),
        ("FLOPs of the n² part, 4n²D", "quadratic", f"{quadratic:,}"),
        ("FLOPs of the layer", "layer", f"{layer:,}"),
        ("n² part of them", "share", f"{100 * quadratic / layer:.1f}%"),
        ("crossover at n = 2D + H", "crossover", f"{crossover:,}"),
        ("this n is", "side", side),
    )
    rows = [
        f'<tr><th scope="row">{name}</th><td data-out="{out}">{value}</td></tr>'
        for name, out, value in results
    ]
    whole = (
        ("n", "tokens n", n, (5, 20, 1)),
        ("D", "model width D", D, (6, 15, 1)),
        ("H", "feed-forward width H", H, (7, 17, 1)),
        ("h", "heads h", h, (0, 7, 1)),
    )
    parts = [
        _controls(
            *(
                _dial("dial", name, label, value, span, math.log2(value), "numeric")
                for name, label, value, span in whole
            )
        ),
        _plot("tokens n", f"{title}: the matrices and the n² part are equal at {crossover:,}."),
        _legend(("FLOPs of the matrices", "FLOPs of the n² part")),
        _table("One layer, forward", "", rows),
    ]
    return _figure("dial", title, {}, parts, "counting")


SIZES = {
    "vocabulary": "vocabulary |V|",
    "D": "width D",
    "L": "layers L",
    "h": "heads h",
    "H": "feed-forward width H",
    "d_k": "d_k, if not D/h",
    "kv_heads": "kv_heads, if not h",
    "positions": "positions",
    "token_types": "token types",
    "outer_norms": "norms outside the layers",
}
CHOICES = {
    "attention_bias": "biases in attention",
    "feed_forward_bias": "biases in the feed-forward part",
    "gated": "a gate in the feed-forward part",
    "norm_bias": "norms shift as well as scale",
    "pooler": "a pooler",
    "untied_head": "an output matrix of its own",
}
PARTS = {
    "attention": "attention, a layer",
    "feed_forward": "feed-forward, a layer",
    "norms": "norms, a layer",
    "layer": "one layer",
    "layers": "all layers",
    "embeddings": "embeddings",
    "rest": "the rest",
    "total": "total",
}


def detective(title: str, published, model) -> str:
    """Configure a model, to begin with `model`, until it has the total of a published one."""
    yours, theirs = count_parameters(model), count_parameters(published[0].model)
    options = "".join(
        f'<option value="{i}"{"" if i else " selected"}>{_e(entry.name)}: {entry.total:,}</option>'
        for i, entry in enumerate(published)
    )
    values = model._asdict()
    sizes = "".join(
        _labelled("detective", name, label, "" if values[name] is None else values[name])
        for name, label in SIZES.items()
    )
    choices = "".join(
        f'<label><input type="checkbox" name="{name}"{" checked" if values[name] else ""}> '
        f"{label}</label>"
        for name, label in CHOICES.items()
    )
    rows = [
        f'<tr><th scope="row">{label}</th><td data-out="yours-{part}">{yours[part]:,}</td>'
        f'<td class="theirs" data-out="theirs-{part}">{theirs[part]:,}</td></tr>'
        for part, label in PARTS.items()
    ]
    head = '<th scope="col">part</th><th scope="col">yours</th>'
    off = published[0].total - yours["total"]
    parts = [
        _controls(
            f'<p class="live-row"><label>reach <select name="target">{options}</select></label></p>'
            f'<div class="live-grid">{sizes}</div><div class="live-grid">{choices}</div>'
            '<p class="live-row"><label><input type="checkbox" name="compare"> Compare part by '
            'part</label> <button type="button" data-do="fill">Show its configuration</button></p>'
        ),
        '<p class="live-verdict" data-out="verdict">'
        f"{_e(published[0].name)} has {published[0].total:,}; yours has {abs(off):,} too "
        f"{'few' if off > 0 else 'many'}.</p>",
        _table("Parameters", f'{head}<th scope="col" class="theirs">the model’s</th>', rows),
    ]
    data = {
        "published": [
            {"name": entry.name, "total": entry.total, "model": entry.model._asdict()}
            for entry in published
        ]
    }
    return _figure("detective", title, data, parts, "counting")


# The parts of every figure


def _figure(name: str, title: str, data: dict, parts: list[str], script: str = "") -> str:
    # Not in a script element: instant navigation would run it as one.
    given = html.escape(json.dumps(data, ensure_ascii=False))
    return (
        f'<figure class="plot live" data-search-exclude><figcaption>{_e(title)}</figcaption>'
        f'<form id="{name}" data-live="{name}" data-given="{given}" autocomplete="off">'
        f"{''.join(parts)}"
        f'<p class="live-problem" id="{name}-problem" role="alert"></p>'
        '<p class="live-said" role="status"></p>'
        "<noscript><p>Where JavaScript runs, the numbers above can be changed.</p></noscript>"
        f'</form><script type="module" src="../assets/live/{script or name}.js"></script></figure>'
    )


def _controls(*parts: str, legend: str = "What you can change") -> str:
    """Fields and buttons; of no use until the script has woken them."""
    return (
        f"<fieldset disabled><legend>{legend}</legend>{''.join(parts)}"
        '<p class="live-row"><button type="reset">Reset</button> '
        "<span>The page’s address keeps what you change: copy it to share.</span></p></fieldset>"
    )


def _table(caption: str, head: str, rows: list[str]) -> str:
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    return (
        f'<div class="live-scroll"><table class="live-table"><caption>{_e(caption)}</caption>'
        f"{head}<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _text_field(name: str, value, label: str, mode: str = "text") -> str:
    """A field in a table, whose name is read out, not shown."""
    return (
        f'<input type="text" inputmode="{mode}" name="{name}" value="{_plain(value)}" '
        f'aria-label="{_e(label)}" data-name="{_e(label)}" spellcheck="false">'
    )


def _labelled(form: str, name: str, label: str, value, mode: str = "numeric") -> str:
    """A text field with its name before it."""
    text = value if isinstance(value, str) else _plain(value)
    return (
        f'<label class="live-field" for="{form}-{name}">{label} '
        f'<input type="text" inputmode="{mode}" id="{form}-{name}" name="{name}" value="{text}" '
        f'data-name="{label}" spellcheck="false"></label>'
    )


def _dial(form: str, name: str, label: str, value, span, place: float, mode="text") -> str:
    """A text field, and a slider that moves it."""
    return (
        f'<p class="live-dial">{_labelled(form, name, label, value, mode)}'
        f'<input type="range" data-slider="{name}" {_range(span, place)} '
        f'aria-label="{label}, slider" aria-valuetext="{_plain(value)}"></p>'
    )


def _slider(form: str, name: str, label: str, span, place: float, value) -> str:
    """A slider over powers of two, and the number it stands at."""
    return (
        f'<p class="live-dial"><label class="live-field" for="{form}-{name}">{label} '
        f'<b data-out="{name}">{_plain(value)}</b></label>'
        f'<input type="range" id="{form}-{name}" name="{name}" {_range(span, place)} '
        f'aria-valuetext="{_plain(value)}"></p>'
    )


def _range(span, place: float) -> str:
    low, high, step = span
    return f'min="{low}" max="{high}" step="{step}" value="{_plain(place)}"'


def _plot(x_name: str, said: str) -> str:
    """A place for the curves that the script draws."""
    return (
        f'<div class="drawing live-plot"><svg viewBox="0 0 360 230" role="img" data-x="{x_name}" '
        f'aria-label="{_e(said)}"></svg></div>'
    )


def _legend(names) -> str:
    items = "".join(
        f'<li><svg viewBox="0 0 24 12" class="legend" aria-hidden="true">{_mark(i, 12, 6)}</svg>'
        f"{name}</li>"
        for i, name in enumerate(names)
    )
    return f'<div class="drawing live-plot"><ul class="legends">{items}</ul></div>'


def _plain(value) -> str:
    """A number as one would type it."""
    value = float(value)
    return str(int(value)) if value == int(value) else repr(value)


def _share(value: float) -> str:
    return f' style="--share:{float(value):.4f}"'


def _e(text: str) -> str:
    return html.escape(str(text))
