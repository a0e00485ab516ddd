"""Print, as JSON, what the pages give where this runs: .ci/matrix compares many such.

What differs from a page, and for each number in prose its place, the power of ten of its last
digit and the value behind it.
"""

from __future__ import annotations

import json
import math

from _lesson import lesson
from _lesson.checked import Record, check, report
from _lesson.checked.numerals import NUMBER, last_digit


def numbers(record: Record) -> list[tuple[str, float]]:
    """The literals of a record that stand for doubles, each with its value."""
    if record.kind != "number" or record.literal.startswith("]("):
        return []
    literals = NUMBER.findall(record.literal)
    if len(literals) != len(record.values):  # words, or names with digits
        return []
    pairs = zip(literals, record.values, strict=True)
    return [(text, x) for text, x in pairs if isinstance(x, float) and math.isfinite(x)]


def kernel() -> str:
    """The OpenBLAS kernel that numpy uses."""
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return next((pool.get("architecture", "") for pool in threadpool_info()), "")


def main() -> None:
    config = lesson.config()
    pages = check(config.sources(), config)
    values = [
        ((name, record.line, record.expression, last_digit(text)), value)
        for name, page in pages.items()
        for record in page.records
        for text, value in numbers(record)
    ]
    print(json.dumps({"kernel": kernel(), "problems": report(pages), "values": values}))


if __name__ == "__main__":
    main()
