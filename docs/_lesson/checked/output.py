"""What a block of code prints, as HTML: a Markdown table as a table, the rest as it is."""

from __future__ import annotations

import html
import re


def cells(row: str) -> list[str]:
    """The cells of a row of a pipe table; none for other text."""
    row = row.strip()
    if not (row.startswith("|") and row.endswith("|") and len(row) > 1):
        return []
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row[1:-1])]


def is_rule(row: str) -> bool:
    """Is this the line below a table's header?"""
    found = cells(row)
    return bool(found) and all(re.fullmatch(r":?-+:?", cell) for cell in found)


def as_html(printed: str, *_, **__) -> str:
    """The box below a block, as pymdownx.superfences asks for it from a custom fence."""
    lines, parts, text = printed.splitlines(), [], []
    at = 0
    while at < len(lines):
        if at + 1 < len(lines) and cells(lines[at]) and is_rule(lines[at + 1]):
            end = at + 2
            while end < len(lines) and cells(lines[end]):
                end += 1
            parts += [*_text(text), _table(lines[at:end])]
            text, at = [], end
        else:
            text.append(lines[at])
            at += 1
    return f'<div class="output">{"".join([*parts, *_text(text)])}</div>'


def _text(lines: list[str]) -> list[str]:
    shown = html.escape("\n".join(lines), quote=False)
    if not shown.strip():
        return []
    return [f'<div class="highlight no-copy"><pre><code>{shown}</code></pre></div>']


def _table(lines: list[str]) -> str:
    header, rule, *rows = map(cells, lines)
    sides = ["right" if mark.endswith(":") else "left" for mark in rule]

    def row(texts: list[str], tag: str) -> str:
        made = []
        for text, side in zip(texts, sides, strict=True):
            shown = html.escape(text.replace(r"\|", "|"), quote=False)
            made.append(f'<{tag} style="text-align: {side};">{shown}</{tag}>')
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(row(texts, "td") for texts in rows)
    head = row(header, "th")
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
