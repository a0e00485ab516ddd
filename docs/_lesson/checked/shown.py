"""Hold what a built page shows against what was checked: code, outputs, figures and marks."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator

from .document import FENCE, Document
from .records import Problem
from .render import DRAWN, OUTPUT, drawn_as_html, output_as_html

CODE = re.compile(r"<pre\b[^>]*>(.*?)(?:</pre>|\Z)", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
# What could show numbers and is no text, so that nothing else would see them.
FIGURE = re.compile(
    r"<(?:figure|svg|canvas|script|style|iframe|object|embed|audio|video|textarea|xmp|listing)\b"
    r'|<div class="output"',
    re.IGNORECASE,
)
TITLED = re.compile(r'<span class="(?:computed|claim)" title="([^"]*)"')


def unseen(document: Document, markdown: str, built: str) -> list[Problem]:
    """Where the page `built`, as HTML, shows other code or figures than its checked `markdown`."""
    problems, codes = [], Counter()
    marks = titles(markdown) - titles(document.text)
    for info, body in fences(markdown):
        marks -= titles(body)
        if info not in (OUTPUT, DRAWN):
            codes[plain(body)] += 1
            continue
        piece = (drawn_as_html if info == DRAWN else output_as_html)(body)
        if piece not in built:
            problems.append(
                _problem(document, TAG.sub("\n", piece), "was checked and is not shown")
            )
        built = built.replace(piece, "", 1)
    found = Counter(plain(html.unescape(TAG.sub("", code))) for code in CODE.findall(built))
    for code in found - codes:
        problems.append(_problem(document, code, "is shown as code and was not checked"))
    for code in codes - found:
        problems.append(_problem(document, code, "was checked and is not shown as code"))
    for figure in FIGURE.finditer(built):
        piece = built[figure.start() :][:200]
        problems.append(_problem(document, piece, "is shown and was not checked"))
    there = titles(built)
    for title in marks - there:
        sign = "=" if f"<!--= {title} -->" in document.text else "?"
        problems.append(_problem(document, f"<!--{sign} {title} -->", "does not show as a mark"))
    for title in there - marks:
        problems.append(_problem(document, f'title="{title}"', "passes for an expression"))
    return sorted(set(problems))


def titles(text: str) -> Counter:
    """The expressions that a text shows, each with how often."""
    return Counter(map(html.unescape, TITLED.findall(text)))


def fences(markdown: str) -> Iterator[tuple[str, str]]:
    """What the fences of a checked page say they are, and what they hold."""
    lines = iter(markdown.splitlines())
    for line in lines:
        if not (opening := FENCE.match(line)):
            continue
        indent, ticks = opening["indent"], opening["ticks"]
        body = []
        for inner in lines:
            if inner.removeprefix(indent).rstrip() == ticks:
                break
            body.append(inner.removeprefix(indent))
        yield opening["info"], "\n".join(body)


def plain(code: str) -> str:
    """Code without what Markdown does to it."""
    return "\n".join(line.rstrip() for line in code.expandtabs(4).strip("\n").splitlines())


def _problem(document: Document, piece: str, why: str) -> Problem:
    """A problem at the line of the page where `piece` begins; at the first if it stands nowhere."""
    rows = [row.strip() for row in piece.splitlines() if row.strip()] or [""]
    rows += [row.partition(">")[0] for row in rows] + TAG.sub("\n", piece).split()
    at = next((place for row in rows if (place := document.text.find(row)) >= 0), 0)
    return Problem(document.line_of(at), f"{rows[0][:60]} {why}")
