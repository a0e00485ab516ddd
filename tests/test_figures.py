"""A figure shows the numbers that it was given, to the eye and to the ear."""

import re

import numpy as np
import pytest
from _lesson.figures.diagrams import lanes, tiles, turns
from _lesson.figures.live import detective
from _lesson.figures.svg import bars, curves, heatmaps
from bs4 import BeautifulSoup

from attention import PUBLISHED, Transformer

NAMES, WEIGHTS = ["is", "the", "best"], np.array([0.25, 0.125, 0.625])
FIGURES = {
    "bars": lambda: bars("Weights", NAMES, WEIGHTS),
    "heatmaps": lambda: heatmaps("Two", [("a", [WEIGHTS]), ("b", [WEIGHTS])], ["q"], NAMES),
    "curves": lambda: curves("Lines", "width", "bits", [2, 4, 8], {"raw": [3, 2, 1]}),
    "lanes": lambda: lanes("Down", [[("x", (3, 5))], [("a", (3, 2)), ("b", (3, 4))]]),
    "tiles": lambda: tiles("Two", [("a", [["is A"], ["the A"]])], ["is", "the"]),
    "turns": lambda: turns("Turned", ["zero", "one"], [(1.0, 0.0), (0.0, 1.0)]),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_is_the_same_bytes_each_time(draw):
    assert draw() == draw()


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_has_a_caption_and_a_text_alternative(draw):
    figure = BeautifulSoup(draw(), "html.parser")
    assert figure.figcaption.text
    for drawing in figure.select("svg:not([aria-hidden])"):
        assert drawing["role"] == "img"
        assert drawing["aria-label"].endswith(".")


def test_bars_are_as_long_as_their_shares_and_say_them():
    figure = BeautifulSoup(bars("Weights", NAMES, WEIGHTS), "html.parser")
    whole = [float(bar["width"]) for bar in figure.select("rect.track")]
    part = [float(bar["width"]) for bar in figure.select("rect.weight")]
    assert np.allclose(np.divide(part, whole), WEIGHTS, atol=1e-3)
    assert figure.svg["aria-label"] == "Weights: is 0.2500; the 0.1250; best 0.6250."
    assert [text.text for text in figure.select("text")][1::2] == ["0.2500", "0.1250", "0.6250"]


def test_a_heatmap_is_stronger_where_the_weight_is_larger_and_empty_where_it_is_zero():
    rows = [[0.0, 0.25, 0.75]]
    figure = BeautifulSoup(heatmaps("One", [("a", rows)], ["q"], NAMES), "html.parser")
    strength = [float(cell["fill-opacity"]) for cell in figure.select("rect.cell")]
    assert strength == sorted(strength)
    assert strength[0] == 0
    assert strength[1] * 3 == pytest.approx(strength[2], rel=0.02)
    assert figure.svg["aria-label"] == "a. q: 0.0000, 0.2500, 0.7500."
    assert [text.text for text in figure.select("text")][-2:] == ["0.2500", "0.7500"]


def test_curves_go_through_their_points_on_the_axes_that_they_name():
    values = {"raw": [0.0, 1.0, 3.0]}
    figure = BeautifulSoup(curves("Lines", "width", "bits", [2, 4, 8], values), "html.parser")
    points = re.findall(r"([\d.]+) ([\d.]+)", figure.select_one("path.line")["d"])
    across, down = np.array(points, dtype=float).T
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)
    assert (down[0] - down[2]) == pytest.approx(3 * (down[0] - down[1]), rel=0.01)
    assert "raw: 0.0000 at 2, 1.0000 at 4, 3 at 8" in figure.svg["aria-label"]


def test_a_logarithmic_axis_gives_each_power_of_ten_the_same_height():
    values = {"raw": [1.0, 10.0, 100.0]}
    drawn = curves("Lines", "width", "norm", [2, 4, 8], values, log=True)
    path = BeautifulSoup(drawn, "html.parser").select_one("path.line")["d"]
    down = np.array(re.findall(r" ([\d.]+)", path), dtype=float)
    assert down[0] - down[1] == pytest.approx(down[1] - down[2], abs=0.2)


def test_the_detective_has_a_field_for_each_of_a_model():
    drawn = BeautifulSoup(detective("One", PUBLISHED, PUBLISHED[0].model), "html.parser")
    fields = {field["name"] for field in drawn.select("input")}
    assert fields == {*Transformer._fields, "compare"}


def test_lanes_join_boxes_of_two_rows_and_say_each_shape():
    rows = [[("x", (3, 5))], [("a", (3, 2)), ("b", (3, 4))], [("c", (2, 2)), ("d", (1, 4))]]
    figure = BeautifulSoup(lanes("Down", rows), "html.parser")
    assert (
        figure.svg["aria-label"]
        == "Down: x 3 by 5; then a 3 by 2, b 3 by 4; then c 2 by 2, d 1 by 4."
    )
    ways = [re.findall(r"[\d.]+", way["d"]) for way in figure.select("path.grid")]
    below = [[start == end for start, _, end, _ in ways[i : i + 2]] for i in (0, 2)]
    assert below == [[False, False], [True, True]]  # all of the row; then one below the other
    assert [text.text for text in figure.select("text")][2:4] == ["a", "3 × 2"]


def test_a_tile_has_the_shade_of_the_row_that_its_label_names():
    rows = [["is A", "best A"], ["the A", "is A"], ["best A", "the A"]]
    figure = BeautifulSoup(tiles("One", [("a", rows)], NAMES), "html.parser")
    shades = [float(piece["fill-opacity"]) for piece in figure.select("rect.piece")]
    assert shades[0] == shades[3] < shades[2] == shades[5] < shades[1] == shades[4]
    assert figure.svg["aria-label"] == "a. is: is A, best A; the: the A, is A; best: best A, the A."


def test_an_arrow_turns_to_the_left_as_angles_do_and_says_its_pair():
    figure = BeautifulSoup(
        turns("Turned", ["zero", "one"], [(2.0, 0.0), (0.0, 2.0)]), "html.parser"
    )
    tips = [re.findall(r"[\d.]+", arrow["d"])[2:4] for arrow in figure.select("path.line")]
    (x0, y0), (x1, y1) = np.array(tips, dtype=float)
    assert x0 - x1 == y0 - y1 > 0
    assert figure.svg["aria-label"] == "Turned: zero (2, 0.0000); one (0.0000, 2)."
