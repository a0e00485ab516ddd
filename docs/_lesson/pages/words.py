"""What the page *How we know* says of words of number and comparison, and who may leave them."""

from __future__ import annotations

import tomllib

from _lesson import lesson
from _lesson.checked.config import read
from _lesson.checked.worded import states, survey


def listed() -> dict[str, int]:
    """How many sentences with an unbound word each text may have: no more than when it was set."""
    return tomllib.loads(read(lesson.WORDS))["unbound"]


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
    counts = {name: states(said)["unbound"] for name, said in found.items()}
    rows = "".join(f'"{name}" = {count}\n' for name, count in counts.items() if count)
    head, mark, _ = read(lesson.WORDS).partition("\n[unbound]\n")
    lesson.WORDS.write_text(head + mark + rows, "utf-8")
