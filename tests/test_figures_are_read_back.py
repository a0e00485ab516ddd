"""What a static figure shows is what it was given; whatever changes in its drawing is noticed.

The figure is read by an eye of its own (audit/pictures.py). Then every digit that the generator
wrote is changed, each part is taken out, and each label exchanged: all that must be noticed too.
"""

import itertools
import math
import re

import numpy as np
import pytest
from _lesson.figures import diagrams, lines, svg

from tests.audit import pictures

NAMES, OTHERS = ["is", "the", "best"], ["who", "has", "won"]
GIVEN = np.array([[0.0, 0.23456, 0.76544], [0.125, 0.375, 0.5], [1.0, 0.0, 0.0]])
X, SERIES = [2, 8, 64], {"raw": [0.25, 12.5, 480.0], "scaled": [3.0, 2.5, 0.75]}
STEPS = {"valley": [2e-3, 4e-6, 5e-2], "slope": [1e-1, 1e-4, 3e-5]}
SMALL, TENS, WHOLE = [1e-8, 1e-5, 1e-2], [0.1, 1, 10, 100, 1000], [-2, -1, 0, 1, 2, 3]
POWERS = [float(f"1e{n}") for n in range(-8, 0)]
VECTORS = [(2.0, 1.0), (3.0, 0.0), (-1.0, 2.0)]
TURNED = [(1.0, 0.0), (-0.6, 0.8), (0.0, -1.0)]


def same(text: str, value: float) -> bool:
    """Is this text the value, but for what it leaves out?"""
    digits = re.sub(r"e.*", "", text).partition(".")[2]
    power = float("1e" + text.partition("e")[2]) if "e" in text else 1.0
    return abs(float(text.replace(",", "")) - value) <= 0.5001 * power * 10.0 ** -len(digits)


def said(figure: str) -> list[str]:
    return [picture.said for picture in pictures.pictures(figure)]


# Whether a figure shows what it was given, to the eye


def bars_agree(figure: str) -> bool:
    names, numbers, shares, roles = zip(*pictures.bars(figure), strict=True)
    return (
        list(names) == NAMES
        and all(map(same, numbers, GIVEN[0]))
        and np.allclose(shares, GIVEN[0], atol=2e-4)
        and set(roles) == {"weight"}
    )


def heatmaps_agree(figure: str) -> bool:
    titles, columns, panels = zip(*pictures.heatmaps(figure), strict=True)
    if titles != ("first", "second") or columns != (OTHERS, OTHERS):
        return False
    for rows, given in zip(panels, (GIVEN, GIVEN.T), strict=True):
        if [name for name, _ in rows] != NAMES:
            return False
        for (_, cells), values in zip(rows, given, strict=True):
            for (text, strength), value in zip(cells, values, strict=True):
                right = same(text, value) if value else text == ""
                if not right or abs(strength - 0.7 * value) > 6e-4:
                    return False
    return True


def plot_agrees(given: dict, x, scales, names, ticks):
    """A function that looks whether a plot has these names and shows these series."""

    def off(points, values, units) -> float:
        wanted = [[scales[0](a), scales[1](b)] for a, b in zip(x, values, strict=True)]
        return (abs(points - np.array(wanted)) * units).max()

    def agrees(figure: str) -> bool:
        *found, series, units = pictures.plot(figure, *scales)
        return (*found, list(series)) == (names, ticks, list(given)) and all(
            off(points, given[name], units) < 0.21
            for name, both in series.items()
            for points in both
        )

    return agrees


def arrows_agree(roles: list[str], names: list[str], vectors):
    """A function that looks whether arrows of these roles and names point where they should."""

    def agrees(figure: str) -> bool:
        found = pictures.arrows(figure)
        tips = np.array([tip for _, _, *tip in found])
        unit = np.hypot(*tips[0]) / np.hypot(*vectors[0])
        return (
            [name for name, *_ in found] == names
            and [role for _, role, *_ in found] == roles
            and abs(tips - unit * np.array(vectors)).max() < 0.21
        )

    return agrees


def boxes_agree(*wanted: list[list]):
    return lambda figure: pictures.boxes(figure) == list(wanted)


