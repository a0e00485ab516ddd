"""What a learner's code gives: read it, compare it with what is right, and write it down."""

from __future__ import annotations

import numbers
from math import isclose

TOLERANCE = 1e-9  # of a number that is judged, relative or absolute
MOST = 12  # rows and columns of a result that are shown


def read(got: object, outputs: list[str] | tuple) -> tuple[list[list[float]] | None, str, str]:
    """Read what was returned: one matrix, or as many as there are names in `outputs`.

    -> (rows, what is wrong, a note). Several stand below each other, with an empty row
    between them; `parts` takes them apart.
    """
    if len(outputs) < 2 or got is None:
        return matrix(got)
    several, _ = listed(got)
    if several is None or len(several) != len(outputs):
        return None, f"solve returned {said(got)}: {', '.join(outputs)} were expected", ""
    rows, notes = [], []
    for name, one in zip(outputs, several, strict=True):
        value, problem, note = matrix(one)
        if problem:
            return None, f"{name}: {problem}", ""
        rows += [[], *value]
        notes += [f"{name}: {note}"] if note else []
    return rows[1:], "", "; ".join(notes)


def parts(rows: list[list]) -> list[list]:
    """The matrices that stand below each other, with an empty row between them."""
    found = [[]]
    for row in rows:
        if row:
            found[-1].append(row)
        else:
            found.append([])
    return found


def matrix(got: object) -> tuple[list[list[float]] | None, str, str]:
    """Read what was returned as rows of floats: -> (rows, what is wrong, a note)."""
    if got is None:
        return None, "solve returned None: does it end with a return?", ""
    rows, kind = listed(got)
    if rows is None:
        return None, f"solve returned {said(got)}: a list of rows was expected", ""
    if len(rows) > 1000:
        return None, f"solve returned {len(rows):,} rows", ""
    kinds, values = {kind}, []
    for i, row in enumerate(rows):
        cells, kind = listed(row)
        if cells is None:
            return None, f"row {i} is {said(row)}: each row is a list of numbers", ""
        if len(cells) > 1000:
            return None, f"row {i} has {len(cells):,} numbers", ""
        kinds.add(kind)
        values.append([])
        for j, cell in enumerate(cells):
            if isinstance(cell, bool) or not isinstance(cell, numbers.Real):
                where = f"row {i}, column {j}"
                return None, f"{where} is {said(cell)}: a number was expected", ""
            try:
                values[-1].append(float(cell))
            except (OverflowError, ValueError):
                return None, f"row {i}, column {j} is too large for a float", ""
    widths = [len(row) for row in values]
    if len(set(widths)) > 1:
        return None, f"the rows have different lengths: {short(widths)}", ""
    others = " and ".join(sorted(kinds - {"list"}))
    return values, "", f"{others} read as lists" if others else ""


def listed(value: object) -> tuple[list | tuple | None, str]:
    """A list, a tuple or an array as something to index, and what it was."""
    if isinstance(value, list | tuple):
        return value, type(value).__name__
    if hasattr(value, "tolist") and not isinstance(value, type):  # of numpy and array
        value, kind = value.tolist(), type(value).__name__
        return (value, kind) if isinstance(value, list) else (None, kind)
    return None, ""


def fits(rows: list | None, output: list) -> bool:
    """Has a result the shape of the right one?"""
    return rows is not None and [len(row) for row in rows] == [len(row) for row in output]


def close(x: float, y: float) -> bool:
    """Doubles differ a little between Pythons: the same to nine digits is the same."""
    # Bound above by its name: a learner's code may change what the module holds.
    return isclose(x, y, rel_tol=TOLERANCE, abs_tol=TOLERANCE) or (x != x and y != y)


def differing(rows: list, others: list) -> list[list[int]]:
    """Where two results of one shape differ, as [row, column]."""
    return [
        [i, j]
        for i, row in enumerate(rows)
        for j, cell in enumerate(row)
        if not close(cell, others[i][j])
    ]


def power(x: float) -> str:
    """A small number by its first digit and its power of ten, as 1e-9."""
    return f"{x:.0e}".replace("e-0", "e-")


def size(rows: list) -> str:
    if not any(rows):
        return f"{len(rows)} empty rows" if rows else "an empty list"
    many = "row" if len(rows) == 1 else "rows"
    return f"{len(rows)} {many} of {len(rows[0])}"


def said(value: object) -> str:
    return f"{short(value)}, of type {type(value).__name__}"


def short(value: object) -> str:
    """A value as text, whatever its size and however it is written."""
    try:
        if isinstance(value, list | tuple) and len(value) > MOST:
            return f"{short(value[:3])[:-1]}, … {len(value):,} in all]"
        text = repr(value)
    except Exception as error:
        text = f"something whose repr raises {type(error).__name__}"
    return text if len(text) <= 200 else text[:200] + "…"


def written(rows: list, others: list) -> list[list[str]]:
    """Numbers to show: six digits, or all where six would hide a difference."""
    shown = []
    for i, row in enumerate(rows[:MOST]):
        shown.append([])
        for j, cell in enumerate(row[:MOST]):
            text = f"{cell:.6g}"
            if i < len(others) and j < len(others[i]):
                other = others[i][j]
                if text == f"{other:.6g}" and not close(cell, other):
                    text = repr(cell)
            shown[-1].append(text)
    return shown
