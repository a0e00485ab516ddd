"""The published cases, for the page that shows their wrong answers beside the right ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

FILE = Path(__file__).resolve().parents[2] / "bug-clinic.json"
CASES = {case["id"]: case for case in json.loads(FILE.read_text("utf-8"))}


def credit(name: str, given, wrong, right) -> str:
    """Who reported a case, as HTML, if the page shows its input and both its answers.

    Each of `given`, `wrong` and `right` is an array or a tuple of arrays. Raises
    ValueError for one that the case does not hold, and for a wrong one that is a right one.
    """
    case = CASES[name]
    held = {
        "given": case["input"],
        "wrong": case["expected"].get("wrong", {}),
        "right": case["expected"]["right"],
    }
    for part, shown in (("given", given), ("wrong", wrong), ("right", right)):
        for array in shown if isinstance(shown, tuple) else (shown,):
            if not any(same(array, value) for value in held[part].values()):
                raise ValueError(f"{name} has nothing {part} like {array!r}: {held[part]}")
            if part == "wrong" and any(same(array, value) for value in held["right"].values()):
                raise ValueError(f"{name}: {array!r} is not wrong")
    links = (f'<a href="{address}">{text}</a>' for text, address in reports(case))
    return f"<p>Reported in {', '.join(links)}</p>"


def counted() -> str:
    """How many bugs the page shows, as HTML. The case that is none says so by its name."""
    shown = re.findall(r'print\(credit\("([^"]+)"', FILE.with_suffix(".md").read_text("utf-8"))
    none = sum(name.endswith("-harmless") for name in shown)
    suspects = "one suspect that is none" if none == 1 else f"{none} suspects that are none"
    return f"<p>{len(shown) - none} real bugs, each with its wrong output, and {suspects}.</p>"


def same(array, value) -> bool:
    """Is this array that value of a case, where "NaN" stands for nan?"""
    try:
        value = np.array(value, dtype=float)
    except (TypeError, ValueError):
        return False  # words
    array = np.asarray(array, dtype=float)
    return array.shape == value.shape and np.allclose(array, value, 1e-12, 1e-12, equal_nan=True)


def reports(case: dict) -> list[tuple[str, str]]:
    """Each public report that a case credits: its name and its address."""
    found = re.findall(r"([\w.-]+/[\w.-]+)#(\d+)", case["source_reference"])
    return [(f"{home}#{n}", f"https://github.com/{home}/issues/{n}") for home, n in found]
