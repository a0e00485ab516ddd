"""What the checker says of a page: records of what it compared, and problems."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple


class Problem(NamedTuple):
    """One place where a page is wrong: its line, counted from 1, and why."""

    line: int
    message: str


class Edit(NamedTuple):
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


class Record(NamedTuple):
    """One thing that a page says, and what its code gives there.

    `kind` is "output" (of a checked block), "number" or "name" (in prose), "claim" (a sentence,
    which its expression says is true), "chapter" (its number in the text of a link) or
    "content" (what a block draws, of which the page holds nothing).
    """

    kind: str
    line: int
    start: int  # text[start:end] is the literal
    end: int
    literal: str
    fresh: str  # what the code gives, written like the literal
    expression: str  # the code that gives it
    values: list  # the numbers behind the literal, where they are known
    code: tuple[int, int]  # where the expression stands in the text


@dataclass
class Page:
    """All that was found on one page."""

    problems: list[Problem] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    failed: bool = False  # did any of its code do what it may not?

    @property
    def changes(self) -> list[Edit]:
        """What would bring the text up to date."""
        return [
            Edit(record.start, record.end, record.fresh)
            for record in self.records
            if record.kind != "content" and record.fresh != record.literal
        ]

    @property
    def examples(self) -> int:
        return sum(record.kind == "output" for record in self.records)

    @property
    def numbers(self) -> int:
        return sum(record.kind == "number" for record in self.records)

    @property
    def marks(self) -> int:
        return sum(record.kind in ("number", "name", "claim") for record in self.records)

    def as_json(self) -> dict:
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict) -> Page:
        problems = [Problem(*problem) for problem in given["problems"]]
        return cls(problems, [Record(*record) for record in given["records"]], given["failed"])


def edited(text: str, edits: list[Edit]) -> str:
    """`text` with `edits` made, none of which may overlap another."""
    pieces, at = [], 0
    for start, end, new in sorted(edits):
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def report(pages: dict[str, Page]) -> list[str]:
    """Each problem as `docs/PAGE.md:LINE: what is wrong`."""
    return [
        f"{name}:{problem.line}: {problem.message}"
        for name, page in pages.items()
        for problem in page.problems
    ]
