"""The runs print the figures of data/lesson-figures.json, digit for digit."""

import json
from pathlib import Path

import numpy as np
import pytest

from attention import (
    LAYER,
    MASK,
    ONE_QUERY,
    PUBLISHED,
    SCALE,
    SELECT,
    count_parameters,
    draw_trials,
    run_mask,
    run_one,
    run_params,
    run_scale,
    run_select,
)
from attention.runs import fixed_point

DATA = Path(__file__).parent / "data" / "lesson-figures.json"
FIGURES = json.loads(DATA.read_text(encoding="utf-8"))


def rows(text):
    """Read every table row of a run: its cells, the empty ones left out."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return [[cell for cell in row if cell] for row in cells]


def test_the_first_run():
    figures, text = FIGURES["one"], run_one()
    for name, numbers in figures["rows"].items():
        assert [name, *numbers] in rows(text)
    assert ["sum", figures["sum_exp"], figures["sum_alpha"]] in rows(text)
    assert f"= {figures['sqrt_d_k']}." in text
    assert f"({', '.join(figures['output'])})" in text
    entropy, most = figures["entropy_bits"], figures["max_entropy_bits"]
    assert f"{entropy} bits of at most {most}." in text


def test_the_run_that_selects():
    figures, found = FIGURES["select"], rows(run_select())
    for name in figures["queries"]:
        line = [name, *figures["alpha"][name], figures["entropy_bits"][name]]
        assert line in [row[: len(line)] for row in found]


def test_the_run_that_scales():
    figures, text = FIGURES["scale"], run_scale()
    for width, numbers in figures["rows"].items():
        assert [width, *numbers] in rows(text)
    assert f"weights is {figures['max_entropy_bits']} bits" in text


@pytest.mark.parametrize(
    ("order", "sums"),
    [
        ("mask_then_softmax", ["1.0000"] * 4),
        ("softmax_then_mask", FIGURES["mask"]["softmax_then_mask_row_sums"]),
    ],
)
def test_the_run_that_masks(order, sums):
    figures, found = FIGURES["mask"], rows(run_mask())
    for token, weights, total in zip(figures["tokens"], figures[order], sums, strict=True):
        hidden = ["0"] * (len(figures["tokens"]) - len(weights))
        assert [token, *weights, *hidden, total] in found


def test_the_run_that_counts():
    figures, found = FIGURES["params"], rows(run_params())
    for part, key in [
        ("attention Q, K, V, O", "attention"),
        ("feed-forward", "feed_forward"),
        ("layer norms", "layer_norms"),
        ("one layer", "layer"),
        (f"all {figures['L']} layers", "layers"),
        ("embeddings", "embeddings"),
        ("total", "total"),
    ]:
        assert (part, figures[key]) in [(row[0], row[-1]) for row in found]
    for length, numbers in figures["scores_per_head"].items():
        assert [length, *numbers] in [row[:3] for row in found]


def test_no_table_shows_a_negative_zero():
    assert [fixed_point(x) for x in (-0.0, -0.00004, -0.00006)] == [
        "0.0000",
        "0.0000",
        "-0.0001",
    ]
    for run in (run_one, run_select, run_scale, run_mask, run_params):
        for row in rows(run()):
            assert not [cell for cell in row if cell.startswith("-0") and not float(cell)]


@pytest.mark.parametrize("entry", PUBLISHED, ids=lambda entry: entry.name)
def test_published_totals(entry):
    assert count_parameters(entry.model)["total"] == entry.total


def test_there_are_four_published_totals():
    assert {entry.name: entry.total for entry in PUBLISHED} == {
        "GPT-2 small": 124_439_808,
        "BERT-base": 109_482_240,
        "Llama-2-7B": 6_738_415_616,
        "Llama-3-8B": 8_030_261_248,
    }


def test_the_inputs_are_the_lesson_s():
    one, select, mask = FIGURES["one"], FIGURES["select"], FIGURES["mask"]
    assert ONE_QUERY.query.tolist() == one["q"]
    assert dict(zip(ONE_QUERY.names, ONE_QUERY.keys.tolist(), strict=True)) == one["keys"]
    assert np.array_equal(ONE_QUERY.values, ONE_QUERY.keys)
    assert list(SELECT.dimensions) == select["dimensions"]
    assert dict(zip(SELECT.key_names, SELECT.keys.tolist(), strict=True)) == select["keys"]
    assert {k: v.tolist() for k, v in SELECT.queries.items()} == select["queries"]
    assert np.array_equal(SELECT.values, np.eye(3))
    assert (SCALE.n_keys, SCALE.trials) == (8, 200)
    assert [str(width) for width in SCALE.widths] == list(FIGURES["scale"]["rows"])
    assert list(MASK.tokens) == mask["tokens"]
    assert MASK.scores.tolist() == mask["scores"]
    sizes = [LAYER.vocabulary, LAYER.D, LAYER.L, LAYER.h, LAYER.d_k, LAYER.H]
    assert sizes == [FIGURES["params"][key] for key in ("V", "D", "L", "h", "d_k", "H")]


def test_the_inputs_cannot_be_changed():
    for array in (
        ONE_QUERY.query,
        ONE_QUERY.keys,
        ONE_QUERY.values,
        SELECT.keys,
        SELECT.values,
        *SELECT.queries.values(),
        MASK.scores,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        SELECT.queries["animal"] = 1


def test_one_draw_is_the_same_stream_as_pairs_of_draws():
    query, key = draw_trials(np.random.default_rng(7), 5, trials=3, n_keys=2)
    rng = np.random.default_rng(7)
    for trial in range(3):
        assert np.array_equal(query[trial, 0], rng.standard_normal(5))
        assert np.array_equal(key[trial], rng.standard_normal((2, 5)))
