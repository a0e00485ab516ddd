"""Three ways to add up doubles."""

import math


def add(numbers):
    """Add numbers one by one, rounding after each; `sum` itself compensates from Python 3.12."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def kahan(numbers):
    """Add numbers and carry what each rounding lost (Kahan 1965)."""
    total = lost = 0.0
    for number in numbers:
        more = number - lost
        new = total + more
        lost = (new - total) - more
        total = new
    return total


METHODS = {"one by one": add, "Kahan": kahan, "exactly": math.fsum}


def table(name, value, rows):
    """Write a Markdown table of two columns, the second of whole numbers."""
    lines = [f"| {key} | {number:.0f} |" for key, number in rows.items()]
    return "\n".join([f"| {name} | {value} |", "| --- | ---: |", *lines])


def columns(title, names, heights):
    """Draw bars as SVG, each with its name and height in words."""
    most = max(map(abs, heights)) or 1
    bars = "".join(
        f'<rect x="{60 * i + 10}" y="{100 - 90 * abs(h) / most:.1f}" width="40" '
        f'height="{90 * abs(h) / most:.1f}"><title>{name}: {h:.0f}</title></rect>'
        for i, (name, h) in enumerate(zip(names, heights, strict=True))
    )
    said = ", ".join(f"{name} {h:.0f}" for name, h in zip(names, heights, strict=True))
    return (
        f'<figure><svg viewBox="0 0 {60 * len(heights) + 10} 100" role="img" '
        f'aria-label="{title}: {said}">{bars}</svg><figcaption>{title}</figcaption></figure>'
    )
