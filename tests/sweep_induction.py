"""Does training find the circuit from any start, and what do models without it score?

    python tests/sweep_induction.py            train, and print it in short
    python tests/sweep_induction.py --write docs/a-trained-model.json     for the page

Trains two hundred models in about ten minutes of one core. The numbers are those of any
machine, but for their last digits; tests/test_induction_sweep.py trains some of them again.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from attention import (  # noqa: E402
    induction,
    induction_accuracy,
    induction_score,
    previous_token_score,
    repeated_sequences,
    run_induction,
    train_induction,
)

SEEDS = 100
RECIPES = {"as shipped": {}, "blocks of 4 to 6": {"period": (4, 6)}}
CONTROLS = {
    "two layers": {},
    "one layer": {"num_layers": 1},
    "no positions": {"use_positions": False},
    "one layer, all blocks of 10": {"num_layers": 1, "period": (10, 10)},
}
PERIODS = (9, 10, 11)
MOMENTS = (0, 100, 120, 150)  # of the shipped training, for the viewer of the page
DECISIVE = 1.0  # a loss below this means that it has found out


def task(options):
    """What of a recipe says which sequences are drawn."""
    return {name: options[name] for name in ("free", "period") if name in options}


def fresh(**options):
    """Sequences that no model has been trained on."""
    return repeated_sequences(np.random.default_rng(2026), 200, **options)


def one_seed(seed, options):
    """Train from one start: its accuracy, and the first step whose loss is low."""
    losses = []
    model = train_induction(
        seed=seed, watch=lambda step, loss, model: losses.append(loss), **options
    )
    low = next((step for step, loss in enumerate(losses[:-1]) if loss < DECISIVE), None)
    return {"accuracy": induction_accuracy(model, fresh(**task(options))), "found": low}


def history():
    """What the shipped training reached: at every step, at every tenth, and some models as text."""
    sequences, early = fresh(), np.arange(24) < 15
    told = {"loss": [], "steps": [], "right": [], "previous": [], "induction": []}
    texts = {}

    def keep(step, loss, model):
        if loss is not None:
            told["loss"].append(loss)
        if step in MOMENTS:
            texts[str(step)] = induction.model_to_text(model)
        if step % 10 == 0:
            back, copy = run_induction(model, sequences.tokens).patterns
            told["steps"].append(step)
            told["right"].append(induction_accuracy(model, sequences))
            told["previous"].append(previous_token_score(back, early))
            told["induction"].append(induction_score(copy, sequences.tokens, sequences.known))

    train_induction(watch=keep)
    return {"training": told, "moments": texts}


def control(options):
    """Train another kind of model on its own task: what it scores, there and elsewhere."""
    model = train_induction(**options)
    own = fresh(**task(options))
    patterns = run_induction(model, own.tokens).patterns
    return {
        "accuracy": induction_accuracy(model, own),
        "at period": {
            str(period): induction_accuracy(model, fresh(period=(period, period)))
            for period in PERIODS
        },
        "induction score": max(
            induction_score(pattern, own.tokens, own.known) for pattern in patterns
        ),
        "previous-token score": max(previous_token_score(pattern) for pattern in patterns),
    }


def rounded(value):
    """Six decimals are those that all machines agree on."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value if isinstance(value, int | str | None) else round(float(value), 6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="write all of it there")
    options = parser.parse_args()
    measured = {"controls": {name: control(how) for name, how in CONTROLS.items()}}
    print(json.dumps(rounded(measured), indent=1), flush=True)
    measured |= history()
    measured["seeds"] = {}
    for name, how in RECIPES.items():
        found = [one_seed(seed, how) for seed in range(SEEDS)]
        shares = sorted(one["accuracy"] for one in found)
        print(f"{name}: {shares[0]:.3f} to {shares[-1]:.3f}, median {shares[SEEDS // 2]:.3f}")
        measured["seeds"][name] = {key: [one[key] for one in found] for key in found[0]}
    if options.write:
        text = json.dumps(rounded(measured))
        options.write.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
