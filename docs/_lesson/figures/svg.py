"""Figures as SVG, drawn from a page's own numbers: the same bytes on each build.

Each function returns a whole `<figure>`. Its text alternative lists the numbers that it
draws, so that no figure can say one thing to the eye and another to the ear. Colours are
the site's (assets/lesson.css), so that a figure follows light and dark. A block that
calls these prints the result; numbers come to it from the checked blocks above.
"""

from __future__ import annotations

import html
import math


def shown(value: float) -> str:
    """A number as the lesson's tables write it."""
    if value == int(value) and abs(value) >= 2:
        return f"{int(value):,}"
    if 0 < abs(value) < 0.0001:
        return f"{value:.1e}"
    return f"{value:z.4f}"


def bars(title: str, names, values, role: str = "weight") -> str:
    """One bar for each name, in the colour of its role; a full bar is a share of one."""
    names, values = list(names), [_number(value) for value in values]
    if len(names) != len(values):
        raise ValueError(f"{len(names)} names, but {len(values)} values: {names}, {values}")
    for name, value in zip(names, values, strict=True):
        if not 0 <= value <= 1:
            raise ValueError(f"{name!r} is {value}: a bar shows a share of one, from 0 to 1")
    left = 12 + 7.5 * max(len(name) for name in names)
    right = 12 + 7.5 * max(len(shown(value)) for value in values)
    width, step = 360, 28
    room = width - left - right
    parts = []
    for row, (name, value) in enumerate(zip(names, values, strict=True)):
        middle = step * row + step / 2
        size = room * value
        parts += [
            _text(left - 8, middle, name, "end"),
            f'<rect x="{left:.1f}" y="{middle - 9:.1f}" width="{room:.1f}" height="18" '
            'class="track"/>',
            f'<rect x="{left:.1f}" y="{middle - 9:.1f}" width="{size:.1f}" height="18" '
            f'class="{role}"/>',
            _text(left + room + 8, middle, shown(value), "start"),
        ]
    said = "; ".join(f"{n} {shown(v)}" for n, v in zip(names, values, strict=True))
    return _figure(title, [_svg(f"{title}: {said}.", width, step * len(names), parts)])


def heatmaps(title: str, panels, row_names, column_names) -> str:
    """Matrices side by side; `panels` is pairs of a title and rows of weights.

    The stronger a cell's colour, the larger its weight, up to where its number can still
    be read on it; a cell of exactly 0 is left empty. Rows are queries, columns are keys.
    """
    drawings = []
    for name, rows in panels:
        rows = _matrix(name, rows, row_names, column_names)
        left = 12 + 7.5 * max(len(label) for label in row_names)
        cell = (360 - left) / len(column_names)
        height = 26
        parts = [
            _text(left + cell * (j + 0.5), 13, label, "middle")
            for j, label in enumerate(column_names)
        ]
        for i, (label, row) in enumerate(zip(row_names, rows, strict=True)):
            top = 26 + height * i
            parts.append(_text(left - 8, top + height / 2, label, "end"))
            for j, value in enumerate(row):
                x = left + cell * j
                parts.append(
                    f'<rect x="{x + 1:.1f}" y="{top + 1:.1f}" width="{cell - 2:.1f}" '
                    f'height="{height - 2}" class="cell" fill-opacity="{0.7 * min(value, 1):.3f}"/>'
                )
                if value:
                    parts.append(_text(x + cell / 2, top + height / 2, shown(value), "middle"))
        said = "; ".join(
            f"{label}: " + ", ".join(shown(value) for value in row)
            for label, row in zip(row_names, rows, strict=True)
        )
        drawing = _svg(f"{name}. {said}.", 360, 26 + height * len(rows), parts)
        drawings.append(f'<div class="panel"><p>{html.escape(name)}</p>{drawing}</div>')
    return _figure(title, drawings)


def curves(title: str, x_name: str, y_name: str, x, series: dict, log: bool = False) -> str:
    """A line with marks for each series over `x`, on axes that count in powers.

    `x` runs in powers of 2; with `log`, so does the vertical axis, else it starts at 0.
    Each series has a mark of its own shape, so that it is told apart without colour.
    """
    x = [_number(value) for value in x]
    series = points(x, series)
    every = [value for values in series.values() for value in values]
    width, height, left, right, top, bottom = 360, 230, 44, 22, 28, 40
    x_low, x_high = math.log2(min(x)), math.log2(max(x))
    scale = math.log10 if log else float
    low = math.floor(scale(min(every))) if log else 0
    high = math.ceil(scale(max(every)))

    def at(a: float, b: float) -> tuple[float, float]:
        across = (math.log2(a) - x_low) / (x_high - x_low)
        up = (scale(b) - low) / (high - low)
        return left + across * (width - left - right), height - bottom - up * (
            height - top - bottom
        )

    parts = [_text(4, 10, y_name, "start")]
    step = max(1, round((high - low) / 5))
    for tick in range(low, high + 1, step):
        value = 10.0**tick if log else float(tick)
        y = at(x[0], value)[1]
        parts.append(f'<path d="M{left} {y:.1f}H{width - right}" class="grid"/>')
        parts.append(_text(left - 6, y, _tick(value), "end"))
    for value in x:
        parts.append(_text(at(value, every[0])[0], height - bottom + 14, _tick(value), "middle"))
    parts.append(_text((left + width - right) / 2, height - 8, x_name, "middle"))
    for number, values in enumerate(series.values()):
        places = [at(a, b) for a, b in zip(x, values, strict=True)]
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
        parts.append(f'<path d="{path}" class="line line-{number}"/>')
        parts += [_mark(number, a, b) for a, b in places]
    said = " ".join(
        f"{name}: "
        + ", ".join(f"{shown(b)} at {shown(a)}" for a, b in zip(x, values, strict=True))
        + "."
        for name, values in series.items()
    )
    drawing = _svg(f"{title}. {said}", width, height, parts)
    return _figure(title, [drawing, legend(series)])


