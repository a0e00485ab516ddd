"""Where the sentences of a text begin and end, so that a claim knows which is its own."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from .prose import Token

# What stands before the words of a line: a quote, a list's sign, a footnote's or definition's.
LEAD = re.compile(r"[ \t]*(?:(?:>|[-*+]|\d+\.|\[\^[^\]]+\]:|:)[ \t]+|\[[ xX]\][ \t]+)*")
ALONE = re.compile(r"[ \t>]*(?:#{1,6} |[!?]{3}\+? |===|\||<)")  # a line that is no paragraph's
CELL = re.compile(r"(?<!\\)\|")
SEEN = "\uffff"  # stands for each character of a comment, and x for those of code
END = re.compile(rf"(?<!\bal)(?<!\be\.g)(?<!\bi\.e)[.!?…][{SEEN}\"”’')*_\]]*(?=\s)")
OPENS = re.compile(r"\*\*|[*\[(“\"]")


class Span(NamedTuple):
    """A sentence, `text[start:end]`, with the marks behind it."""

    start: int
    end: int


def veiled(text: str, tokens: list[Token]) -> str:
    """The text, as long as it was, with nothing left of comments, code, formulas and links."""
    pieces, at = [], 0
    for token in tokens:
        if token.kind in ("mark", "claim", "comment", "code", "formula", "target"):
            length = token.end - token.start
            sign = SEEN if token.kind in ("mark", "claim", "comment") else "x"
            veil = "]" + "x" * (length - 1) if token.kind == "target" else sign * length
            pieces += [text[at : token.start], veil]
            at = token.end
    return "".join([*pieces, text[at:]])


def sentences(text: str, start: int, end: int, tokens: list[Token]) -> list[Span]:
    """The sentences of text[start:end]; a heading and a table's cell are one each."""
    hidden = veiled(text[:end], tokens)
    found, began = [], None  # where a paragraph began that still goes on
    at = start
    for line in hidden[start:end].splitlines(keepends=True):
        lead = LEAD.match(line)
        alone = ALONE.match(line)
        if not line.strip(" \t\r\n>") or alone or lead[0].strip(" \t>"):
            found += [(began, at)] if began is not None else []
            began = None
        if alone:
            edges = [at, *(at + bar.start() + 1 for bar in CELL.finditer(line)), at + len(line)]
            found += itertools.pairwise(edges)
        elif began is None and line.strip(" \t\r\n>"):
            began = at + lead.end()
        at += len(line)
    found += [(began, at)] if began is not None else []
    return [span for piece in found for span in _split(hidden, *piece)]


def _split(hidden: str, start: int, end: int) -> list[Span]:
    """The sentences of one paragraph, without the space around them; none ends in emphasis."""
    edges = [start]
    for stop in END.finditer(hidden, start, end):
        edges += [stop.end()] if _closed(hidden[edges[-1] : stop.end()]) else []
    spans = []
    for i, j in itertools.pairwise([*edges, end]):
        inside = hidden[i:j]
        i += len(inside) - len(inside.lstrip())
        j -= len(inside) - len(inside.rstrip())
        spans += [Span(i, j)] if i < j else []
    return spans


def reach(text: str, start: int, end: int, tokens: list[Token], claim: Token) -> Span | None:
    """What a claim is about: its sentence, or that since the claim before; None if nothing.

    Where emphasis or a link begins in it and does not end, what is inside is its own.
    """
    own = next(
        (span for span in sentences(text, start, end, tokens) if span[0] <= claim.start < span[1]),
        None,
    )
    if own is None:
        return None
    others = [t.end for t in tokens if t.kind == "claim" and t.end <= claim.start]
    hidden = veiled(text[: claim.start], [token for token in tokens if token.end <= claim.start])
    begin = max([own.start, *(other for other in others if other > own.start)])
    inside = hidden[begin:].replace(SEEN, " ")
    begin += len(inside) - len(inside.lstrip(" \t\r\n,;:"))
    while begin < claim.start and not _closed(hidden[begin:]):
        sign = OPENS.search(hidden, begin)
        if not sign:
            return None
        begin = sign.end()
    return Span(begin, claim.start) if hidden[begin:].strip(SEEN + " \t\r\n.,;:!?*_)]") else None


def _closed(hidden: str) -> bool:
    """Does all emphasis that begins here end here, and each bracket close?"""
    bare = hidden.replace("**", "")
    pairs = [hidden.count(a) == hidden.count(b) for a, b in ("[]", "()")]
    return all(pairs) and hidden.count("**") % 2 == 0 and bare.count("*") % 2 == 0
