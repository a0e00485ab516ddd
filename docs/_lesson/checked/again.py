"""A page that is computed twice says the same twice, and its prose changes nothing."""

from __future__ import annotations

from .records import Page, Problem, Record


def differs(first: Page, second: Page) -> list[Problem]:
    """Where a second run of a page says something else."""
    problems = [
        Problem(line, f"a second run of this page says: {message}")
        for line, message in second.problems
    ]
    for one, other in _pairs(first, second):
        if one.values != other.values:
            said = f"once this is {_shown(one.values)}, and once {_shown(other.values)}"
            problems.append(Problem(one.line, f"{said} ({one.expression}): seed what is random"))
        elif one.fresh != other.fresh:
            message = f"a second run prints something else: {_row(one, other)}: seed what is random"
            problems.append(Problem(one.line, message))
    return problems


def meddles(first: Page, blocks: Page) -> list[Problem]:
    """Where a checked block gives something else if nothing but the blocks is run."""
    message = "the numbers or figures of the text change what this prints: without them, {}"
    changed = [pair for pair in _pairs(first, blocks) if pair[0].fresh != pair[1].fresh]
    problems = [Problem(one.line, message.format(_row(one, other))) for one, other in changed]
    if blocks.failed:
        problems += [Problem(line, message.format(said)) for line, said in blocks.problems]
    return problems


def _pairs(first: Page, second: Page) -> list[tuple[Record, Record]]:
    found = {(record.kind, record.start): record for record in second.records}
    pairs = [(record, found.get((record.kind, record.start))) for record in first.records]
    return [(one, other) for one, other in pairs if other]


def _shown(values: list) -> str:
    return ", ".join(map(str, values))


def _row(one: Record, other: Record) -> str:
    """The first row of `other` that differs."""
    rows, others = one.fresh.splitlines(), other.fresh.splitlines()
    differing = (new for old, new in zip(rows, others, strict=False) if old != new)
    return next(differing, "another number of lines").strip()
