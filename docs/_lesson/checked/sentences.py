"""Hold the numbers of sentences against the expressions that stand behind them."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import math
import posixpath
import re
from collections.abc import Callable

from . import around
from .claims import judge
from .config import Config
from .document import Document, Prose
from .numerals import NUMBER, flatten, format_like, numerals
from .prose import NAME, NAMES, Token, named_like, unbound, within
from .records import Problem, Record, edited
from .runner import Failed

ADDRESS = re.compile(r"\d+(?:\.\d+)*")  # the numbers of a link's target


class Sentences:
    """Checks the prose of a document; adds to `records`, and tells `note` of problems."""

    def __init__(
        self, document: Document, runner, config: Config, note: Callable, records: list[Record]
    ):
        self.document, self.runner, self.config = document, runner, config
        self.note, self.records = note, records

    def fault(self, at: int, message: str, failed: bool = False) -> None:
        self.note([Problem(self.document.line_of(at), message)], failed)

    def failed(self, mark: Token, failed: Failed) -> None:
        """Say what went wrong in the expression of a mark."""
        line = self.document.line_of(mark.start)
        problems = [Problem(line, f"{mark.text}: {said}") for _, said in failed.problems]
        self.note(problems, failed=True)

    def check(self, prose: Prose) -> None:
        """Check the numbers of some prose, and that no digit of it was left out."""
        text, covered = self.document.text, list(prose.covered)
        before: Token | None = None
        for at, token in enumerate(prose.tokens):
            behind = prose.tokens[at + 1] if at + 1 < len(prose.tokens) else None
            if token.kind == "claim":
                covered.append((token.start, token.end))
                self.claim(prose, token)
            elif token.kind == "mark":
                covered.append((token.start, token.end))
                if before is None or before.end != token.start or before.kind in ("chapter", "nth"):
                    whole = text[token.start : token.end]
                    said = f"nothing that could be checked stands directly before {whole}"
                    self.fault(token.start, said)
                else:
                    named = before.kind == "name" or self.letters(before)
                    (self.name if named else self.number)(before, token)
                    covered.append((before.start, before.end))
                if message := around.fault(text, prose.start, before, token):
                    self.fault(token.start, message)
            elif token.kind in ("chapter", "nth") and self.config.chapters:
                self.chapter(token, behind)
                covered.append((token.start, token.end))
            elif token.kind == "code" and self.known(token.text):
                names = NAME.finditer(token.text)
                covered += [(token.start + n.start(), token.start + n.end()) for n in names]
            elif token.kind == "target" and self.exists(token.text):
                covered.append((token.start, token.end))
            elif message := around.loose(text, token, behind):
                self.fault(token.start, message)
            before = token
        for digit in numerals(text, prose.start, prose.end):
            if not within(digit.start(), covered):
                self.note(unbound(self.document, prose.start, prose.end, digit.start()))

    def claim(self, prose: Prose, token: Token) -> None:
        """See whether what a claim says of its sentence is true."""
        if message := around.fault(self.document.text, prose.start, None, token):
            self.fault(token.start, message)
        try:
            said = judge(self.document, prose, token, self.runner)
        except Failed as failed:
            self.failed(token, failed)
        else:
            self.records.append(said) if isinstance(said, Record) else self.note([said])

    def letters(self, token: Token) -> bool:
        """Is this code that holds no number, such as a name?"""
        return token.kind == "code" and not self.places(token) and not any(numerals(token.text))

    def name(self, token: Token, mark: Token) -> None:
        """Compare a name in a sentence with the text that the expression behind it picks."""
        line, expression = self.document.line_of(token.start), mark.text
        try:
            value = self.runner.run(expression, line, "eval")
            fresh = named_like(token.text, value)
        except Failed as failed:
            self.failed(mark, failed)
            return
        except ValueError as error:
            self.note([Problem(line, f"{error} ({expression})")])
            return
        if fresh != token.text:
            message = f"the page says {token.text}, the code says {fresh} ({expression})"
            self.note([Problem(line, message)])
        span = (token.start, token.end, token.text, fresh, expression, [str(value)])
        self.records.append(Record("name", line, *span, (mark.start, mark.end)))

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
            for digit in numerals(token.text):
                named = token.kind == "code" and self.known(token.text)
                if not within(digit.start(), places) and not named:
                    raise ValueError(f"{digit[0]} in {token.text} cannot be compared")
            literals = [token.text[start:end] for start, end in places]
            fresh = [self.written(token, *pair) for pair in zip(places, values, strict=True)]
        except Failed as failed:
            self.failed(mark, failed)
            return
        except (TypeError, ValueError) as error:
            self.note([Problem(line, f"{error} ({expression})")])
            return
        for old, new, (at, _) in zip(literals, fresh, places, strict=True):
            if old != new:
                message = f"the page says {old}, the code says {new} ({expression})"
                self.note([Problem(self.document.line_of(token.start + at), message)])
        new = edited(token.text, [(*p, n) for p, n in zip(places, fresh, strict=True)])
        record = ("number", line, token.start, token.end, token.text, new, expression, values)
        self.records.append(Record(*record, (mark.start, mark.end)))

    def written(self, token: Token, place: tuple[int, int], value: object) -> str:
        """The value as the number at `place` in the token is written, and the words before it."""
        literal, at = token.text[slice(*place)], token.start + place[0]
        if token.kind == "target":
            return format_like(literal, value)
        if message := around.sign(self.document.text, at, token.start + place[1]):
            raise ValueError(message)
        return format_like(literal, value, around.rough(self.document.text, at))

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
        fresh = format_like(token.text, number)
        if fresh != token.text:
            message = f"the page says {shown}, the navigation says {fresh} ({target})"
            self.note([Problem(line, message)])
        record = ("chapter", line, token.start, token.end, token.text, fresh, target, [number])
        self.records.append(Record(*record, (token.start, token.start)))

    def known(self, span: str) -> bool:
        """Is each name with a digit, in this code, one that exists?"""
        names = [name for name in NAME.findall(span) if any(numerals(name))]
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
        if any(numerals(path[2])) or ":" in path[0]:
            return False
        return (self.config.root / self.document.name).parent.joinpath(path[0]).is_file()