def arrows(title: str, names, vectors) -> str:
    """Vectors of the plane as arrows from one point; the first is the query.

    From the tip of each key that leaves the query's line a dashed line falls on it: how
    far the key reaches along the query. The dot product is that, times the query's length.
    """
    names = list(names)
    vectors = [tuple(_number(entry) for entry in vector) for vector in vectors]
    across, up = ([vector[i] for vector in vectors] + [0] for i in (0, 1))
    unit = min(260 / (max(across) - min(across)), 180 / (max(up) - min(up) or 1))
    x0, y0 = 30 - unit * min(across), 24 + unit * max(up)
    width, height = 360, y0 - unit * min(up) + 40

    def at(a: float, b: float) -> tuple[float, float]:
        return x0 + unit * a, y0 - unit * b

    (qa, qb), *_ = vectors
    parts = [
        f'<path d="M0 {y0:.1f}H{width}" class="grid"/>',
        f'<path d="M{x0:.1f} 0V{height:.1f}" class="grid"/>',
    ]
    for number, (name, (a, b)) in enumerate(zip(names, vectors, strict=True)):
        x, y = at(a, b)
        role = "key" if number else "query"
        length = math.hypot(a, b)
        reach = (a * qa + b * qb) / (qa * qa + qb * qb)
        if math.hypot(a - reach * qa, b - reach * qb) > 0.001 * length:
            foot_x, foot_y = at(reach * qa, reach * qb)
            parts.append(
                f'<path d="M{x:.1f} {y:.1f}L{foot_x:.1f} {foot_y:.1f}" class="line {role} dashed"/>'
            )
        # The head: two short strokes back from the tip.
        a, b = 9 * a / length, -9 * b / length
        head = "".join(
            f"M{x:.1f} {y:.1f}l{-a + side * b / 2:.1f} {-b - side * a / 2:.1f}" for side in (-1, 1)
        )
        parts.append(f'<path d="M{x0:.1f} {y0:.1f}L{x:.1f} {y:.1f}{head}" class="line {role}"/>')
        below = abs(b) < abs(a) / 4
        parts.append(_text(x, y + 18 if below else y - 12, name, "middle"))
    said = "; ".join(
        f"{name} ({', '.join(map(shown, vector))})"
        for name, vector in zip(names, vectors, strict=True)
    )
    return _figure(title, [_svg(f"{title}: {said}.", width, height, parts)])


def legend(names) -> str:
    """A list of the names of curves, each with the mark of its own, in the order of `names`."""
    items = "".join(
        f'<li><svg viewBox="0 0 24 12" class="legend" aria-hidden="true">{_mark(number, 12, 6)}'
        f"</svg>{html.escape(name)}</li>"
        for number, name in enumerate(names)
    )
    return f'<ul class="legends">{items}</ul>'


def _matrix(title: str, rows, row_names, column_names) -> list[list[float]]:
    """The numbers of a heat map, once they are as many as its names, and finite."""
    rows = [[_number(value) for value in row] for row in rows]
    if len(rows) != len(row_names):
        raise ValueError(
            f"{title!r} has {len(rows)} rows, and there are {len(row_names)} names: {row_names}"
        )
    for name, row in zip(row_names, rows, strict=True):
        if len(row) != len(column_names):
            raise ValueError(
                f"{name!r} of {title!r} has {len(row)} columns, and there are "
                f"{len(column_names)} names: {column_names}"
            )
        _finite(f"{name!r} of {title!r}", row)
    return rows


def points(x: list[float], series: dict) -> dict[str, list[float]]:
    """The values of each series, once they are as many as the places `x`, and finite."""
    series = {name: [_number(value) for value in values] for name, values in series.items()}
    for name, values in series.items():
        if len(values) != len(x):
            raise ValueError(
                f"{name!r} has {len(values)} values, and there are {len(x)} places: {x}"
            )
        _finite(repr(name), values)
    return series


def _finite(what: str, values: list[float]) -> None:
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{what} holds {value}, which has no place in a picture")


def _number(value) -> float:
    """A plain number of Python: numpy's own would format otherwise."""
    return value.item() if hasattr(value, "item") else value


def _tick(value: float) -> str:
    if value >= 1 or value == 0:
        return f"{value:,.0f}"
    return f"{value:g}" if value >= 0.001 else f"{value:.0e}"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{anchor}">{html.escape(text, quote=False)}</text>'


def _mark(number: int, x: float, y: float) -> str:
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"',
        f'<path d="M{x - 4:.1f} {y - 4:.1f}h8v8h-8z"',
        f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z"',
        f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"',
    )
    return f'{shapes[number]} class="mark line-{number}"/>'


def _svg(said: str, width: float, height: float, parts: list[str]) -> str:
    label = html.escape(said)
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>"
    )


def _figure(title: str, drawings: list[str]) -> str:
    caption = f"<figcaption>{html.escape(title)}</figcaption>"
    return f'<figure class="plot"><div class="drawing">{"".join(drawings)}</div>{caption}</figure>'
