"""A picture of a model says its shapes and its parameters, to the eye and to the ear."""

import re

import numpy as np
import pytest
from _lesson.figures.lines import lines
from _lesson.figures.model import decoder, norm_orders
from bs4 import BeautifulSoup

from attention import Transformer, count_parameters

MODEL = Transformer(vocabulary=11, D=8, L=3, h=2, H=24, positions=7, outer_norms=1)


@pytest.fixture
def drawn():
    made = decoder("A decoder", 5, MODEL, count_parameters(MODEL))
    return BeautifulSoup(made, "html.parser")


def test_a_decoder_shows_the_shapes_of_its_stream_and_how_many_parameters_it_has(drawn):
    shown = [text.text for text in drawn.select("text")]
    assert shown.count("5 × 8") == 4
    assert {"5 tokens", "5 × 11 logits", "3 blocks, one after the other"} <= set(shown)
    learned = [int(note.replace(",", "")) for note in shown if re.fullmatch("[0-9,]+", note)]
    inside = learned[2:6]  # norm, attention, norm, feed-forward
    counted = count_parameters(MODEL)
    assert sum(inside) == counted["layer"]
    assert sum(learned) + (MODEL.L - 1) * sum(inside) == counted["total"]


def test_whatever_a_picture_of_a_model_shows_it_also_says(drawn):
    for drawing in [drawn.svg, *BeautifulSoup(norm_orders("Both"), "html.parser").select("svg")]:
        assert drawing["role"] == "img"
        for text in drawing.select("text"):
            assert text.text in drawing["aria-label"] or text.text == "+"
    names = re.findall("norm|attention", drawing["aria-label"])
    assert names == ["norm", "attention", "norm", "norm"]  # post-norm: it says so, then its parts


def test_lines_go_through_their_points_on_the_axes_that_they_name():
    figure = BeautifulSoup(lines("Lines", "x", "y", [-1, 0, 2], {"a": [-2, 0, 4]}), "html.parser")
    points = re.findall(r"([\d.]+) ([\d.]+)", figure.select_one("path.line")["d"])
    across, down = np.array(points, dtype=float).T
    assert across[2] - across[1] == pytest.approx(2 * (across[1] - across[0]), abs=0.2)
    assert down[1] - down[2] == pytest.approx(2 * (down[0] - down[1]), abs=0.2)
    assert "a: -2 at -1.0000, 0.0000 at 0.0000, 4 at 2." in figure.svg["aria-label"]
    assert "−1" in [text.text for text in figure.select("text")]


def test_an_axis_of_powers_gives_each_power_of_ten_the_same_length():
    made = lines("Lines", "step", "error", [1e-4, 1e-3, 1e-1], {"a": [1, 10, 1000]}, powers="xy")
    figure = BeautifulSoup(made, "html.parser")
    points = re.findall(r"([\d.]+) ([\d.]+)", figure.select_one("path.line")["d"])
    for places in np.array(points, dtype=float).T:
        first, second = np.diff(places)
        assert second == pytest.approx(2 * first, abs=0.2)
    assert {"10⁻⁴", "10⁻¹", "10⁰", "10³"} <= {text.text for text in figure.select("text")}


def test_no_point_lies_beyond_the_last_tick():
    made = lines("Lines", "x", "y", [0, 33], {"a": [0, 35]})
    path = BeautifulSoup(made, "html.parser").select_one("path.line")["d"]
    (_, _), (across, down) = re.findall(r"([\d.]+) ([\d.]+)", path)
    assert float(across) <= 360 - 22
    assert float(down) >= 28
