"""Run a page's code from top to bottom, and hold every number of the page against it."""

from __future__ import annotations

import re
from collections.abc import Callable

from .config import Config
from .document import Block, Content, Document, Example, Inner, Prose, Shown, parse
from .drift import drift
from .prose import MARK, within
from .records import Page, Problem, Record
from .runner import Failed, Runner
from .sentences import Sentences


def process(
    text: str,
    name: str,
    config: Config | None = None,
    progress=lambda line: None,
    blocks: bool = False,
) -> Page:
    """Run the page `text`, known as `name` (docs/PAGE.md), and compare.

    The code runs in this very process, and once: the pool is what keeps pages apart, and
    computes each twice. With `blocks`, nothing but the checked blocks is run.
    """
    config = config or Config()
    try:
        namespace = config.beside(name)
    except ValueError as error:
        return Page([Problem(1, str(error))], failed=True)
    document = parse(text, name)
    if blocks:
        document.parts = [part for part in document.parts if isinstance(part, Block)]
    return compare(document, Runner(name, namespace, progress), config)


def compare(document: Document, runner, config: Config, noted=lambda problems: None) -> Page:
    """Run a document's code by `runner`; `noted` is told of problems as they are found."""
    return Comparison(document, runner, config, noted).page


class Comparison:
    """One pass through a document; `page` is what came of it."""

    def __init__(self, document: Document, runner, config: Config, noted: Callable):
        self.document, self.runner, self.config, self.noted = document, runner, config, noted
        self.page = Page()
        self.note(document.problems)
        steps = {
            Block: self.block,
            Content: self.content,
            Inner: self.inner,
            Shown: lambda part: None,
            Prose: Sentences(document, runner, config, self.note, self.page.records).check,
        }
        for part in document.parts:
            steps[type(part)](part)
        self.count()
        self.page.problems.sort()

    def note(self, problems: list[Problem], failed: bool = False) -> None:
        new = [problem for problem in problems if problem not in self.page.problems]
        self.page.problems += new
        self.page.failed |= failed
        if new:
            self.noted(new)

    def count(self) -> None:
        """What the eye can count in the text must be what has been checked."""
        text = self.document.text
        there = (
            len(re.findall(r"^ *>>>", text, re.MULTILINE)),
            len(MARK.findall(text)) - self.document.quoted,
        )
        checked = self.page.examples, self.page.marks
        if not self.page.problems and there != checked:
            message = (
                f"the page has {there[0]} prompts and {there[1]} expressions, of which "
                f"{checked[0]} and {checked[1]} were checked: a prompt "
                "stands in a ```pycon fence, an expression in prose"
            )
            self.note([Problem(self.left_out(), message)])

    def left_out(self) -> int:
        """The line of the first prompt or expression that no record has checked."""
        document, checked = self.document, {record.code[0] for record in self.page.records}
        blocks = [(part.start, part.end) for part in document.parts if isinstance(part, Block)]
        for found in re.finditer(r"^(?= *>>>)|<!--[=?]", document.text, re.MULTILINE):
            quoted = found[0] and within(found.start(), blocks)
            if found.start() not in checked and not quoted:
                return document.line_of(found.start())
        return 1

    # Blocks

    def block(self, block: Block) -> None:
        for example in block.examples:
            try:
                got = self.runner.run(example.source, example.line)
            except Failed as failed:
                self.note(failed.problems, failed=True)
                continue
            rows = [_as_wanted(row, block.indent) for row in got.splitlines()]
            broken = [
                row
                for row in rows
                if row.lstrip().startswith(("```", "~~~", ">>>")) or row.startswith("...")
            ]
            if broken:
                message = f"this output would break the page: {broken[0]!r}"
                self.note([Problem(example.line, message)])
                continue
            self.output(example, rows, block)

    def output(self, example: Example, rows: list[str], block: Block) -> None:
        want = example.want.splitlines()
        literal = self.document.text[slice(*example.output)]
        fresh = literal  # to the letter, be it indented unlike its fence
        line = self.document.line_of(example.output[0])
        if rows != want:
            fresh = "".join(block.indent + row + block.newline for row in rows)
            self.note(drift(want, rows, line))
        record = ("output", line, *example.output, literal, fresh, example.source, [])
        self.page.records.append(Record(*record, example.code))

    def content(self, block: Content) -> None:
        try:
            made = self.runner.aside(block.source, block.line + 1)
        except Failed as failed:
            self.note(failed.problems, failed=True)
            return
        if not made.strip():
            self.note([Problem(block.line, "this block prints nothing: print its content")])
        if mark := MARK.search(made):
            message = f"a mark that is printed is not checked: {made[mark.start() :][:60]!r}"
            self.note([Problem(block.line, message)])
        record = ("content", block.line, block.start, block.end, "", made, block.source, [])
        self.page.records.append(Record(*record, block.body))

    def inner(self, part: Inner) -> None:
        found = compare(part.document, self.runner.fresh(), self.config)
        problems = [Problem(part.line + line, message) for line, message in found.problems]
        self.note(problems, found.failed)
        for record in found.records:
            start, end = record.code
            moved = record._replace(
                line=part.line + record.line,
                start=part.start + record.start,
                end=part.start + record.end,
                code=(part.start + start, part.start + end),
            )
            self.page.records.append(moved)


def _as_wanted(row: str, indent: str) -> str:
    """A printed row as doctest reads it in a page: tabs are spaces, a blank row has a word."""
    return (indent + row).expandtabs()[len(indent) :] if row.strip() else "<BLANKLINE>"
