"""Find in a sentence what may hold a number: words, digits, code, formulas, links, marks."""

from __future__ import annotations

import re
from typing import NamedTuple

from .numerals import NUMBER, ORDINALS, WORDS

NAME = re.compile(r"[^\W\d]\w*")
NAMES = {"python3"}  # names with a digit that are no Python name
TOKEN = re.compile(
    r"<!--=(?P<mark>.*?)-->"
    r"|(?P<comment><!--.*?-->)"
    r"|(?P<code>(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
    r"|(?P<formula>\$\$.+?\$\$|\$(?![\s$])[^$\n]+?(?<!\s)\$)"
    r"|(?P<target>\]\([^)\s]*\))"
    rf"|\bchapter (?P<chapter>{'|'.join(WORDS)}|\d+)\b"
    rf"|\b(?P<nth>{'|'.join(ORDINALS)}) chapter\b"
    rf"|(?P<number>{NUMBER.pattern})"
    rf"|(?P<word>\b(?:{'|'.join(WORDS)})\b)",
    re.DOTALL | re.IGNORECASE,
)
KINDS = ("mark", "comment", "code", "formula", "target", "chapter", "nth", "number", "word")


class Token(NamedTuple):
    """A piece of prose that may hold a number, or the mark that says what gives it."""

    kind: str
    start: int
    end: int
    text: str  # of a mark, its expression; of a chapter, its number alone


def tokens_of(text: str, start: int, end: int) -> list[Token]:
    """The tokens of text[start:end], in order."""
    tokens = []
    for found in TOKEN.finditer(text, start, end):
        kind = next(kind for kind in KINDS if found[kind] is not None)
        whole = kind not in ("mark", "chapter", "nth")
        span = found.span() if whole or kind == "mark" else found.span(kind)
        tokens.append(Token(kind, *span, found[0] if whole else found[kind].strip()))
    return tokens


def holder(text: str, at: int) -> str:
    """The piece of code, the formula, the link's target or the word that holds text[at]."""
    spans = [
        found.span()
        for found in TOKEN.finditer(text)
        if any(found[kind] for kind in ("code", "formula", "target", "number"))
    ]
    return next((text[i:j] for i, j in spans if i <= at < j), None) or next(
        found[0].rstrip(".,;:")
        for found in re.finditer(r"[^\s|()<>\[\]{}\"]+", text)
        if found.start() <= at < found.end()
    )
