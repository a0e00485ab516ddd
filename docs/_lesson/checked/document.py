"""Take a page apart, without running any of it."""

from __future__ import annotations

import bisect
import doctest
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from .numerals import numerals
from .prose import MARK, NAMES, Token, code_by_indent, list_markers, tokens_of, unbound
from .records import Problem
from .words import counts

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<info>.*)$")
CONTENT = re.compile(r'^python exec="true"(?: html="true")?$')
# A fence that Markdown may read, and that no pattern above does.
NESTED = re.compile(
    r"[ \t]*(?:(?:>|[-*+:]|\d+[.)]|\[\^[^\]]+\]:|\[[ xX]\])[ \t]+|>|\t)+"
    r"[ \t]*(?:`{3,}[^`]*|~{3,}.*)$"
)
QUIET = ("console", "text", "toml", "yaml")  # fences that are shown and not run


class Example(NamedTuple):
    """Code at a prompt, and the output that the page gives it."""

    source: str
    want: str
    line: int
    code: tuple[int, int]  # where the code stands in the text, and its output
    output: tuple[int, int]


class Block(NamedTuple):
    """A checked block, from its fence to its fence."""

    start: int
    end: int
    indent: str
    newline: str
    examples: list[Example]


class Content(NamedTuple):
    """A block whose output is content: a figure or a generated listing."""

    line: int
    start: int
    end: int
    body: tuple[int, int]
    indent: str
    source: str
    html: bool


class Inner(NamedTuple):
    """A page shown in a page, which is checked as one."""

    line: int  # lines above it
    start: int
    end: int
    document: Document


class Shown(NamedTuple):
    """A block that is shown and not run."""

    line: int
    start: int
    end: int


class Prose(NamedTuple):
    start: int
    end: int
    tokens: list[Token]
    covered: list[tuple[int, int]]  # digits that their place explains


@dataclass
class Document:
    """A page's text, and its parts in order."""

    text: str
    name: str
    parts: list[Block | Content | Inner | Shown | Prose] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    quoted: int = 0  # marks that stand in code, and are no marks there

    def __post_init__(self):
        self.lines = re.findall(r"[^\n]*\n|[^\n]+", self.text)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def problem(self, line: int, message: str) -> None:
        self.problems.append(Problem(line, message))

    def line_of(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset)

    def bare(self, index: int) -> str:
        return self.lines[index].rstrip("\r\n")


def parse(text: str, name: str) -> Document:
    """The parts of the page `text`, known as `name`, and what is wrong with its form."""
    page = Document(text, name)
    for byte in re.finditer("[\udc80-\udcff]", text):
        message = f"a byte that is not UTF-8, {ord(byte[0]) - 0xDC00:#x}: save the page as UTF-8"
        page.problem(page.line_of(byte.start()), message)
    index = prose = _front_matter(page)
    while index < len(page.lines):
        fence = FENCE.match(page.bare(index))
        if not fence:
            _misplaced(page, index)
            index += 1
            continue
        _prose(page, prose, index)
        index = prose = _fence(page, index, fence)
    _prose(page, prose, len(page.lines))
    return page


def _front_matter(page: Document) -> int:
    """Return the index of the line behind the front matter."""
    if not page.lines or page.bare(0).lstrip("\ufeff") != "---":
        return 0
    for index in range(1, len(page.lines)):
        if page.bare(index) == "---":
            return index + 1
        if any(numerals(page.lines[index])) or counts(page.lines[index]):
            page.problem(
                index + 1,
                "a number in the front matter cannot be checked: say it in the text",
            )
    page.problem(1, "the front matter has no closing ---")
    return len(page.lines)


def _misplaced(page: Document, index: int) -> None:
    """Report what would be code on the site, and is none here."""
    if NESTED.match(page.bare(index)):
        message = "nothing but spaces stands before a fence: this one would not be checked"
        page.problem(index + 1, message)
    elif code_by_indent(page.lines, index):
        message = "by its indent this is code, which is not checked: write a fence"
        page.problem(index + 1, message)


# Fences


