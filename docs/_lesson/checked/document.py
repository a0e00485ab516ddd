"""Read one page: run its code and hold every number against the result."""

from __future__ import annotations

import ast
import bisect
import builtins
import contextlib
import difflib
import doctest
import functools
import html
import importlib
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from _lesson.checked.numerals import DIGIT, NUMBER, WORDS, flat, like
from _lesson.checked.output import cells, is_rule
from _lesson.checked.runner import Failed, Problem, Runner

ROOT = Path(__file__).resolve().parents[3]


class Edit(NamedTuple):
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


@dataclass
class Page:
    """What `process` made of a page's text, and how much of it was checked."""

    site: str = ""  # the text for the site
    problems: list[Problem] = field(default_factory=list)
    changes: list[Edit] = field(default_factory=list)  # what would bring the text up to date
    spans: list[tuple[int, int]] = field(default_factory=list)  # where code stands in the text
    examples: int = 0
    numbers: int = 0
    failed: bool = False  # did any of its code do what it may not?


def edited(text: str, edits: list[Edit]) -> str:
    """`text` with `edits` made, none of which may overlap another."""
    pieces, at = [], 0
    for start, end, new in sorted(edits):
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<info>.*)$")
CONTENT = re.compile(r'^python exec="true"(?: html="true")?$')
QUIET = ("console", "text", "toml", "yaml")  # fences that are shown and not run
TOKEN = re.compile(
    r"<!--=(?P<expression>.*?)-->"
    r"|(?P<comment><!--.*?-->)"
    r"|(?P<code>(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
    r"|(?P<formula>\$\$.+?\$\$|\$(?![\s$])[^$\n]+?(?<!\s)\$)"
    r"|(?P<target>\]\([^)\s]*\))"
    rf"|(?P<number>{NUMBER.pattern})"
    rf"|(?P<word>\b(?:{'|'.join(WORDS)})\b)",
    re.DOTALL | re.IGNORECASE,
)
ADDRESS = re.compile(r"\d+(?:\.\d+)*")  # the numbers of a link's target
NAMES = {"python3"}  # names with a digit that are no Python name


