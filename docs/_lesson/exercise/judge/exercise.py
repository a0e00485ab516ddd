"""An exercise as its data file has it, and what its own programs give."""

from __future__ import annotations

import functools
import math
import tomllib

from .results import read
from .sandbox import Run, called


class Exercise:
    """What the data file says: `data` is all of it, `cases` and `wrong` its two lists.

    Raises tomllib.TOMLDecodeError for a text that is no TOML, and KeyError for what it lacks.
    """

    def __init__(self, text: str):
        self.data = tomllib.loads(text)
        given = self.data.get("given", "")  # functions that each of its programs begins with
        for name in ("starter", "solution"):
            if name in self.data:
                self.data[name] = given + self.data[name]
        for one in (one for wrong in self.data["wrong"] for one in spellings(wrong)):
            one["program"] = given + one["program"]
        self.names = [argument["name"] for argument in self.data["argument"]]
        calls = self.data.get("calls")
        self.about = {"subject": self.data["subject"], "call": called(self.names, calls)}
        self.cases = self.data["case"]
        self.outputs = self.data.get("outputs", ["output"])
        self.how = {"outputs": self.outputs, "calls": calls}  # its programs are run
        for case in self.cases:
            if len(self.outputs) > 1:
                case["output"], *_ = read(case["output"], self.outputs)
        self.wrong = self.data["wrong"]

    @functools.cached_property
    def results(self) -> list[tuple[dict, list[dict]]]:
        """Each wrong answer, once for each of its spellings, with what that gives for each case."""
        return [
            (wrong, results_of(one["program"], self.cases, self.names, **self.how))
            for wrong in self.wrong
            for one in spellings(wrong)
        ]


def spellings(wrong: dict) -> list[dict]:
    """A wrong answer and the other spellings of it: each has a program."""
    return [wrong, *wrong.get("spelling", [])]


def results_of(program: str, cases: list[dict], names: list[str], **how) -> list[dict]:
    """What a program of the data file gives for each of `cases`; it is not timed.

    `how` is that of the exercise, where it has several outputs or a class in place of `solve`.

    Raises ValueError for a program that cannot be called.
    """
    run = Run(program, names, seconds=math.inf, **how)
    if run.problem:
        raise ValueError(f"a program of the exercise fails: {run.problem['message']}")
    return [run.call(case) for case in cases]
