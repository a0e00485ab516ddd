"""The file beside the chapter on a trained model says what training gives, wherever it runs."""

import json

import pytest
import sweep_induction as sweep
from helpers import ROOT

FILE = json.loads((ROOT / "docs" / "a-trained-model.json").read_text("utf-8"))


def test_the_shipped_training_went_as_the_file_says():
    found = json.loads(json.dumps(sweep.rounded(sweep.history())))
    assert found["moments"] == FILE["moments"]
    assert found["training"].keys() == FILE["training"].keys()
    for name, values in FILE["training"].items():
        assert found["training"][name] == pytest.approx(values, abs=2e-6), name


@pytest.mark.ci
@pytest.mark.parametrize("name", sweep.CONTROLS)
def test_a_control_scores_what_the_file_says(name):
    found, told = sweep.rounded(sweep.control(sweep.CONTROLS[name])), FILE["controls"][name]
    assert found.pop("at period") == pytest.approx(told["at period"], abs=2e-6)
    assert found == pytest.approx({k: told[k] for k in found}, abs=2e-6)


@pytest.mark.ci
@pytest.mark.parametrize("name", sweep.RECIPES)
def test_starts_end_where_the_file_says(name):
    told = FILE["seeds"][name]
    assert len(told["accuracy"]) == len(told["found"]) == sweep.SEEDS
    for seed in (0, sweep.SEEDS - 1):
        found = sweep.one_seed(seed, sweep.RECIPES[name])
        assert found["found"] == told["found"][seed]
        assert found["accuracy"] == pytest.approx(told["accuracy"][seed], abs=2e-6)
