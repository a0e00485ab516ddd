"""Say each place where the output of a block differs from the page's."""

from __future__ import annotations

import difflib

from .records import Problem
from .tables import cells, is_rule


def drift(want: list[str], fresh: list[str], line: int) -> list[Problem]:
    """Say each place where an output that begins at `line` differs."""
    matcher = difflib.SequenceMatcher(None, want, fresh, autojunk=False)
    if len(want) == len(fresh):
        pairs = [(i, i + 1, i, i + 1) for i in range(len(want))]
    else:
        pairs = [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
    problems = []
    for i, j, k, m in pairs:
        if want[i:j] == fresh[k:m]:
            continue
        olds = cells(want[i]) if j - i == 1 else []
        news = cells(fresh[k]) if m - k == 1 else []
        if olds and len(olds) == len(news) and olds != news:
            header = next(
                (cells(want[row - 1]) for row in range(i, 0, -1) if is_rule(want[row])), []
            )
            problems += _cells_differ(line + i, header, olds, news)
        else:
            old = "\n".join(want[i:j]) or "nothing"
            new = "\n".join(fresh[k:m]) or "nothing"
            problems.append(Problem(line + i, f"the page says {old}, the code says {new}"))
    return problems


def _cells_differ(line: int, header: list[str], olds: list[str], news: list[str]) -> list[Problem]:
    problems = []
    for number, (old, new) in enumerate(zip(olds, news, strict=True)):
        if old != new:
            column = header[number] if number < len(header) else number + 1
            message = (
                f"row {olds[0]!r}, column {column!r}: the page says {old}, the code says {new}"
            )
            problems.append(Problem(line, message))
    return problems
