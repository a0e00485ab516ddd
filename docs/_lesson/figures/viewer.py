"""The viewer of the trained model: its heads, its answers, and what becomes of them.

Drawn here as the page is built, and drawn anew by docs/assets/live/induction.js.
"""

from __future__ import annotations

import html

import numpy as np

from attention import attention_scores, run_induction, softmax
from attention.induction import model_from_text, model_to_text

from . import words
from .markup import render

STEP, LEFT = 24, 52  # from letter to letter; what the names of the rows take
ABOVE, BELOW, HEIGHT = 100, 124, 252  # where arcs begin; how high it is
FAINT = 0.02  # a smaller weight is not drawn
TOLD = 0.05  # a larger one has its number beside it
MOST = 5  # next letters in the table


def viewer(title: str, letters, tokens, model, steps) -> str:
    """A model's heads on a sequence that one can type.

    `letters` name the vocabulary, `tokens` (n,) is the sequence to begin with. `model` is the
    InductionModel that is shown first, that of the last of `steps`; the script loads those of
    the others from the file beside the page, once they are asked for.
    """
    letters, tokens, steps = list(letters), np.asarray(tokens), list(steps)
    text = model_to_text(model)
    model = model_from_text(text)
    run = run_induction(model, tokens)
    shares = softmax(run.logits)
    chosen, said = len(tokens) - 1, shares.argmax(axis=-1)
    names = [letters[token] for token in tokens]
    hits = [hit(tokens, i, said[i]) for i in range(len(tokens))]
    order = np.argsort(-shares[chosen], kind="stable")[:MOST]
    return render(
        "viewer",
        title,
        {
            "letters": "".join(letters),
            "steps": steps,
            "model": text,
            "shapes": [list(part.shape) for part in model],
            "words": words.VIEWER,
        },
        sequence="".join(names),
        steps=steps,
        longest=len(model.positions),
        looking=looking(names, chosen),
        drawing=row(names, run.patterns, chosen, [letters[t] for t in said], hits),
        small=[pattern(weights, chosen) for weights in run.patterns],
        told=sentence(letters, tokens, chosen, shares[chosen]),
        drawn=drawn(names, run.patterns, chosen),
        score=f"{hits.count(True)} of {len(hits) - hits.count(None)}",
        next=[(letters[token], shares[chosen][token]) for token in order],
        numbers=list(zip(names, *columns(model, tokens, run, chosen), strict=True)),
    )


def columns(model, tokens, run, chosen: int):
    """For each place the score and the weight that each head gives it, seen from `chosen`."""
    stream = model.embedding[tokens]
    for (w_q, w_k, w_v, w_o), weights in zip(model.layers, run.patterns, strict=True):
        placed = stream + model.positions[: len(tokens)]
        yield attention_scores(placed @ w_q, placed @ w_k)[chosen]
        yield weights[chosen]
        stream = stream + weights @ (stream @ w_v) @ w_o


def followers(tokens, place: int) -> list[int]:
    """What came after earlier places with the same token, each once, the latest first."""
    found = [tokens[j + 1] for j in range(place) if tokens[j] == tokens[place]]
    return list(dict.fromkeys(found[::-1]))


def hit(tokens, place: int, said: int) -> bool | None:
    """Is an answer one of those that came before? None where nobody can know."""
    known = followers(tokens, place)
    return said in known if known else None


def looking(names, place: int) -> str:
    return words.VIEWER["place"].format(letter=names[place], place=place)


def sentence(letters, tokens, place: int, shares) -> str:
    """What can be known at a place, and what the model says."""
    known = followers(tokens, place)
    said = int(shares.argmax())
    name = "new" if not known else "right" if said in known else "wrong"
    return words.VIEWER[name].format(
        letter=letters[tokens[place]],
        known=words.VIEWER["or"].join(letters[token] for token in known),
        said=letters[said],
        share=percent(shares[said]),
    )


def drawn(names, patterns, place: int) -> str:
    """What the arcs show, in words."""
    parts = []
    for layer, weights in enumerate(patterns):
        most = int(weights[place].argmax())
        where = words.VIEWER["place"].format(letter=names[most], place=most)
        parts.append(
            words.VIEWER["most"].format(
                layer=layer, where=where, share=percent(weights[place][most])
            )
        )
    return f"{looking(names, place)}. {' '.join(parts)}"


def percent(share: float) -> str:
    return f"{float(share) * 100:.0f}%"


def at(place: int) -> int:
    return LEFT + STEP * place + STEP // 2


def row(names, patterns, chosen: int, said, hits) -> str:
    """The letters, the arcs of both heads from the chosen one, and what is said next."""
    parts = [
        label(60, "layer 1"),
        label(112, "letter"),
        label(164, "layer 0"),
        label(220, "it says"),
    ]
    for layer, (base, up) in enumerate([(BELOW, 1), (ABOVE, -1)]):
        for place, weight in enumerate(patterns[layer][chosen][: chosen + 1]):
            parts += arc(chosen, place, float(weight), base, up)
    for place, name in enumerate(names):
        mark = {True: "✓", False: "✗", None: "·"}[hits[place]]
        kind = {True: "hit", False: "miss", None: "idle"}[hits[place]]
        x = at(place)
        asks = " query" if place == chosen else ""
        parts += [
            f'<g data-place="{place}" class="chip{asks}"><rect x="{x - 11}" y="{ABOVE}" '
            f'width="22" height="{BELOW - ABOVE}" rx="3"></rect>'
            f'<text x="{x}" y="112" class="middle">{html.escape(name)}</text></g>',
            f'<text x="{x}" y="220" class="middle {kind}">{said[place]}</text>',
            f'<text x="{x}" y="240" class="middle {kind}">{mark}</text>',
        ]
    return "".join(parts)


def label(y: int, text: str) -> str:
    return f'<text x="0" y="{y}">{text}</text>'


def arc(start: int, end: int, weight: float, base: int, up: int) -> list[str]:
    """An arc as thick as a weight, and the weight beside it."""
    if weight < FAINT:
        return []
    (a, b), width = (at(start), at(end)), 1 + 6 * weight
    across = max(abs(a - b) / 2, 7)
    high = min(across, 76 if up < 0 else 54)
    ends = (a, b) if start != end else (a - 5, a + 5)
    sweep = 1 if (ends[1] > ends[0]) == (up < 0) else 0
    parts = [
        f'<path d="M{ends[0]} {base}A{across:.1f} {high:.1f} 0 0 {sweep} {ends[1]} {base}" '
        f'class="arc weight" stroke-width="{width:.1f}" '
        f'stroke-opacity="{0.3 + 0.7 * weight:.2f}"></path>'
    ]
    if weight >= TOLD:
        peak = base + up * (high + 10 if start != end else 20)
        middle = (a + b) / 2
        parts.append(f'<text x="{middle:.0f}" y="{peak:.0f}" class="middle">{weight:.2f}</text>')
    return parts


def pattern(weights, chosen: int) -> str:
    """All weights of a head as squares, its chosen row in a frame."""
    n = len(weights)
    parts = [f'<path d="M0 0{"".join("h1v1" for _ in range(n))}H0z" class="track"></path>']
    for i, weights_of in enumerate(weights):
        for j, weight in enumerate(weights_of[: i + 1]):
            if weight >= FAINT:
                parts.append(
                    f'<rect x="{j}" y="{i}" width="1" height="1" class="weight" '
                    f'fill-opacity="{weight:.2f}"></rect>'
                )
    parts.append(
        f'<rect x="0" y="{chosen}" width="{chosen + 1}" height="1" class="frame query"></rect>'
    )
    return "".join(parts)
