"""What tests/sweep_induction.py found by training, for the page beside its file."""

from __future__ import annotations

import numpy as np

from attention import table
from attention.induction import model_from_text


def loss(measured: dict) -> tuple:
    """Steps of the shipped training, every fourth, their losses, and how many share a mark."""
    found = measured["training"]["loss"]
    return range(0, len(found), 4), {"loss": found[::4]}, 6


def models(measured: dict, last) -> dict:
    """The model at each moment of the shipped training that the file has, and `last`, its end."""
    found = {int(step): model_from_text(text) for step, text in measured["moments"].items()}
    return found | {len(measured["training"]["loss"]): last}


def before_during_after(models: dict) -> dict:
    """The first model, the one in the middle of the moments, and the last."""
    return {step: models[step] for step in list(models)[::2]}


def story(measured: dict) -> tuple:
    """Steps of the shipped training, what the answers and both heads reached, and marks."""
    history = measured["training"]
    shares = {
        "right answers": history["right"],
        "layer 0, previous token": history["previous"],
        "layer 1, induction": history["induction"],
    }
    return history["steps"], shares, 4


def controls(measured: dict) -> str:
    """The scores of models that lack something, on their own task and at fixed periods."""
    rows = []
    for name, found in measured["controls"].items():
        shares = (found["accuracy"], *found["at period"].values())
        rows.append(
            [name, f"{found['induction score']:.2f}", *(f"{share:.1%}" for share in shares)]
        )
    periods = (f"blocks of {period}" for period in found["at period"])
    return table(["model", "induction score", "own task", *periods], rows)


def seeds(measured: dict) -> str:
    """How well each recipe ends, and when it finds out, over its random starts."""
    rows = []
    for name, found in measured["seeds"].items():
        shares = np.array(found["accuracy"])
        ends = (f"{share:.1%}" for share in (shares.min(), np.median(shares), shares.max()))
        steps = [step for step in found["found"] if step is not None]
        when = f"{min(steps)} to {max(steps)}"
        never = found["found"].count(None)
        rows.append([name, len(shares), *ends, (shares > 0.95).sum(), when, never])
    header = ["recipe", "starts", "worst", "middle", "best", "above 95%", "found at step", "never"]
    return table(header, rows)