BITS = {"raw": [3.5, 2.0, 1.25], "scaled": [0.5, 4.0, 5.0]}
FIGURES = {
    "bars": (
        lambda: svg.bars("Weights", NAMES, GIVEN[0]),
        bars_agree,
        ["Weights: is 0.0000; the 0.2346; best 0.7654."],
    ),
    "heat maps": (
        lambda: svg.heatmaps("Two", [("first", GIVEN), ("second", GIVEN.T)], NAMES, OTHERS),
        heatmaps_agree,
        [
            "first. is: 0.0000, 0.2346, 0.7654; the: 0.1250, 0.3750, 0.5000; "
            "best: 1.0000, 0.0000, 0.0000.",
            "second. is: 0.0000, 0.1250, 1.0000; the: 0.2346, 0.3750, 0.0000; "
            "best: 0.7654, 0.5000, 0.0000.",
        ],
    ),
    "curves": (
        lambda: svg.curves("Lines", "width", "bits", X, BITS),
        plot_agrees(BITS, X, (math.log2, float), ("width", "bits"), (X, [0, 1, 2, 3, 4, 5])),
        ["Lines. raw: 3.5000 at 2, 2 at 8, 1.2500 at 64. scaled: 0.5000 at 2, 4 at 8, 5 at 64."],
    ),
    "curves over powers": (
        lambda: svg.curves("Lines", "width", "norm", X, SERIES, log=True),
        plot_agrees(SERIES, X, (math.log2, math.log10), ("width", "norm"), (X, TENS)),
        [
            "Lines. raw: 0.2500 at 2, 12.5000 at 8, 480 at 64. "
            "scaled: 3 at 2, 2.5000 at 8, 0.7500 at 64."
        ],
    ),
    "lines": (
        lambda: lines.lines("Lines", "x", "y", [-1.5, 0.0, 2.5], {"one": [0.25, -1.75, 3.0]}),
        plot_agrees(
            {"": [0.25, -1.75, 3.0]},
            [-1.5, 0.0, 2.5],
            (float, float),
            ("x", "y"),
            ([-2, -1, 0, 1, 2, 3], [-2, -1, 0, 1, 2, 3]),
        ),
        ["Lines. one: 0.2500 at -1.5000, -1.7500 at 0.0000, 3 at 2.5000."],
    ),
    "lines over powers": (
        lambda: lines.lines("Lines", "h", "off", SMALL, STEPS, powers="xy"),
        plot_agrees(
            STEPS,
            [1e-8, 1e-5, 1e-2],
            (math.log10, math.log10),
            ("h", "off"),
            (POWERS[:7], POWERS[2:8]),
        ),
        [
            "Lines. valley: 0.0020 at 1.0e-08, 4.0e-06 at 1.0e-05, 0.0500 at 0.0100. "
            "slope: 0.1000 at 1.0e-08, 0.0001 at 1.0e-05, 3.0e-05 at 0.0100."
        ],
    ),
    "arrows": (
        lambda: svg.arrows("Where", NAMES, VECTORS),
        arrows_agree(["query", "key", "key"], NAMES, VECTORS),
        ["Where: is (2, 1.0000); the (3, 0.0000); best (-1.0000, 2)."],
    ),
    "turns": (
        lambda: diagrams.turns("Turned", NAMES, TURNED),
        arrows_agree(["key"] * 3, NAMES, TURNED),
        ["Turned: is (1.0000, 0.0000); the (-0.6000, 0.8000); best (0.0000, -1.0000)."],
    ),
    "lanes": (
        lambda: diagrams.lanes("Down", [[("x", (3, 5))], [("a", (3, 2)), ("b", (3, 4))]]),
        boxes_agree([["", "x", "3 × 5"], ["", "a", "3 × 2"], ["", "b", "3 × 4"]]),
        ["Down: x 3 by 5; then a 3 by 2, b 3 by 4."],
    ),
    "tiles": (
        lambda: diagrams.tiles("Two", [("one", [["is A", "is B"], ["the A", "the B"]])], NAMES[:2]),
        boxes_agree(
            [["is", "is A", 0], ["", "is B", 0], ["the", "the A", 0.55], ["", "the B", 0.55]]
        ),
        ["one. is: is A, is B; the: the A, the B."],
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_what_it_was_given(name):
    draw, agrees, alternatives = FIGURES[name]
    assert agrees(draw())
    assert said(draw()) == alternatives


# Every change of a drawing is noticed


def noticed(agrees, alternatives: list[str], figure: str) -> bool:
    try:
        return not agrees(figure) or said(figure) != alternatives
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, StopIteration):
        return True  # it cannot be read at all


NUMBER = re.compile(r"-?\d[\d.]*")
# How far a place may move before a reader would take what stands there for something else: a
# line, a mark and the length of a bar are read to a fifth of a unit of a drawing 360 wide, and a
# text belongs to what it is near, or to the tip or the box that has it to itself.
SLACK = {"<text": pictures.NEAR, "line": 0.21, "mark": 0.21, "weight": 0.21}
ALONE = {"arrows": 20, "turns": 20, "lanes": 20, "tiles": 20}
DECORATION = ('"track"', '"grid"', '"cell"', "piece", "viewBox")


def harmless(figure: str, at: int, slack: dict[str, float]) -> bool:
    """Does this digit only move what is no number, or by less than an eye can see?"""
    start = figure.rfind("<", 0, at)
    if figure.rfind(">", 0, at) > start:
        return False  # text
    tag = figure[start : figure.index(">", at)]
    attribute = re.findall(r'([\w-]+)="[^"]*$', figure[start:at])[-1]
    if attribute in ("aria-label", "class"):
        return False
    token = next(m for m in NUMBER.finditer(figure, start) if m.start() <= at < m.end())
    place = at - token.start()
    new = f"{token[0][:place]}{(int(figure[at]) + 1) % 10}{token[0][place + 1 :]}"
    moved = abs(float(new) - float(token[0]))
    if attribute == "fill-opacity":
        return moved < 0.0011
    if any(word in tag for word in DECORATION):
        return True
    if "mark" in tag and (attribute == "r" or re.search("[hvl][^ML]*$", figure[start:at])):
        return True  # its size
    if re.search("l[^ML]*$", figure[start:at]) or '"legend"' in figure[start - 60 : start]:
        return moved < 1.1  # a stroke of an arrow's head, a mark beside its name
    return moved < next(limit for kind, limit in slack.items() if kind in tag)


def digits_changed(figure: str, slack: dict[str, float]):
    for found in re.finditer(r"\d", figure):
        at = found.start()
        if not harmless(figure, at, slack):
            changed = f"{figure[:at]}{(int(figure[at]) + 1) % 10}{figure[at + 1 :]}"
            yield f"{figure[max(0, at - 60) : at]}>{figure[at]}<", changed


def labels_exchanged(figure: str, slack=None):
    labels = [m.span(1) for m in re.finditer(r">([^<>]+)</(?:text|li|p)>", figure)]
    for (a, b), (c, d) in itertools.pairwise(labels):
        if figure[a:b] != figure[c:d]:
            yield figure[a:d], figure[:a] + figure[c:d] + figure[b:c] + figure[a:b] + figure[d:]


def parts_left_out(figure: str, slack=None):
    for part in re.finditer(r"<(?:rect|circle|path)[^>]*/>|<text.*?</text>|<li>.*?</li>", figure):
        if not re.search(r'class="grid"', part[0]):
            yield part[0], figure[: part.start()] + figure[part.end() :]


@pytest.mark.parametrize(
    "change", [pytest.param(digits_changed, marks=pytest.mark.ci), labels_exchanged, parts_left_out]
)
@pytest.mark.parametrize("name", FIGURES)
def test_every_change_of_a_figure_is_noticed(name, change):
    draw, agrees, alternatives = FIGURES[name]
    figure = draw()
    assert not noticed(agrees, alternatives, figure)
    slack = SLACK | {"<text": ALONE.get(name, pictures.NEAR)}
    unseen = [what for what, it in change(figure, slack) if not noticed(agrees, alternatives, it)]
    assert unseen == []


REFUSED = {
    "two names for three bars": (
        lambda: svg.bars("", NAMES[:2], GIVEN[0]),
        "2 names, but 3 values",
    ),
    "no share": (lambda: svg.bars("", NAMES, [0.2, 0.3, 1.2]), "'best' is 1.2"),
    "below zero": (lambda: svg.bars("", NAMES, [0.2, -0.3, 1]), "'the' is -0.3"),
    "no number": (lambda: svg.bars("", NAMES, [0.2, math.nan, 1]), "'the' is nan"),
    "two rows' names": (
        lambda: svg.heatmaps("", [("one", GIVEN)], NAMES[:2], NAMES),
        "'one' has 3 rows, and there are 2 names",
    ),
    "four columns' names": (
        lambda: svg.heatmaps("", [("one", GIVEN)], NAMES, [*NAMES, "more"]),
        "'is' of 'one' has 3 columns, and there are 4 names",
    ),
    "a cell that is no number": (
        lambda: svg.heatmaps("", [("one", GIVEN * math.nan)], NAMES, NAMES),
        "'is' of 'one' holds nan",
    ),
    "a point too few": (
        lambda: svg.curves("", "a", "b", [2, 4], {"raw": [1]}),
        "'raw' has 1 values, and there are 2 places",
    ),
    "a line without end": (
        lambda: lines.lines("", "a", "b", [2, 4], {"raw": [1, math.inf]}),
        "'raw' holds inf",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_drawn_is_refused_and_named(name):
    draw, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        draw()
