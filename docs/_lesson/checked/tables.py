"""Markdown pipe tables, as code prints them."""

from __future__ import annotations

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
