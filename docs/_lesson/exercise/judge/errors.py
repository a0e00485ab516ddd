"""Errors of Python in the words of somebody who sees them for the first time."""

from __future__ import annotations

import re

# What an error's text begins with, and what that usually means in a loop over rows.
MEANING = {
    r"(max|min)\(\) (iterable argument|arg) is (empty|an empty sequence)": (
        "The list was empty there: nothing was left to choose from. Does a loop or a slice end "
        "too early?"
    ),
    r"list (assignment )?index out of range": (
        "The list is shorter than that: its last index is its length minus one"
    ),
    r"(float |integer )?(division|modulo) by zero|division by zero": (
        "What stands below the fraction was zero there: a sum of nothing, perhaps"
    ),
    r"math range error|.*too large": "The result is larger than a float can hold",
    r"can't multiply sequence by non-int": (
        "A list was multiplied by a number: Python does not do that entry by entry, a loop does"
    ),
    r"unsupported operand type\(s\) for .*'list'": (
        "One side is a whole list: Python does not compute with it entry by entry, a loop does"
    ),
    r"'(int|float)' object is not (iterable|subscriptable)": (
        "A single number stands where a list was expected: one index too many?"
    ),
    r"object of type '(int|float)' has no len\(\)": (
        "A single number stands where a list was expected: one index too many?"
    ),
    r"list indices must be integers or slices, not": (
        "An index has to be a whole number: loop over range(len(...)), or over the rows themselves"
    ),
    r"expected ':'": "A line that opens a block ends with a colon",
    r"expected an indented block": "The line below a colon stands further in",
    r"'\(' was never closed|'\[' was never closed": "A bracket that opens here is closed nowhere",
}


def in_words(text: str) -> str:
    """What an error with this text means; "" where Python has said it well enough."""
    return next((words for begin, words in MEANING.items() if re.match(begin, text)), "")
