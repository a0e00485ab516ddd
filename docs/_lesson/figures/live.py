"""Figures that a reader moves, written whole by the build: fields, results and tables.

Each function returns one `<figure>`, its results computed from what the page hands over; its
markup is a template of the same name in templates/. A small script of docs/assets/live/ brings
it to life and computes the same anew for other inputs; where there is no script, the fields are
hidden and the numbers stand. A figure keeps what the build wrote as the state to return to, so a
page's inputs have one home: its own checked blocks.
"""

from __future__ import annotations

import math

import numpy as np

from attention import (
    attention_flops,
    attention_scores,
    count_parameters,
    crossover_length,
    entropy,
    layer_flops,
    matrix_flops,
    rotary_embedding,
    score_bytes,
    score_entries,
    softmax,
)

from . import words
from .markup import fixed, render

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def worksheet(title: str, query_name: str, names, query, keys, values) -> str:
    """A query over some keys, step by step; every entry is a field.

    `query` is (d_k,), `keys` (n, d_k), `values` (n, d_v); `names` are those of the n keys.
    """
    names = list(names)
    query, keys, values = (np.asarray(x, float) for x in (query, keys, values))
    scores = attention_scores(query[None], keys, scale=1)[0]
    scaled = scores / np.sqrt(len(query))
    weights = softmax(scaled)
    return render(
        "worksheet",
        title,
        {"names": names, "d_k": len(query), "d_v": values.shape[1]},
        query_name=query_name,
        names=names,
        query=query,
        keys=keys,
        values=values,
        steps={
            "score": (("score", r"q \cdot k"), scores),
            "scaled": (("scaled", r"\frac{q \cdot k}{\sqrt{d_k}}"), scaled),
            "exp": (("power", r"\exp"), np.exp(scaled)),
            "weight": (("weight", r"\alpha"), weights),
        },
        output=weights @ values,
        bits=entropy(weights),
        maximum=math.log2(len(names)),
    )


def sharpness(title: str, width: int, scaled) -> str:
    """How width, length and temperature sharpen the raw and the scaled weights of one trial.

    `scaled` are the trial's scores, (n,), divided by the root of `width`.
    """
    scaled = np.asarray(scaled, float)
    scores = {"raw": scaled * math.sqrt(width), "scaled": scaled}
    weights = {kind: softmax(these) for kind, these in scores.items()}
    return render(
        "sharpness",
        title,
        {
            "scaled": scaled.tolist(),
            "maximum": math.log2(len(scaled)),
            "words": words.SHARPNESS,
        },
        width=width,
        keys=len(scaled),
        kinds={
            kind: {
                "scores": scores[kind],
                "weights": weights[kind],
                "bits": entropy(weights[kind]),
            }
            for kind in scores
        },
    )


def lab(title: str, widths, n_keys: int, trials: int, bits: dict, norms: dict) -> str:
    """The scaling experiment, to be drawn anew.

    `bits` and `norms` have a "raw" and a "scaled", each a dict from a width to the trials'
    entropies in bits or norms of Jacobians, (trials,).
    """
    widths, page = list(widths), []
    for d in widths:
        row = {}
        for kind in ("raw", "scaled"):
            these, sizes = np.asarray(bits[kind][d]), np.asarray(norms[kind][d])
            row[kind] = [these.mean().item(), (these.std(ddof=1) / math.sqrt(len(these))).item()]
            row[f"{kind}Norm"] = [np.median(sizes).item(), sizes.mean().item()]
        page.append(row)
    return render(
        "lab",
        title,
        {"widths": widths, "trials": trials, "keys": n_keys, "page": page, "words": words.LAB},
        widths=widths,
        trials=trials,
        n_keys=n_keys,
        page=page,
        maximum=math.log2(n_keys),
        words=words.LAB,
    )


def probe(title: str, tokens, scores, visible) -> str:
    """The causal mask before and after the softmax, and one hidden score to change.

    `scores` and `visible`, the mask, are (n, n) for n tokens.
    """
    tokens = list(tokens)
    scores, visible = np.asarray(scores, float), np.asarray(visible)
    hidden = [(i, j) for i, j in np.argwhere(~visible).tolist()]
    i, j = start = hidden[len(tokens) - 2]  # the first query, the last key
    masked = softmax(scores, mask=visible)
    kept = ", ".join(map(fixed, masked[i][visible[i]]))
    return render(
        "probe",
        title,
        {
            "tokens": tokens,
            "scores": scores.tolist(),
            "visible": visible.tolist(),
            "words": words.PROBE,
        },
        tokens=tokens,
        hidden=hidden,
        start=start,
        score=scores[i, j],
        visible=visible,
        orders={
            "first": ("Mask, then softmax", masked),
            "last": ("Softmax, then mask", np.where(visible, softmax(scores), 0.0)),
        },
        mended=words.PROBE["mended"].format(token=tokens[i], row=kept),
        words=words.PROBE,
    )


