"""Read a figure back from its SVG, as an eye would: by where things stand, not by who drew them.

What is read is compared with what was to be drawn. Nothing here is shared with the code that
draws: a label, a mark, a tick or a length that is not where it should be reads as something else.
"""

from __future__ import annotations

import math
import re

import numpy as np
from bs4 import BeautifulSoup

NEAR = 3  # units of a drawing 360 wide: what stands as near to something belongs to it
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
SHAPES = {"h": "square", "l": "triangle", "ll": "diamond"}


class Picture:
    """One SVG: its texts and shapes with their places."""

    def __init__(self, svg):
        self.svg, self.said = svg, svg["aria-label"]
        *_, self.width, self.height = map(float, svg["viewbox"].split())
        self.texts = [
            (float(one["x"]), float(one["y"]), one["class"][0], one.get_text())
            for one in svg.select("text")
        ]
        for x, y, _, text in self.texts:
            if not (0 <= x <= self.width and 0 <= y <= self.height):
                raise ValueError(f"{text!r} lies outside of the drawing")

    def boxes(self, kind: str) -> list[tuple[float, float, float, float]]:
        found = self.svg.select(f"rect.{kind}")
        return [tuple(float(one[n]) for n in ("x", "y", "width", "height")) for one in found]

    def at(self, anchor: str, x: float | None = None, y: float | None = None) -> str:
        """The one text of this anchor at this place; none is ''."""
        found = [
            text
            for a, b, kind, text in self.texts
            if kind == anchor
            and (x is None or abs(a - x) < NEAR)
            and (y is None or abs(b - y) < NEAR)
        ]
        if len(found) > 1:
            raise ValueError(f"{found} stand at one place")
        return found[0] if found else ""


def pictures(figure: str) -> list[Picture]:
    soup = BeautifulSoup(figure, "html.parser")
    return [Picture(svg) for svg in soup.select("svg:not([aria-hidden])")]


def bars(figure: str) -> list[tuple[str, str, float, str]]:
    """For each bar from the top: its name, its number, its share of the whole, its role."""
    (picture,) = pictures(figure)
    rows, role = [], picture.svg.select("rect:not(.track)")
    parts = [
        (one["class"][0], *(float(one[n]) for n in ("x", "y", "height", "width"))) for one in role
    ]
    tracks = picture.boxes("track")
    for (x, y, whole, height), (kind, *place, width) in zip(tracks, parts, strict=True):
        if place != [x, y, height]:
            raise ValueError("a bar does not lie in its track")
        name = picture.at("end", x - 8, y + height / 2)
        number = picture.at("start", x + whole + 8, y + height / 2)
        rows.append((name, number, width / whole, kind))
    if [y for _, y, *_ in tracks] != sorted(y for _, y, *_ in tracks):
        raise ValueError("the bars are out of order")
    return rows


def heatmaps(figure: str) -> list[tuple[str, list[str], dict[str, list[tuple[str, float]]]]]:
    """For each panel: its title, its columns, and for each row the numbers with their strengths."""
    soup, found = BeautifulSoup(figure, "html.parser"), []
    for panel in soup.select(".panel"):
        picture = Picture(panel.svg)
        cells = [
            (float(c["x"]) + float(c["width"]) / 2, float(c["y"]) + float(c["height"]) / 2, c)
            for c in picture.svg.select("rect.cell")
        ]
        left = min(float(cell["x"]) for *_, cell in cells)
        xs, ys = sorted({x for x, _, _ in cells}), sorted({y for _, y, _ in cells})
        grid = {(x, y): float(cell["fill-opacity"]) for x, y, cell in cells}
        rows = [
            (
                picture.at("end", left - 9, y),
                [(picture.at("middle", x, y), grid[x, y]) for x in xs],
            )
            for y in ys
        ]
        columns = [picture.at("middle", x, 13) for x in xs]
        found.append((panel.p.get_text(), columns, rows))
    return found


