"""An exercise as its data file has it, and what its own programs give."""

from __future__ import annotations

import functools
import math
import tomllib

from .results import differing, fits
from .sandbox import Run, called


class Exercise:
    """What the data file says: `data` is all of it, `cases` and `wrong` its two lists.

    Raises tomllib.TOMLDecodeError for a text that is no TOML, and KeyError for what it lacks.
    """

    def __init__(self, text: str):
        self.data = tomllib.loads(text)
        self.names = [argument["name"] for argument in self.data["argument"]]
        self.about = {"subject": self.data["subject"], "call": called(self.names)}
        self.cases = self.data["case"]
        self.wrong = self.data["wrong"]

    @functools.cached_property
    def results(self) -> list[list[dict]]:
        """What each wrong answer gives for each case."""
        return [results_of(wrong["program"], self.cases, self.names) for wrong in self.wrong]

    def recognised(self, results: list[dict]) -> list[dict]:
        """The wrong answers whose outputs these are, each with its name and where from."""
        return [
            {"name": wrong["name"], "comes_from": wrong["comes_from"]}
            for wrong, others in zip(self.wrong, self.results, strict=True)
            if all(
                alike(mine, other, case["output"])
                for mine, other, case in zip(results, others, self.cases, strict=True)
            )
        ]


def results_of(program: str, cases: list[dict], names: list[str]) -> list[dict]:
    """What a program of the data file gives for each of `cases`; it is not timed.

    Raises ValueError for a program that cannot be called.
    """
    run = Run(program, names, seconds=math.inf)
    if run.problem:
        raise ValueError(f"a program of the exercise fails: {run.problem['message']}")
    return [run.call(case) for case in cases]


def alike(result: dict, other: dict, output: list) -> bool:
    """Are two results the same answer? All that has not the output's shape is one answer."""
    usable = [fits(one["value"], output) for one in (result, other)]
    if not all(usable):
        return not any(usable)
    return result["changed"] == other["changed"] and not differing(result["value"], other["value"])
