"""Run a page's code from top to bottom, and hold every number of the page against it."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import math
import posixpath
import re
from collections.abc import Callable

from .config import Config
from .document import Block, Content, Document, Example, Inner, Prose, parse, unbound
from .drift import drift
from .numerals import DIGIT, NUMBER, ORDINALS, WORDS, flatten, format_like
from .prose import NAME, NAMES, Token
from .records import Page, Problem, Record, edited
from .runner import Failed, Runner

ADDRESS = re.compile(r"\d+(?:\.\d+)*")  # the numbers of a link's target


def process(text: str, name: str, config: Config | None = None, progress=lambda line: None) -> Page:
    """Run the page `text`, known as `name` (docs/PAGE.md), and compare.

    The code runs in this very process: the pool is what keeps pages apart.
    """
    config = config or Config()
    try:
        namespace = config.beside(name)
    except ValueError as error:
        return Page([Problem(1, str(error))], failed=True)
    return compare(parse(text, name), Runner(name, namespace, progress), config)


def compare(document: Document, runner, config: Config, noted=lambda problems: None) -> Page:
    """Run a document's code by `runner`; `noted` is told of problems as they are found."""
    return Comparison(document, runner, config, noted).page


class Comparison:
    """One pass through a document; `page` is what came of it."""

    def __init__(self, document: Document, runner, config: Config, noted: Callable):
        self.document, self.runner, self.config, self.noted = document, runner, config, noted
        self.page = Page()
        self.note(document.problems)
        steps = {Block: self.block, Content: self.content, Inner: self.inner, Prose: self.prose}
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
            text.count("<!--=") - self.document.quoted,
        )
        checked = self.page.examples, self.page.numbers
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
        for found in re.finditer(r"^(?= *>>>)|<!--=", document.text, re.MULTILINE):
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

    # Prose

    def prose(self, prose: Prose) -> None:
        """Check the numbers of some prose, and that no digit of it was left out."""
        covered = list(prose.covered)
        before: Token | None = None
        for at, token in enumerate(prose.tokens):
            behind = prose.tokens[at + 1] if at + 1 < len(prose.tokens) else None
            if token.kind == "mark":
                covered.append((token.start, token.end))
                if before is None or before.end != token.start or before.kind in ("chapter", "nth"):
                    whole = self.document.text[token.start : token.end]
                    message = f"nothing that could be checked stands directly before {whole}"
                    self.note([Problem(self.document.line_of(token.start), message)])
                else:
                    self.number(before, token)
                    covered.append((before.start, before.end))
            elif token.kind in ("chapter", "nth") and self.config.chapters:
                self.chapter(token, behind)
                covered.append((token.start, token.end))
            elif token.kind == "code" and self.known(token.text):
                names = NAME.finditer(token.text)
                covered += [(token.start + n.start(), token.start + n.end()) for n in names]
            elif token.kind == "target" and self.exists(token.text):
                covered.append((token.start, token.end))
            before = token
        for digit in DIGIT.finditer(self.document.text, prose.start, prose.end):
            if not within(digit.start(), covered):
                self.note(unbound(self.document, prose.start, prose.end, digit.start()))

    def number(self, token: Token, mark: Token) -> None:
        """Compare the numbers of `token` with the expression that follows it."""
        line, expression = self.document.line_of(token.start), mark.text
        places = self.places(token)
        try:
            values = flatten(self.runner.run(expression, line, "eval"))
            if len(values) != len(places):
                raise ValueError(
                    f"{token.text} holds {len(places)} numbers, {expression} gives {len(values)}"
                )
            for digit in DIGIT.finditer(token.text):
                named = token.kind == "code" and self.known(token.text)
                if not within(digit.start(), places) and not named:
                    raise ValueError(f"{digit[0]} in {token.text} cannot be compared")
            literals = [token.text[start:end] for start, end in places]
            fresh = [format_like(*pair) for pair in zip(literals, values, strict=True)]
        except Failed as failed:
            problems = [Problem(line, f"{expression}: {said}") for _, said in failed.problems]
            self.note(problems, failed=True)
            return
        except (TypeError, ValueError) as error:
            self.note([Problem(line, str(error))])
            return
        for old, new in zip(literals, fresh, strict=True):
            if old != new:
                message = f"the page says {old}, the code says {new} ({expression})"
                self.note([Problem(line, message)])
        new = edited(token.text, [(*p, n) for p, n in zip(places, fresh, strict=True)])
        record = ("number", line, token.start, token.end, token.text, new, expression, values)
        self.page.records.append(Record(*record, (mark.start, mark.end)))

    def places(self, token: Token) -> list[tuple[int, int]]:
        """Where the numbers of a token stand in it."""
        if token.kind in ("number", "word"):
            return [(0, len(token.text))]
        pattern = ADDRESS if token.kind == "target" else NUMBER
        places = [found.span() for found in pattern.finditer(token.text)]
        if token.kind == "code":
            names = [found.span() for found in NAME.finditer(token.text)]
            places = [(i, j) for i, j in places if not within(i, names)]
        return places

    def chapter(self, token: Token, behind: Token | None) -> None:
        """Compare a chapter's number with that of the page to which its text links."""
        line, target = self.document.line_of(token.start), ""
        if behind and behind.kind == "target":
            rest = self.document.text[token.end : behind.start]
            if "[" not in rest and "\n\n" not in rest:
                target = behind.text[2:-1].partition("#")[0]
        folder = posixpath.dirname(self.document.name)
        number = self.config.chapters.get(posixpath.normpath(posixpath.join(folder, target)))
        shown = f"{token.text} chapter" if token.kind == "nth" else f"chapter {token.text}"
        if number is None:
            message = f"“{shown}” leads to no chapter: link it, as in [{shown}](page.md)"
            self.note([Problem(line, message)])
            return
        words = ORDINALS if token.kind == "nth" else WORDS
        literal = token.text if token.text.lower() in words else "0"
        fresh = format_like(literal, number)
        if fresh != token.text:
            message = f"the page says {shown}, the navigation says {fresh} ({target})"
            self.note([Problem(line, message)])
        record = ("chapter", line, token.start, token.end, token.text, fresh, target, [number])
        self.page.records.append(Record(*record, (token.start, token.start)))

    def known(self, span: str) -> bool:
        """Is each name with a digit, in this code, one that exists?"""
        names = [name for name in NAME.findall(span) if DIGIT.search(name)]
        return all(
            name in NAMES
            or name in self.runner.namespace
            or any(hasattr(module, name) for module in self.modules())
            for name in names
        )

    def modules(self) -> list:
        """Where the names in a page's code come from."""
        modules = [builtins, math]
        for name in self.config.modules:
            with contextlib.suppress(Exception):  # a module being written may not import
                modules.append(importlib.import_module(name))
        return modules

    def exists(self, target: str) -> bool:
        """Does this link lead to a file of the site? (Elsewhere: declare it.)"""
        path = target[2:-1].partition("#")
        if DIGIT.search(path[2]) or ":" in path[0]:
            return False
        return (self.config.root / self.document.name).parent.joinpath(path[0]).is_file()


def _as_wanted(row: str, indent: str) -> str:
    """A printed row as doctest reads it in a page: tabs are spaces, a blank row has a word."""
    return (indent + row).expandtabs()[len(indent) :] if row.strip() else "<BLANKLINE>"


def within(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)
