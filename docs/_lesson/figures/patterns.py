"""What heads look at: whole patterns as squares, and the circuit of two heads as arrows."""

from __future__ import annotations

import html

from _lesson.figures.model import arrow
from _lesson.figures.svg import _figure, _number, _svg, _text, shown

CELL, EDGE = 20, 22


def patterns(title: str, tokens, panels) -> str:
    """The patterns of heads side by side; `panels` is pairs of a title and rows of weights.

    A row is a token that looks, a column one that is looked at: the larger the weight, the
    stronger the colour. Told is where each row's largest weight is.
    """
    tokens = list(tokens)
    n = len(tokens)
    size = EDGE + CELL * n
    drawings = []
    for name, rows in panels:
        rows = [[_number(weight) for weight in row] for row in rows]
        stairs = f"h{CELL}v{CELL}" * n
        parts = [f'<path d="M{EDGE} {EDGE}{stairs}H{EDGE}z" class="track"/>']
        for i, token in enumerate(tokens):
            middle = EDGE + CELL * (i + 0.5)
            parts += [_text(middle, 10, token, "middle"), _text(10, middle, token, "middle")]
        for i, row in enumerate(rows):
            for j, weight in enumerate(row[: i + 1]):
                if weight > 0.04:  # fainter ones cannot be seen
                    parts.append(
                        f'<rect x="{EDGE + CELL * j}" y="{EDGE + CELL * i}" width="{CELL}" '
                        f'height="{CELL}" class="weight" fill-opacity="{weight:.2f}"/>'
                    )
        said = "; ".join(
            f"{tokens[i]}, {i}: {tokens[most]}, {most}, {shown(row[most])}"
            for i, row in enumerate(rows)
            for most in [max(range(i + 1), key=row.__getitem__)]
        )
        told = "Each token with its place, and then where its largest weight is"
        drawing = _svg(f"{name}. {told}: {said}.", size, size, parts)
        drawings.append(f'<div class="panel"><p>{html.escape(name)}</p>{drawing}</div>')
    return _figure(title, drawings)


def circuit(title: str, before: str, after: str) -> str:
    """How two heads find what comes next: `before` stood in front of `after`, and comes again."""
    top, places = 84, (50, 140, 290)
    labels = (before, after, before)
    parts = [_text(215, top, "…", "middle")]
    for x, label in zip(places, labels, strict=True):
        parts.append(
            f'<rect x="{x - 18}" y="{top - 16}" width="36" height="32" rx="3" class="track"/>'
        )
        parts.append(_text(x, top, label, "middle"))
    first, second, third = places
    parts += [
        arrow((second, top + 16), (second, top + 40), (first, top + 40), (first, top + 17)),
        _text(
            first - 38, top + 56, f"layer 0: {after} notes the token before it, {before}", "start"
        ),
        arrow((third, top - 16), (third, 40), (second, 40), (second, top - 17)),
        _text(
            355, 22, f"layer 1: {before} looks for the note “{before}”, and copies {after}", "end"
        ),
    ]
    said = (
        f"{before}, {after}, and later {before} again; an arrow of layer 0 from {after} back to "
        f"{before}, whose token it notes; an arrow of layer 1 from the later {before} to {after}, "
        f"where the note says {before}, and {after} is copied"
    )
    return _figure(title, [_svg(f"{title}: {said}.", 360, 150, parts)])