def heads(title: str, sentences, asks: dict, features, reports) -> str:
    """What one token gets from two heads in two sentences, whose questions one can move.

    A sentence is its words with their keys and values, (n, d_k) and (n, d_v); `asks` is the
    token's query in each head, whose entries ask for `features`; `reports` name a value's entries.
    """
    sentences = [
        {"words": list(tokens), "keys": np.asarray(keys), "values": np.asarray(values)}
        for tokens, keys, values in sentences
    ]
    asks = {name: np.asarray(query, float) for name, query in asks.items()}
    weights, outputs = {}, {}
    for name, query in asks.items():
        each = [softmax(attention_scores(query[None], one["keys"])[0]) for one in sentences]
        weights[name] = each[0]
        outputs[name] = [w @ one["values"] for w, one in zip(each, sentences, strict=True)]
    gap = max(abs(first - second).max() for first, second in outputs.values())
    given = [{n: np.asarray(part).tolist() for n, part in one.items()} for one in sentences]
    return render(
        "heads",
        title,
        {"sentences": given, "heads": list(asks), "words": words.HEADS},
        asks=asks,
        features=features,
        reports=reports,
        sentences=[" ".join(one["words"]) for one in sentences],
        tokens=sentences[0]["words"],
        weights=weights,
        outputs={name: first for name, (first, _) in outputs.items()},
        gap=gap,
    )


def rotation(title: str, query, key, query_position: int, key_position: int) -> str:
    """A pair of a query and one of a key, (2,) each, turned by positions that one can move."""
    pairs = {"query": np.asarray(query, float), "key": np.asarray(key, float)}
    places = {"query": query_position, "key": key_position}
    radius, longest = 96, max(np.hypot(*pair) for pair in pairs.values())
    parts_of = {}
    for name, pair in pairs.items():
        turned = rotary_embedding(pair, places[name])
        parts_of[name] = {
            "position": places[name],
            "angle": math.degrees(places[name]),  # one radian from each position to the next
            "turned": turned,
            "tilt": -math.degrees(math.atan2(turned[1], turned[0])),  # down is positive in SVG
            "length": radius * np.hypot(*pair) / longest,
        }
    distance = abs(query_position - key_position)
    return render(
        "rotation",
        title,
        {"pairs": {n: pair.tolist() for n, pair in pairs.items()}, "words": words.ROTATION},
        places=places,
        radius=radius,
        parts_of=parts_of,
        distance=distance,
        between=math.degrees(distance),
        dot=parts_of["query"]["turned"] @ parts_of["key"]["turned"],
        drawn=words.ROTATION["drawn"].format(
            **{name: fixed(of["angle"], 1) for name, of in parts_of.items()}
        ),
    )


def dial(title: str, n: int, D: int, H: int, h: int) -> str:
    """What a layer costs at a length: scores, bytes, FLOPs, and where the two kinds cross.

    `n` tokens, a model `D` wide, a feed-forward part `H` wide, `h` heads.
    """
    quadratic, layer = attention_flops(n, D), layer_flops(n, D, H)
    crossover = crossover_length(D, H)
    size, unit = score_bytes(n, h), 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return render(
        "dial",
        title,
        {"units": UNITS, "words": words.DIAL},
        sizes={"n": n, "D": D, "H": H, "h": h},
        counts={
            "scores": score_entries(n),
            "allscores": score_entries(n, h),
            "bytes": score_bytes(n, h),
            "matrices": matrix_flops(n, D, H),
            "quadratic": quadratic,
            "layer": layer,
            "crossover": crossover,
        },
        memory=f"{size:g} {UNITS[unit]}",
        share=f"{100 * quadratic / layer:.1f}",
        side=words.DIAL["at" if n == crossover else "below" if n < crossover else "above"],
        said=words.DIAL["plot"].format(crossover=f"{crossover:,}"),
    )


def detective(title: str, published, model) -> str:
    """Configure a model, to begin with `model`, until it has the total of a published one.

    `published` are entries as in attention.PUBLISHED, `model` is an attention.Transformer.
    """
    first = published[0]
    yours, theirs = count_parameters(model), count_parameters(first.model)
    off = first.total - yours["total"]
    verdict = words.DETECTIVE["few" if off > 0 else "many" if off < 0 else "solved"]
    return render(
        "detective",
        title,
        {
            "published": [
                {"name": entry.name, "total": entry.total, "model": entry.model._asdict()}
                for entry in published
            ],
            "words": words.DETECTIVE,
        },
        published=published,
        model=model._asdict(),
        yours=yours,
        theirs=theirs,
        verdict=verdict.format(name=first.name, wanted=f"{first.total:,}", off=f"{abs(off):,}"),
    )
