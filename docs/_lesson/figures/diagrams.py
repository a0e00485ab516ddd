"""Figures of what goes where: arrays on their way, pieces of arrays, arrows that turn."""

from __future__ import annotations

import html
import itertools
import math

from _lesson.figures.svg import _figure, _number, _svg, _text, shown


def lanes(title: str, rows) -> str:
    """Arrays on their way down, in rows of boxes, each a name and an array's shape.

    A box feeds the one below it where both rows have as many, else all of the next row.
    """
    width, height, step = 360, 40, 64
    parts, said = [], []
    for number, row in enumerate(rows):
        top = step * number
        centres = _centres(row, width)
        if number:
            above = _centres(rows[number - 1], width)
            side_by_side = len(above) == len(centres)
            ways = itertools.product(above, centres)
            if side_by_side:
                ways = zip(above, centres, strict=True)
            parts += [
                f'<path d="M{start:.1f} {top - step + height}L{end:.1f} {top}" class="grid"/>'
                for start, end in ways
            ]
        size = width / len(row) - 12
        for x, (name, shape) in zip(centres, row, strict=True):
            parts += [
                f'<rect x="{x - size / 2:.1f}" y="{top}" width="{size:.1f}" height="{height}" '
                'class="track"/>',
                _text(x, top + 12, name, "middle"),
                _text(x, top + 28, " × ".join(map(str, shape)), "middle"),
            ]
        said.append(", ".join(f"{name} {' by '.join(map(str, shape))}" for name, shape in row))
    height = step * (len(rows) - 1) + height
    return _figure(title, [_svg(f"{title}: {'; then '.join(said)}.", width, height, parts)])


def _centres(row, width: float) -> list[float]:
    return [width * (place + 0.5) / len(row) for place in range(len(row))]


def tiles(title: str, panels, row_names) -> str:
    """Labelled pieces of arrays; `panels` is pairs of a title and rows of labels.

    A piece is the darker the later the row whose name its label begins with, so that one
    that has got into another row is seen.
    """
    row_names = list(row_names)
    drawings = []
    for name, rows in panels:
        left = 12 + 7.5 * max(map(len, row_names))
        cell, height = (360 - left) / len(rows[0]), 30
        parts = []
        for i, (label, row) in enumerate(zip(row_names, rows, strict=True)):
            top = height * i
            parts.append(_text(left - 8, top + height / 2, label, "end"))
            for j, piece in enumerate(row):
                x = left + cell * j
                strength = 0.55 * row_names.index(piece.split()[0]) / (len(row_names) - 1)
                parts += [
                    f'<rect x="{x + 1:.1f}" y="{top + 1}" width="{cell - 2:.1f}" '
                    f'height="{height - 2}" class="part piece" fill-opacity="{strength:.3f}"/>',
                    _text(x + cell / 2, top + height / 2, piece, "middle"),
                ]
        said = "; ".join(
            f"{label}: {', '.join(row)}" for label, row in zip(row_names, rows, strict=True)
        )
        drawing = _svg(f"{name}. {said}.", 360, height * len(row_names), parts)
        drawings.append(f'<div class="panel"><p>{html.escape(name)}</p>{drawing}</div>')
    return _figure(title, drawings)


def turns(title: str, names, pairs) -> str:
    """Pairs of numbers as arrows on a circle, each named at its tip; all are as long."""
    pairs = [tuple(_number(entry) for entry in pair) for pair in pairs]
    length = math.hypot(*pairs[0])
    radius, x0, y0 = 96, 180, 122
    parts = [
        f'<circle cx="{x0}" cy="{y0}" r="{radius}" class="grid"/>',
        f'<path d="M{x0 - radius - 14} {y0}h{2 * radius + 28}" class="grid"/>',
        f'<path d="M{x0} {y0 - radius - 14}v{2 * radius + 28}" class="grid"/>',
    ]
    for name, pair in zip(names, pairs, strict=True):
        a, b = (entry / length for entry in pair)
        x, y = x0 + radius * a, y0 - radius * b
        head = "".join(
            f"M{x:.1f} {y:.1f}l{-9 * a + side * 4.5 * b:.1f} {9 * b + side * 4.5 * a:.1f}"
            for side in (-1, 1)
        )
        parts.append(f'<path d="M{x0} {y0}L{x:.1f} {y:.1f}{head}" class="line key"/>')
        anchor = "start" if a > 0.2 else "end" if a < -0.2 else "middle"
        parts.append(_text(x + 10 * a, y - 12 * b, name, anchor))
    said = "; ".join(
        f"{name} ({', '.join(map(shown, pair))})" for name, pair in zip(names, pairs, strict=True)
    )
    return _figure(title, [_svg(f"{title}: {said}.", 360, 2 * y0, parts)])
