"""Print, as JSON, what the pages give where this runs: .ci/matrix compares many such.

What differs from a page, and for each number in prose its place, the decimals that are
shown and the value behind it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [
    str(Path(__file__).resolve().parents[2] / "docs"),
    str(Path(__file__).resolve().parents[2]),
]

from _lesson.checked import command as check  # noqa: E402
from _lesson.checked.document import Reader  # noqa: E402
from _lesson.checked.numerals import NUMBER, flat  # noqa: E402
from _lesson.checked.runner import Runner  # noqa: E402


class Values(Reader):
    """Reads a page and keeps the value behind each number of its prose."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.values = []

    def bound(self, token, mark, base) -> None:
        super().bound(token, mark, base)
        if token["target"] or token["word"]:
            return
        line, expression = self.line_of(base + token.start()), mark["expression"].strip()
        values = flat(self.runner.run(expression, line, "eval"))
        for literal, value in zip(NUMBER.findall(token[0]), values, strict=True):
            if isinstance(value, float) and np.isfinite(value):
                mantissa, _, power = literal.rstrip("%").partition("e")
                decimals = len(mantissa.partition(".")[2]) + 2 * literal.endswith("%")
                place = (self.name, line, expression, decimals - int(power or 0))
                self.values.append((place, value))


def kernel() -> str:
    """The OpenBLAS kernel that numpy uses."""
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return next((pool.get("architecture", "") for pool in threadpool_info()), "")


def main() -> None:
    problems, values = [], []
    for name, text in check.sources().items():
        reader = Values(text, Runner(name))
        problems += check.report({name: reader.read()})
        values += reader.values
    print(json.dumps({"kernel": kernel(), "problems": problems, "values": values}))


if __name__ == "__main__":
    main()