def _fence(page: Document, first: int, opening: re.Match) -> int:
    """Read the fence that opens at line index `first`; return the index behind it."""
    indent, ticks, info = opening["indent"], opening["ticks"], opening["info"]
    last = first + 1
    closing = re.compile(rf"^{indent}{ticks[0]}{{{len(ticks)},}} *$")
    while last < len(page.lines) and not closing.match(page.bare(last)):
        last += 1
    if last == len(page.lines):
        page.problem(first + 1, f"this fence is never closed: {ticks}{info}")
        return last
    if ticks[0] == "~":
        page.problem(first + 1, f"write a fence with ```, not {ticks}")
    elif info == "pycon":
        _block(page, first, last, indent)
    elif CONTENT.match(info):
        _content(page, first, last, indent, html="html" in info)
    elif info == "markdown":
        _inner(page, first, last)
    elif info in QUIET:
        page.parts.append(Shown(first + 1, page.starts[first + 1], page.starts[last]))
        for index in range(first + 1, last):
            _quiet(page, index)
    else:
        page.problem(
            first + 1,
            f"unknown fence ```{info}: write ```pycon for a checked block, "
            '```python exec="true" html="true" for a figure, '
            f"or one of {', '.join(QUIET)}, markdown for text that is not run",
        )
    return last + 1


def _block(page: Document, first: int, last: int, indent: str) -> None:
    body = "".join(page.bare(i) + "\n" for i in range(first + 1, last))
    page.quoted += len(MARK.findall(body))
    try:
        pieces = doctest.DocTestParser().parse(body, page.name)
    except ValueError as error:
        # doctest counts the lines of the block, and says so in its message.
        inner = re.search(r"line (\d+) of the docstring for \S+ ", str(error))
        line = first + 1 + (int(inner[1]) if inner else 0)
        page.problem(line, str(error).replace(inner[0] if inner else "", ""))
        return
    examples, behind = [], first + 2
    for piece in pieces:
        if isinstance(piece, doctest.Example):
            behind = first + 2 + piece.lineno + (piece.source + piece.want).count("\n")
            examples += _example(page, piece, first + 1 + piece.lineno)
        elif piece.strip():
            blank = len(piece) - len(piece.lstrip("\n"))
            page.problem(
                behind + blank,
                "this line belongs to no example: an output goes on to the first "
                "blank line, and <BLANKLINE> stands for one that is printed",
            )
    if not any(isinstance(piece, doctest.Example) for piece in pieces):
        page.problem(first + 1, "no example in this block: code starts with >>>")
    newline = "\r\n" if page.lines[first].endswith("\r\n") else "\n"
    block = Block(page.starts[first], page.starts[last + 1], indent, newline, examples)
    page.parts.append(block)


def _example(page: Document, example: doctest.Example, index: int) -> list[Example]:
    """The example whose code begins at line `index`; none where it may not be run."""
    if example.options:
        page.problem(index + 1, "a doctest option would hide a drift: take it out")
    if example.exc_msg is not None:
        page.problem(
            index + 1,
            "a traceback is no output: catch the exception and print its message",
        )
        return []
    output = index + example.source.count("\n")
    end = output + len(example.want.splitlines())
    places = (page.starts[index], page.starts[output]), (page.starts[output], page.starts[end])
    return [Example(example.source, example.want, index + 1, *places)]


def _content(page: Document, first: int, last: int, indent: str, html: bool) -> None:
    for index in range(first + 1, last):
        if any(numerals(page.bare(index))):
            page.problem(
                index + 1,
                "a block that makes content holds no digit, for nothing would "
                "notice it change: compute the value in a checked block above",
            )
    source = "".join(page.bare(i).removeprefix(indent) + "\n" for i in range(first + 1, last))
    body = page.starts[first + 1], page.starts[last]
    page.parts.append(
        Content(first + 1, page.starts[first], page.starts[last + 1], body, indent, source, html)
    )


def _inner(page: Document, first: int, last: int) -> None:
    start, end = page.starts[first + 1], page.starts[last]
    inner = parse(page.text[start:end], page.name)
    page.quoted += inner.quoted
    page.parts.append(Inner(first + 1, start, end, inner))


def _quiet(page: Document, index: int) -> None:
    text, base = page.bare(index), page.starts[index]
    for digit in numerals(text):
        word = re.search(r"\w*$", text[: digit.start()])[0] + digit[0]
        if word not in NAMES:
            page.problems += unbound(page, base, base + len(text), base + digit.start())


# Prose


def _prose(page: Document, first: int, last: int) -> None:
    """Read the lines from index `first` up to `last`."""
    if first == last:
        return
    start, end = page.starts[first], page.starts[last]
    tokens = tokens_of(page.text, start, end)
    page.parts.append(Prose(start, end, tokens, list_markers(page, first, last)))
