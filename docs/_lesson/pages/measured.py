"""Tables of what tests/benchmark_length.py measured, for the page beside its file."""

from __future__ import annotations

from attention import table


def source(measured: dict) -> str:
    """What was measured on, with what, and how."""
    machine, versions = measured["machine"], measured["versions"]
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"Measured on one core of a processor that calls itself {machine['processor']} "
        f"({machine['system']}), in single precision, one head of width {measured['width']}. "
        f"Each number is a median over {measured['rounds']} rounds, in each of which all take "
        f"their turn. Versions: {listed}."
    )


def compared(measured: dict, way: str) -> str:
    """How many times as long as the package each peer took, at each length."""
    return _table("n", measured["lengths"], measured["time"][way]["ratio"], ".2f")


def boundary(measured: dict) -> str:
    """How many times as long as blocks the package's plain formula took."""
    found = measured["boundary"]
    return _table("n", found["lengths"], found["ratio"]["blockwise"], ".2f")


def precision(measured: dict) -> str:
    """The largest error of each way, for queries longer by each factor."""
    found = measured["precision"]
    return _table("queries longer by", found["factors"], found["error"], ".1e")


def _table(corner: str, columns: list, rows: dict, form: str) -> str:
    cells = [[name, *(format(value, form) for value in row)] for name, row in rows.items()]
    return table([corner, *map(str, columns)], cells)
