"""Find in a sentence what may hold a number: words, digits, code, formulas, links, marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .numerals import NUMBER
from .records import Problem
from .words import CARDINAL, ORDINAL, WORD

NAME = re.compile(r"[^\W\d]\w*")
MARK = re.compile(r"<!--[=?]")  # where the mark of a number, a name or a claim begins
NAMES = {"python3"}  # names with a digit that are no Python name
# A word that an expression picks: one in letters, or whatever stands between quote marks.
NAMED = r"""(?:"[^"\n]+"|“[^“”\n]+”|(?<![\w-])[^\W\d_]+(?:[-’'][^\W\d_]+)*)"""
TOKEN = re.compile(
    r"<!--=(?P<mark>.*?)-->"
    r"|<!--\?(?P<claim>.*?)-->"
    r"|(?P<comment><!--.*?-->)"
    r"|(?P<code>(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
    r"|(?P<formula>\$\$.+?\$\$|\$(?![\s$])[^$\n]+?(?<!\s)\$)"
    r"|(?P<target>\]\([^)\s]*\))"
    rf"|\bchapter (?P<chapter>{CARDINAL}|\d+\b)"
    rf"|(?P<nth>{ORDINAL}) chapter\b"
    rf"|(?P<number>{NUMBER.pattern})"
    rf"|(?P<word>{WORD})"
    rf"|(?P<name>{NAMED})(?=<!--=)",
    re.DOTALL | re.IGNORECASE,
)
KINDS = tuple(name for name in TOKEN.groupindex if name != "tick")
# What holds blocks that are indented: a list item, a question, a footnote, a definition.
HOLDS = re.compile(r" *(?:[-*+] |\d+\. |[!?]{3}\+? |\[\^[^\]]+\]:|: )")


class Token(NamedTuple):
    """A piece of prose that may hold a number, or the mark that says what gives it."""

    kind: str
    start: int
    end: int
    text: str  # of a mark or a claim, its expression; of a chapter, its number alone


def tokens_of(text: str, start: int, end: int) -> list[Token]:
    """The tokens of text[start:end], in order."""
    tokens = []
    for found in TOKEN.finditer(text, start, end):
        kind = next(kind for kind in KINDS if found[kind] is not None)
        whole = kind not in ("mark", "claim", "chapter", "nth")
        span = found.span() if whole or kind in ("mark", "claim") else found.span(kind)
        tokens.append(Token(kind, *span, found[0] if whole else found[kind].strip()))
    return tokens


def named_like(literal: str, value: object) -> str:
    """Write the text `value` as the name `literal` is: in its quote marks, with its first letter.

    Raises ValueError for what is no text, or no name as the literal is one.
    """
    if not isinstance(value, str):
        raise ValueError(f"{literal} is a name, and the code gives {value}, which is no text")
    edge = len(re.match(r"[\"“`]*", literal)[0])
    inner = literal[edge : len(literal) - edge]
    if inner[:1].isupper() and value[1:] == value[1:].lower():
        value = value[:1].upper() + value[1:]
    written = literal[:edge] + value + literal[len(literal) - edge :]
    spans = [token[1:3] for token in tokens_of(f"{written}<!--=", 0, len(written) + 5)]
    if (0, len(written)) not in spans:
        raise ValueError(f"the code says {value}: write it in quote marks, “{value}”")
    return written


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


def unbound(page, start: int, end: int, digit: int) -> list[Problem]:
    """Say which word, piece of code or formula of text[start:end] holds an unchecked digit."""
    shown = holder(page.text[start:end], digit - start)
    if shown.startswith("]("):
        advice = "link to a file of the site, or declare it"
    else:
        advice = "write its expression behind it"
    message = f"{shown} is neither computed nor declared: {advice}, as in {shown}<!--= … -->"
    return [Problem(page.line_of(digit), message)]


def list_markers(page, first: int, last: int) -> list[tuple[int, int]]:
    """Where the numbers of list items stand, which must count from one."""
    covered, expected = [], {}
    for index in range(first, last):
        bare = page.bare(index)
        marker = re.match(r"^( *)(\d+)\. ", bare)
        indent = len(bare) - len(bare.lstrip())
        if not marker:
            if bare.strip():  # text at the margin ends a list; deeper text belongs to its item
                expected = {key: n for key, n in expected.items() if key < indent}
            continue
        number = expected.get(len(marker[1]), 1)
        expected[len(marker[1])] = number + 1
        if int(marker[2]) != number:
            page.problem(index + 1, f"list item {marker[2]} stands where {number} is due")
        covered.append((page.starts[index] + marker.start(2), page.starts[index] + marker.end(2)))
    return covered


def code_by_indent(lines: Sequence[str], index: int) -> bool:
    """Does a block of code begin at this line for no other reason than its indent?"""
    depth = _depth(lines[index])
    if depth < 4 or not lines[index].strip() or (index and lines[index - 1].strip()):
        return False
    held, limit = 0, depth
    for above in range(index - 1, -1, -1):
        line = lines[above]
        begins = line.strip() and (not above or not lines[above - 1].strip())
        if not (begins or HOLDS.match(line)) or _depth(line) >= limit:
            continue
        limit = _depth(line)
        if HOLDS.match(line):
            held += 1
        if limit == 0:
            break
    return depth >= 4 * (held + 1)


def _depth(line: str) -> int:
    line = line.expandtabs(4)
    return len(line) - len(line.lstrip())


def within(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)
