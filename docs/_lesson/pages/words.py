"""What the page *How we know* says of words of number and comparison, and who may leave them."""

from __future__ import annotations

import tomllib

from _lesson import lesson
from _lesson.checked.config import read
from _lesson.checked.worded import Said, states, survey


def listed() -> dict[str, int]:
    """How many unbound words each text may have: no more than when that was written down."""
    return tomllib.loads(read(lesson.WORDS))["unbound"]


def loose(found: list[Said]) -> int:
    """How many unbound words these sentences have."""
    return sum(len(said.loose) for said in found)


def published() -> str:
    """How many sentences of the pages have such a word, and how many of these are checked."""
    config = lesson.config()
    found = survey(config.sources(), config)
    counted = states(said for sentences in found.values() for said in sentences)
    checked = counted["bound"] + counted["claimed"]
    return (
        f"<strong>{sum(counted.values()):,} sentences have such a word: in {checked:,} of them it "
        f"is bound or claimed, and in {counted['unbound']:,} nothing checks it.</strong>"
    )


def main() -> None:
    """Write down how many there are now, which no text may exceed from then on."""
    config = lesson.config()
    found = survey(config.sources() | config.beyond(), config)
    counts = {name: loose(said) for name, said in found.items()}
    rows = "".join(f'"{name}" = {count}\n' for name, count in counts.items() if count)
    head, mark, _ = read(lesson.WORDS).partition("\n[unbound]\n")
    lesson.WORDS.write_text(head + mark + rows, "utf-8")
