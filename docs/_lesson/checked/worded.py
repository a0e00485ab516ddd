"""Find the words of number and comparison in sentences, and say which of them anything binds.

A digit of a page is always bound; a word need not be, and “falls” can be as wrong as a number. A
word is *bound* where a mark stands directly behind it, or, for a comparison, where a name in its
sentence is picked by an expression; *claimed* where a claim covers it; and else *unbound*, which
is no error. Nothing is run for this.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from .config import Config
from .document import Content, Document, Prose, parse
from .phrases import Span, reach, sentences, veiled
from .prose import Token
from .words import WORD

COMPARED = """
more less fewer most least larger largest smaller smallest longer longest shorter shortest higher
highest lower lowest greater greatest faster fastest slower slowest better best worse worst sharper
sharpest wider widest nearer nearest farther farthest never always each every both rise rises rising
fall falls falling grow grows growing shrink shrinks shrinking increase increases decrease decreases
double doubles doubled triple halves halved explodes vanishes dozen
""".split()
VOCABULARY = re.compile(
    rf"(?P<number>(?<![-\w]){WORD}(?!-))|\b(?P<compared>{'|'.join(COMPARED)}|\w+er(?=\s+than))\b",
    re.IGNORECASE,
)
SOMEBODY = re.compile(r"ones?|once", re.IGNORECASE)  # more often no number than one
STATES = ("bound", "claimed", "unbound")


class Said(NamedTuple):
    """A sentence with a word of number or comparison."""

    line: int
    text: str
    words: list[tuple[str, str]]  # each such word, and its state

    @property
    def loose(self) -> list[str]:
        """Those of its words that nothing binds."""
        return [word for word, state in self.words if state == "unbound"]

    @property
    def state(self) -> str:
        """The weakest of its words."""
        return max((state for _, state in self.words), key=STATES.index)


def worded(document: Document, idioms: Iterable[str] = ()) -> list[Said]:
    """The sentences of a page that hold such words, but for those that are part of an idiom."""
    idiom = re.compile(rf"\b(?:{'|'.join(idioms)})\b" if idioms else r"(?!)", re.IGNORECASE)
    found = []
    for part in document.parts:
        if isinstance(part, Content):
            found += _drawn(part, idiom)
        if not isinstance(part, Prose):
            continue
        hidden = veiled(document.text[: part.end], part.tokens)
        claims = [token for token in part.tokens if token.kind == "claim"]
        covered = [reach(document.text, *part[:3], claim) for claim in claims]
        for span in sentences(document.text, *part[:3]):
            words = _words(hidden, span, part.tokens, list(filter(None, covered)), idiom)
            if words:
                text = re.sub(r"<!--.*?-->", "", document.text[slice(*span)], flags=re.DOTALL)
                found.append(Said(document.line_of(span.start), " ".join(text.split()), words))
    return found


def _drawn(block: Content, idiom: re.Pattern) -> list[Said]:
    """What a figure says: the texts in its code."""
    found = []
    with contextlib.suppress(SyntaxError):
        for node in ast.walk(ast.parse(block.source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                words = _words(text, Span(0, len(text)), [], [], idiom)
                found += [Said(block.line + node.lineno, text, words)] if words else []
    return found


def _words(
    hidden: str, span: Span, tokens: list[Token], claims: list[Span], idiom: re.Pattern
) -> list[tuple[str, str]]:
    """Each word of number or comparison in a sentence, and its state."""
    marks = {token.start for token in tokens if token.kind == "mark"}
    named = any(
        token.end in marks and (token.kind == "name" or _letters(token))
        for token in tokens
        if span.start <= token.start < span.end
    )
    taken = [found.span() for found in idiom.finditer(hidden, *span)]
    words = []
    for word in VOCABULARY.finditer(hidden, *span):
        inside = any(start <= word.start() and word.end() <= end for start, end in taken)
        if inside or SOMEBODY.fullmatch(word[0]):
            continue
        if word.end() in marks or (word["compared"] and named):
            state = "bound"
        elif any(start <= word.start() < end for start, end in claims):
            state = "claimed"
        else:
            state = "unbound"
        words.append((" ".join(word[0].split()), state))
    return words


def _letters(token: Token) -> bool:
    return token.kind == "code" and not re.search(r"\d", token.text)


def survey(texts: dict[str, str], config: Config) -> dict[str, list[Said]]:
    """What `worded` finds in each of these texts, pages or not."""
    return {name: worded(parse(text, name), config.idioms) for name, text in texts.items()}


def states(found: Iterable[Said]) -> Counter:
    """How many sentences are bound, claimed and unbound."""
    return Counter({state: 0 for state in STATES}) + Counter(said.state for said in found)


def listing(pages: dict[str, list[Said]]) -> list[str]:
    """The sentences with an unbound word, each with its place, and a count for each page."""
    lines = []
    for name, found in pages.items():
        for said in found:
            if said.loose:
                lines.append(f"{name}:{said.line}: {', '.join(said.loose)}: {said.text}")
    lines += ["", "sentences with a word of number or comparison:"]
    for name, found in pages.items():
        counted = states(found)
        numbers = ", ".join(f"{counted[state]} {state}" for state in STATES)
        lines.append(f"    {name}: {numbers}")
    total = states(said for found in pages.values() for said in found)
    lines.append(", ".join(f"{total[state]} {state}" for state in STATES))
    return lines