class Reader:
    """Reads one page from top to bottom; `process` gives the result."""

    def __init__(self, text: str, runner: Runner):
        self.text, self.name, self.runner = text, runner.name, runner
        self.page = Page()
        self.quoted = 0  # marks that stand in code, and are no marks there
        self.shown: list[Edit] = []  # what makes the text that of the site
        self.lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def problem(self, line: int, message: str) -> None:
        self.page.problems.append(Problem(line, message))

    def failure(self, problems: list[Problem]) -> None:
        self.page.failed = True
        self.page.problems += problems

    def line_of(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset)

    def bare(self, index: int) -> str:
        return self.lines[index].rstrip("\r\n")

    def read(self) -> Page:
        index = self.front_matter()
        prose = index
        while index < len(self.lines):
            fence = FENCE.match(self.bare(index))
            if not fence:
                index += 1
                continue
            self.prose(prose, index)
            index = prose = self.fence(index, fence)
        self.prose(prose, len(self.lines))
        self.count()
        self.page.problems.sort()
        self.page.site = edited(self.text, self.shown)
        return self.page

    def count(self) -> None:
        """What the eye can count in the text must be what has been checked."""
        prompts = len(re.findall(r"^ *>>>", self.text, re.MULTILINE))
        marks = self.text.count("<!--=") - self.quoted
        if not self.page.problems and (prompts, marks) != (
            self.page.examples,
            self.page.numbers,
        ):
            self.problem(
                1,
                f"the page has {prompts} prompts and {marks} expressions, of which "
                f"{self.page.examples} and {self.page.numbers} were checked: a prompt "
                "stands in a ```pycon fence, an expression in prose",
            )

    def front_matter(self) -> int:
        if not self.lines or self.bare(0).lstrip("\ufeff") != "---":
            return 0
        for index in range(1, len(self.lines)):
            if self.bare(index) == "---":
                return index + 1
            if DIGIT.search(self.lines[index]):
                self.problem(
                    index + 1,
                    "a number in the front matter cannot be checked: say it in the text",
                )
        self.problem(1, "the front matter has no closing ---")
        return len(self.lines)

    # Fences

    def fence(self, first: int, opening: re.Match) -> int:
        """Handle the fence that opens at line index `first`; return what follows."""
        indent, ticks, info = opening["indent"], opening["ticks"], opening["info"]
        last = first + 1
        closing = re.compile(rf"^{indent}{ticks[0]}{{{len(ticks)},}} *$")
        while last < len(self.lines) and not closing.match(self.bare(last)):
            last += 1
        if last == len(self.lines):
            self.problem(first + 1, f"this fence is never closed: {ticks}{info}")
            return last
        body = range(first + 1, last)
        if ticks[0] == "~":
            self.problem(first + 1, f"write a fence with ```, not {ticks}")
        elif info == "pycon":
            self.checked_block(first, last, indent)
        elif CONTENT.match(info):
            self.content_block(first, last, indent)
        elif info == "markdown":
            self.inner_page(body)
        elif info in QUIET:
            for index in body:
                self.unchecked(self.starts[index], self.bare(index))
        else:
            self.problem(
                first + 1,
                f"unknown fence ```{info}: write ```pycon for a checked block, "
                '```python exec="true" html="true" for a figure, '
                f"or one of {', '.join(QUIET)}, markdown for text that is not run",
            )
        return last + 1

    def checked_block(self, first: int, last: int, indent: str) -> None:
        body = "".join(self.bare(i) + "\n" for i in range(first + 1, last))
        self.quoted += body.count("<!--=")
        try:
            pieces = doctest.DocTestParser().parse(body, self.name)
        except ValueError as error:
            # doctest counts the lines of the block, and says so in its message.
            inner = re.search(r"line (\d+) of the docstring for \S+ ", str(error))
            line = first + 1 + (int(inner[1]) if inner else 0)
            message = str(error).replace(inner[0] if inner else "", "")
            self.problem(line, message)
            return
        examples = [piece for piece in pieces if isinstance(piece, doctest.Example)]
        at = first + 2
        for piece in pieces:
            if isinstance(piece, doctest.Example):
                at = first + 2 + piece.lineno + (piece.source + piece.want).count("\n")
            elif piece.strip():
                blank = len(piece) - len(piece.lstrip("\n"))
                self.problem(
                    at + blank,
                    "this line belongs to no example: an output goes on to the first "
                    "blank line, and <BLANKLINE> stands for one that is printed",
                )
        if not examples:
            self.problem(first + 1, "no example in this block: code starts with >>>")
        newline = "\r\n" if self.lines[first].endswith("\r\n") else "\n"
        shown, code = [], []
        for example in examples:
            self.page.examples += 1
            code.append(example.source)
            output = self.example(example, first + 1 + example.lineno, indent, newline)
            if output:
                shown += _as_site(code, output)
                code = []
        if code:
            shown += _as_site(code, "")
        site = "".join(f"{indent}{line}\n" if line else "\n" for line in shown)
        self.shown.append(Edit(self.starts[first], self.starts[last + 1], site))

    def example(self, example: doctest.Example, index: int, indent: str, newline: str) -> str:
        """Run one example at line index `index`; note a drift; return its output."""
        line = index + 1
        start = index + example.source.count("\n")
        self.page.spans.append((self.starts[index], self.starts[start]))
        if example.options:
            self.problem(line, "a doctest option would hide a drift: take it out")
        if example.exc_msg is not None:
            self.problem(
                line,
                "a traceback is no output: catch the exception and print its message",
            )
            return ""
        try:
            got = self.runner.run(example.source, line)
        except Failed as failed:
            self.failure(failed.problems)
            return ""
        if got and not got.endswith("\n"):
            got += "\n"
        fresh = [row if row.strip() else "<BLANKLINE>" for row in got.splitlines()]
        for row in fresh:
            if row.lstrip().startswith(("```", "~~~", ">>>")) or row.startswith("..."):
                self.problem(line, f"this output would break the page: {row!r}")
                return ""
        want = example.want.splitlines()
        if fresh != want:
            self.drift(want, fresh, start)
            self.page.changes.append(
                Edit(
                    self.starts[start],
                    self.starts[start + len(want)],
                    "".join(indent + row + newline for row in fresh),
                )
            )
        return got

    def drift(self, want: list[str], fresh: list[str], start: int) -> None:
        """Say each place where an output differs; its first line has index `start`."""
        matcher = difflib.SequenceMatcher(None, want, fresh, autojunk=False)
        if len(want) == len(fresh):
            pairs = [(i, i + 1, i, i + 1) for i in range(len(want))]
        else:
            pairs = [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
        for i, j, k, m in pairs:
            if want[i:j] == fresh[k:m]:
                continue
            here = start + i + 1
            olds = cells(want[i]) if j - i == 1 else []
            news = cells(fresh[k]) if m - k == 1 else []
            if olds and len(olds) == len(news) and olds != news:
                header = next(
                    (cells(want[row - 1]) for row in range(i, 0, -1) if is_rule(want[row])),
                    [],
                )
                for number, (old, new) in enumerate(zip(olds, news, strict=True)):
                    if old != new:
                        column = header[number] if number < len(header) else number + 1
                        self.problem(
                            here,
                            f"row {olds[0]!r}, column {column!r}: "
                            f"the page says {old}, the code says {new}",
                        )
            else:
                old = "\n".join(want[i:j]) or "nothing"
                new = "\n".join(fresh[k:m]) or "nothing"
                self.problem(here, f"the page says {old}, the code says {new}")

    def content_block(self, first: int, last: int, indent: str) -> None:
        """A block whose output is content: a figure or a generated listing."""
        for index in range(first + 1, last):
            if DIGIT.search(self.bare(index)):
                self.problem(
                    index + 1,
                    "a block that makes content holds no digit, for nothing would "
                    "notice it change: compute the value in a checked block above",
                )
        source = "".join(self.bare(i).removeprefix(indent) + "\n" for i in range(first + 1, last))
        try:
            made = self.runner.aside(source, first + 2)
        except Failed as failed:
            self.failure(failed.problems)
            shown = self.lines[first].replace(' exec="true"', " no-exec")
            self.shown.append(Edit(self.starts[first], self.starts[first + 1], shown))
            return
        if not made.strip():
            self.problem(first + 1, "this block prints nothing: print its content")
        if "html" in self.bare(first):
            # It has run here, where the page's names are: the build has but to put it in.
            start, end = self.starts[first + 1], self.starts[last]
            self.shown.append(Edit(start, end, f"{indent}print({made!r}, end='')\n"))
        else:
            text = "".join(f"{indent}{row}".rstrip() + "\n" for row in made.splitlines())
            self.shown.append(Edit(self.starts[first], self.starts[last + 1], text))

    def inner_page(self, body: range) -> None:
        """A page shown in a page, as contributing.md does, is checked as one."""
        start, end = self.starts[body.start], self.starts[body.stop]
        reader = type(self)(self.text[start:end], self.runner.fresh())
        inner = reader.read()
        self.quoted += reader.quoted
        for line, message in inner.problems:
            self.problem(body.start + line, message)
        self.page.examples += inner.examples
        self.page.numbers += inner.numbers
        self.page.failed |= inner.failed
        self.page.spans += [(start + i, start + j) for i, j in inner.spans]
        self.page.changes += [Edit(start + i, start + j, new) for i, j, new in inner.changes]
        self.shown.append(Edit(start, end, edited(self.text[start:end], inner.changes)))

    # Prose

    def prose(self, first: int, last: int) -> None:
        """Check the numbers in the lines from index `first` up to `last`."""
        if first == last:
            return
        base = self.starts[first]
        text = self.text[base : self.starts[last]]
        covered: list[tuple[int, int]] = self.fixed(first, last, base)
        before: re.Match | None = None
        for token in TOKEN.finditer(text):
            line = self.line_of(base + token.start())
            if token["expression"] is not None:
                if before is None or before.end() != token.start():
                    self.problem(
                        line,
                        f"nothing that could be checked stands directly before {token[0]}",
                    )
                else:
                    self.bound(before, token, base)
                    covered.append(before.span())
                covered.append(token.span())
            elif token["code"] is not None and self.known(token["code"]):
                names = re.finditer(r"[^\W\d]\w*", token["code"])
                covered += [
                    (token.start() + name.start(), token.start() + name.end()) for name in names
                ]
            elif token["target"] is not None and self.exists(token["target"]):
                covered.append(token.span())
            before = token
        for digit in DIGIT.finditer(text):
            if not _within(digit.start(), covered):
                self.unbound(text, digit, base)

    def fixed(self, first: int, last: int, base: int) -> list[tuple[int, int]]:
        """Digits that their place explains: list markers and the chapter's number."""
        covered, expected = [], {}
        for index in range(first, last):
            bare = self.bare(index)
            marker = re.match(r"^( *)(\d+)\. ", bare)
            chapter = re.match(r"^# (\d+)\b", bare)
            indent = len(bare) - len(bare.lstrip())
            if bare.strip() and not marker:
                # Text at the margin ends a list; deeper text belongs to its item.
                expected = {key: n for key, n in expected.items() if key < indent}
            if marker:
                number = expected.get(len(marker[1]), 1)
                expected[len(marker[1])] = number + 1
                if int(marker[2]) != number:
                    self.problem(
                        index + 1,
                        f"list item {marker[2]} stands where {number} is due",
                    )
                span = marker.span(2)
            elif chapter:
                number = re.match(r"\d*", Path(self.name).name)[0]
                if chapter[1] != number:
                    self.problem(
                        index + 1,
                        f"the heading says {chapter[1]}, the file's name {number or 'no number'}",
                    )
                span = chapter.span(1)
            else:
                continue
            offset = self.starts[index] - base
            covered.append((offset + span[0], offset + span[1]))
        return covered

    def bound(self, token: re.Match, mark: re.Match, base: int) -> None:
        """Compare the numbers of `token` with the expression that follows it."""
        self.page.numbers += 1
        self.page.spans.append((base + mark.start(), base + mark.end()))
        line = self.line_of(base + token.start())
        expression = mark["expression"].strip()
        shown = token[0]
        if token["number"] or token["word"]:
            places = [(0, len(shown))]
        else:
            pattern = ADDRESS if token["target"] else NUMBER
            places = [found.span() for found in pattern.finditer(shown)]
        if token["code"]:
            names = [found.span() for found in re.finditer(r"[^\W\d]\w*", shown)]
            places = [(i, j) for i, j in places if not _within(i, names)]
        try:
            values = flat(self.runner.run(expression, line, "eval"))
            if len(values) != len(places):
                raise ValueError(
                    f"{shown} holds {len(places)} numbers, {expression} gives {len(values)}"
                )
            for digit in DIGIT.finditer(shown):
                if not _within(digit.start(), places) and not (token["code"] and self.known(shown)):
                    raise ValueError(f"{digit[0]} in {shown} cannot be compared")
            literals = [shown[start:end] for start, end in places]
            fresh = [like(*pair) for pair in zip(literals, values, strict=True)]
        except Failed as failed:
            self.failure(
                [Problem(line, f"{expression}: {message}") for _, message in failed.problems]
            )
            return
        except (TypeError, ValueError) as error:
            self.problem(line, str(error))
            return
        for old, new in zip(literals, fresh, strict=True):
            if old != new:
                self.problem(line, f"the page says {old}, the code says {new} ({expression})")
        pieces, at = [], 0
        for (start, end), new in zip(places, fresh, strict=True):
            pieces += [shown[at:start], new]
            at = end
        new = "".join([*pieces, shown[at:]])
        start, end = base + token.start(), base + mark.end()
        site = new
        head = self.lines[line - 1].lstrip()
        plain = head.startswith(("#", "???", "!!!")) or token["target"]
        if not plain and not _is_constant(expression):
            # A pipe would end the cell of a table.
            title = html.escape(expression).replace("|", "&#124;")
            site = f'<span class="computed" title="{title}">{new}</span>'
        self.shown.append(Edit(start, end, site))
        if new != shown:
            self.page.changes.append(Edit(start, base + token.end(), new))

    def known(self, span: str) -> bool:
        """Is each name with a digit, in this code, one that exists?"""
        names = [name for name in re.findall(r"[^\W\d]\w*", span) if DIGIT.search(name)]
        return all(
            name in NAMES
            or name in self.runner.namespace
            or any(hasattr(module, name) for module in _modules())
            for name in names
        )

    def exists(self, target: str) -> bool:
        """Does this link lead to a file of the site? (Elsewhere: declare it.)"""
        path = target[2:-1].partition("#")
        if DIGIT.search(path[2]) or ":" in path[0]:
            return False
        return (ROOT / self.name).parent.joinpath(path[0]).is_file()

    def unchecked(self, offset: int, text: str) -> None:
        for digit in DIGIT.finditer(text):
            word = re.search(r"\w*$", text[: digit.start()])[0] + digit[0]
            if word not in NAMES:
                self.unbound(text, digit, offset)

    def unbound(self, text: str, digit: re.Match, base: int) -> None:
        """Say which word, piece of code or formula holds a digit that nothing checks."""
        spans = [token.span() for token in TOKEN.finditer(text) if _is_span(token)]
        spans = [span for span in spans if _within(digit.start(), [span])]
        if spans:
            shown = text[slice(*spans[0])]
        else:
            word = re.compile(r"[^\s|()<>\[\]{}\"]+")
            shown = next(
                found[0].rstrip(".,;:")
                for found in word.finditer(text)
                if _within(digit.start(), [found.span()])
            )
        if shown.startswith("]("):
            advice = "link to a file of the site, or declare it"
        else:
            advice = "write its expression behind it"
        line = self.line_of(base + digit.start())
        message = f"{shown} is neither computed nor declared: {advice}, as in {shown}<!--= … -->"
        if Problem(line, message) not in self.page.problems:
            self.problem(line, message)


def _is_span(token: re.Match) -> bool:
    return any(token[kind] for kind in ("code", "formula", "target", "number"))


def _modules() -> list:
    """Where the names in a page's code come from."""
    modules = [builtins, math]
    for name in ("numpy", "attention"):
        with contextlib.suppress(Exception):  # a module being written may not import
            modules.append(importlib.import_module(name))
    return modules


def _within(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


@functools.cache
def _is_constant(expression: str) -> bool:
    try:
        ast.literal_eval(expression)
    except (ValueError, SyntaxError):
        return False
    return True


@functools.cache
def _is_block(source: str) -> bool:
    """Is this a statement with a body, such as a loop or a function?"""
    try:
        return any(hasattr(statement, "body") for statement in ast.parse(source).body)
    except SyntaxError:
        return False


def _as_site(code: list[str], output: str) -> list[str]:
    """One step of a checked block as Markdown lines: code to copy, what it prints."""
    # A fence must be longer than any that its code holds.
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`{3,}|$", "".join(code))))
    body = []
    for source in code:
        body += source.splitlines()
        if _is_block(source):
            body.append("")  # a prompt wants a blank line behind a block
    if body and not body[-1]:
        body.pop()
    lines = [f"{ticks}python", *body, ticks, ""]
    if not output:
        return lines
    return [*lines, f"{ticks}output", *output.splitlines(), ticks, ""]


def process(text: str, name: str, progress=lambda line: None) -> Page:
    """Run the page `text`, known as `name` (docs/PAGE.md), and compare.

    `progress` is told the line of each piece of code before it runs. The code runs
    in this very process: `check` is what keeps pages apart.
    """
    return Reader(text, Runner(name, progress)).read()
