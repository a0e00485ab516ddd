"""Lines over a plain axis, or over one of powers of ten: with marks, or drawn smooth."""

from __future__ import annotations

import math

from _lesson.figures.svg import _figure, _mark, _number, _svg, _text, legend, points, shown

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 230, 44, 22, 28, 40
POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def label(tick: float, power: bool) -> str:
    """What stands beside a tick, which may be the exponent of a power of ten."""
    if power:
        return f"10{str(round(tick)).translate(POWERS)}"
    return f"{tick:g}".replace("-", "\u2212")


def axis(places) -> list[float]:
    """Where an axis has a tick: whole numbers, which may be exponents, around all places."""
    places = list(places)
    # A value that is a power of ten but for its last bits is that power.
    low, high = math.floor(min(places) + 1e-9), math.ceil(max(places) - 1e-9)
    step = max(1, (high - low) // 8)
    return [float(tick) for tick in range(low, high + step, step)]


def lines(title: str, x_name: str, y_name: str, x, series: dict, powers="", every=1) -> str:
    """A line for each series over `x`; an axis that `powers` names counts in powers of ten.

    Every `every`-th point has a mark and is told in the text alternative.
    """
    x = [_number(value) for value in x]
    series = points(x, series)
    scales = {name: math.log10 if name in powers else float for name in "xy"}
    across = axis(map(scales["x"], x))
    up = axis(scales["y"](value) for values in series.values() for value in values)

    def at(a: float, b: float) -> tuple[float, float]:
        right = (a - across[0]) / (across[-1] - across[0])
        above = (b - up[0]) / (up[-1] - up[0])
        return (
            LEFT + right * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - above * (HEIGHT - TOP - BOTTOM),
        )

    parts = [_text(4, 10, y_name, "start")]
    for tick in up:
        y = at(across[0], tick)[1]
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" class="grid"/>')
        parts.append(_text(LEFT - 6, y, label(tick, "y" in powers), "end"))
    for tick in across:
        parts.append(
            _text(at(tick, up[0])[0], HEIGHT - BOTTOM + 14, label(tick, "x" in powers), "middle")
        )
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_name, "middle"))
    for number, values in enumerate(series.values()):
        places = [at(scales["x"](a), scales["y"](b)) for a, b in zip(x, values, strict=True)]
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
        parts.append(f'<path d="M{path}" class="line line-{number}"/>')
        parts += [_mark(number, a, b) for a, b in places[::every]]
    said = " ".join(
        f"{name}: "
        + ", ".join(
            f"{shown(b)} at {shown(a)}" for a, b in list(zip(x, values, strict=True))[::every]
        )
        + "."
        for name, values in series.items()
    )
    drawing = _svg(f"{title}. {said}", WIDTH, HEIGHT, parts)
    legends = [legend(series)] if len(series) > 1 else []
    return _figure(title, [drawing, *legends])
