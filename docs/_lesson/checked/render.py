"""Write a checked page for the site: what it says is what its code gives."""

from __future__ import annotations

import ast
import functools
import html
import re

from .document import Block, Content, Document, Inner, Prose
from .records import Edit, Page, Record, edited
from .tables import cells, is_rule

OUTPUT = "output"  # the fence of what has been printed
DRAWN = 'python exec="true" html="true"'  # of what has been drawn: markdown-exec puts it in
PUT = "print({!r}, end='')"
# In a quote, markdown-exec would run a block that nothing has checked.
QUOTED = re.compile(r"^([ \t]*>.*?(?:`{3,}|~{3,}).*?)\bexec(?=\s*=)", re.MULTILINE)
MARKUP = re.compile(r"[^\w\s.,:;+/=-]")  # signs that could mean something to Markdown or HTML


def for_site(document: Document, page: Page) -> str:
    """The Markdown of a checked page for the site.

    Code loses its prompts, outputs and drawn content are fresh, and a number shows the
    expression that gave it. What failed is shown as code, and not run.
    """
    claims = [record for record in page.records if record.kind == "claim"]
    records = {record.start: record for record in page.records if record.kind != "claim"}
    edits = []
    for part in document.parts:
        if isinstance(part, Block):
            edits.append(_block(part, records))
        elif isinstance(part, Content):
            edits.append(_content(document, part, records.get(part.start)))
        elif isinstance(part, Inner):
            mine = [edit for edit in page.changes if part.start <= edit.start < part.end]
            edits += mine
        elif isinstance(part, Prose):
            mine = (records[token.start] for token in part.tokens if token.start in records)
            edits += [_number(document, record) for record in mine]
            mine = [claim for claim in claims if part.start <= claim.start < part.end]
            edits += [edit for claim in mine for edit in _claim(document, claim)]
    return QUOTED.sub(r"\1no-exec", edited(document.text, edits))


def not_run(text: str) -> str:
    """A page whose code could not be run, its blocks as text."""
    return text.replace('python exec="true"', "python no-exec")


def _block(block: Block, records: dict[int, Record]) -> Edit:
    """The steps of a checked block: code to copy, and what it prints."""
    shown, code = [], []
    for example in block.examples:
        code.append(example.source)
        record = records.get(example.output[0])
        if record and record.kind == "output" and record.fresh:
            rows = [row.removeprefix(block.indent) for row in record.fresh.splitlines()]
            shown += _step(code, ["" if row == "<BLANKLINE>" else row for row in rows])
            code = []
    if code:
        shown += _step(code, [])
    lines = [f"{block.indent}{line}\n" if line else "\n" for line in shown]
    return Edit(block.start, block.end, "".join(lines))


def _step(code: list[str], output: list[str]) -> list[str]:
    # A fence must be longer than any that its code holds.
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`{3,}|$", "".join(code))))
    body = []
    for source in code:
        body += source.splitlines()
        if _has_body(source):
            body.append("")  # a prompt wants a blank line behind a loop or a function
    if body and not body[-1]:
        body.pop()
    lines = [f"{ticks}python", *body, ticks, ""]
    return [*lines, f"{ticks}{OUTPUT}", *output, ticks, ""] if output else lines


def _content(document: Document, block: Content, record: Record | None) -> Edit:
    if record is None:
        first = document.text[block.start : block.body[0]]
        return Edit(block.start, block.body[0], first.replace(' exec="true"', " no-exec"))
    rows = record.fresh.splitlines()
    if block.html:  # in one line, of which Markdown changes nothing
        rows = [f"```{DRAWN}", PUT.format(record.fresh.strip("\n")), "```"]
    text = "".join(f"{block.indent}{row}".rstrip() + "\n" for row in rows)
    return Edit(block.start, block.end, text)


def _number(document: Document, record: Record) -> Edit:
    """A number, which shows its expression where that says more than the number."""
    if record.kind == "chapter":
        return Edit(record.start, record.end, record.fresh)
    shown = record.fresh
    plain = _untitled(document, record) or record.literal.startswith("](")
    if not plain and not _is_constant(record.expression):
        shown = f"{_titled('computed', record)}{shown}</span>"
    return Edit(record.start, record.code[1], shown)


def _claim(document: Document, record: Record) -> list[Edit]:
    """A sentence that shows what makes it true, with nothing else to see."""
    if _untitled(document, record):
        return [Edit(*record.code, "")]
    begin = Edit(record.start, record.start, _titled("claim", record))
    return [begin, Edit(*record.code, "</span>")]


def _untitled(document: Document, record: Record) -> bool:
    """Is this a heading, or the line of a question, which shows no expression?"""
    return document.lines[record.line - 1].lstrip().startswith(("#", "???", "!!!"))


def _titled(kind: str, record: Record) -> str:
    # Of Markdown too: a pipe would end the cell of a table, and f[0](n) is a link.
    title = MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", record.expression)
    return f'<span class="{kind}" title="{title}">'


@functools.cache
def _is_constant(expression: str) -> bool:
    try:
        ast.literal_eval(expression)
    except (ValueError, SyntaxError):
        return False
    return True


@functools.cache
def _has_body(source: str) -> bool:
    """Is this a statement with a body, such as a loop or a function?"""
    try:
        return any(hasattr(statement, "body") for statement in ast.parse(source).body)
    except SyntaxError:
        return False


def drawn_as_html(code: str) -> str:
    """What the block `code` of a page for the site puts into it."""
    before, _, after = PUT.partition("{!r}")
    return ast.literal_eval(code.removeprefix(before).removesuffix(after))


def output_as_html(printed: str, *_, **__) -> str:
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