def number(text: str) -> float:
    """A tick as it is written: 1,024, −2, 10⁻³, 1e-05."""
    text = text.replace("\u2212", "-").replace(",", "")
    power = re.fullmatch("10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    return 10.0 ** int(power[1].translate(SUPERSCRIPTS)) if power else float(text)


def axis(ticks: list[tuple[float, float]], scale) -> tuple[float, float]:
    """Slope and start of an axis, from its ticks, each a place and a value.

    Raises ValueError if they do not lie as evenly as the axis says, or twice at one place.
    """
    places, values = np.array(sorted(ticks)).T
    scaled = np.array([scale(value) for value in values])
    slope, start = np.polyfit(scaled, places, 1)
    if len(set(places)) != len(places) or abs(slope * scaled + start - places).max() > 0.11:
        raise ValueError(f"the ticks {ticks} are not even")
    return slope, start


def shape(mark) -> str:
    """What a mark looks like, wherever it is."""
    if mark.name == "circle":
        return "circle"
    strokes = re.sub("[^hvl]", "", mark["d"])
    return {"hvh": "square", "ll": "triangle", "lll": "diamond"}[strokes]


def centre(mark) -> tuple[float, float]:
    if mark.name == "circle":
        return float(mark["cx"]), float(mark["cy"])
    x, y = map(float, re.match(r"M(\S+) ([\d.]+)", mark["d"]).groups())
    return (x + 4, y + 4) if shape(mark) == "square" else (x, y + 5)


def plot(figure: str, x_scale, y_scale):
    """The names of both axes, their ticks, and for each name of the legend its points and marks.

    Points and marks are in the axes' own numbers, scaled as `x_scale` and `y_scale` say.
    """
    soup = BeautifulSoup(figure, "html.parser")
    picture = Picture(soup.select_one("svg:not([aria-hidden])"))
    grid = [
        tuple(map(float, re.match(r"M(\S+) ([\d.]+)H(\d+)$", one["d"]).groups()))
        for one in picture.svg.select("path.grid")
    ]
    ((left, right),) = {(start, end) for start, _, end in grid}  # all are as long
    up = [(y, number(picture.at("end", left - 6, y))) for _, y, _ in grid]
    floor = max(y for _, y, _ in grid)
    across = [
        (x, number(text))
        for x, y, kind, text in picture.texts
        if kind == "middle" and abs(y - floor - 14) < NEAR
    ]
    (x_slope, x_start), (y_slope, y_start) = axis(across, x_scale), axis(up, y_scale)

    def values(points) -> np.ndarray:
        a, b = np.array(points, dtype=float).T
        return np.array([(a - x_start) / x_slope, (b - y_start) / y_slope]).T

    drawn = {}
    for line in picture.svg.select("path.line"):
        (series,) = (name for name in line["class"] if name.startswith("line-"))
        marks = picture.svg.select(f".mark.{series}")
        points = re.findall(r"[ML](\S+) ([\d.]+)", line["d"])
        shapes = {shape(mark) for mark in marks}
        if len(shapes) != 1:
            raise ValueError(f"the marks of one line are {shapes}")
        key = (series, *shapes)
        drawn[key] = values(points), values([centre(mark) for mark in marks])
    labels = soup.select("ul.legends li")
    names = {(next(c for c in li.svg.contents[0]["class"] if c.startswith("line-")),
              shape(li.svg.contents[0])): li.get_text() for li in labels}  # fmt: skip
    if labels and list(names) != list(drawn):
        raise ValueError(f"the legend shows {list(names)}, the plot {list(drawn)}")
    titles = (
        picture.at("middle", (left + right) / 2, picture.height - 8),
        picture.at("start", 4, 10),
    )
    ticks = [value for _, value in across], [value for _, value in up]
    series = {names.get(key, ""): points for key, points in drawn.items()}
    return titles, ticks, series, (abs(x_slope), abs(y_slope))


def arrows(figure: str) -> list[tuple[str, str, float, float]]:
    """For each arrow: the name at its tip, its role, and its tip, seen from the crossing."""
    (picture,) = pictures(figure)
    level, upright = (one["d"] for one in picture.svg.select("path.grid"))
    y0 = float(re.match(r"M\S+ ([\d.]+)[Hh]", level)[1])
    x0 = float(re.match(r"M([\d.]+) \S+[Vv]", upright)[1])
    found = []
    for line in picture.svg.select("path.line:not(.dashed)"):
        x1, y1, x, y, *head = map(float, re.findall(r"-?[\d.]+", line["d"]))
        if (x1, y1) != (x0, y0) or head[0:2] != [x, y] or head[4:6] != [x, y]:
            raise ValueError("an arrow does not go from the crossing to its head")
        for stroke in (head[2:4], head[6:8]):
            along = np.dot(stroke, [x - x0, y - y0]) / math.hypot(x - x0, y - y0)
            if abs(along + 9) > 0.21 or abs(math.hypot(*stroke) - 10.06) > 0.21:
                raise ValueError("a head does not point where its arrow does")
        off, name = min((math.hypot(a - x, b - y), text) for a, b, _, text in picture.texts)
        if off > 20:
            raise ValueError(f"no name stands at the tip {x}, {y}")
        found.append((name, line["class"][1], x - x0, y0 - y))
    falls(picture, (x0, y0), found)
    return found


def falls(picture: Picture, crossing, found) -> None:
    """Dashed lines fall from the tips of keys that leave the query's line onto that line."""
    (x0, y0), (_, role, *query) = crossing, found[0]
    wanted = []
    for _, _, *tip in found[1:]:
        foot = np.dot(tip, query) / np.dot(query, query) * np.array(query)
        if role == "query" and np.hypot(*(tip - foot)) > 1:
            wanted.append([x0 + tip[0], y0 - tip[1], x0 + foot[0], y0 - foot[1]])
    lines = picture.svg.select("path.dashed")
    drawn = [[float(n) for n in re.findall(r"-?[\d.]+", one["d"])] for one in lines]
    if len(drawn) != len(wanted) or not np.allclose(drawn, wanted, atol=0.21, rtol=0):
        raise ValueError(f"dashed lines {drawn} where {wanted} should be")


def boxes(figure: str) -> list[list[tuple]]:
    """For each box, from the top: the name beside it, the texts in it, and its strength if any."""
    found = []
    for picture in pictures(figure):
        rows, left = [], len(picture.texts)
        for box in picture.svg.select("rect"):
            x, y, width, height = (float(box[name]) for name in ("x", "y", "width", "height"))
            inside = [
                text
                for a, b, anchor, text in sorted(picture.texts, key=lambda text: text[1])
                if anchor == "middle" and abs(a - x - width / 2) < NEAR and y < b < y + height
            ]
            name = picture.at("end", x - 9, y + height / 2)
            left -= len(inside) + bool(name)
            strength = [float(box["fill-opacity"])] if "fill-opacity" in box.attrs else []
            rows.append((y, x, name, *inside, *strength))
        if left:
            raise ValueError(f"{left} texts stand in no box")
        found.append([row for _, _, *row in sorted(rows)])
    return found
