"""What the search knows of a page: its text without listings, and the words people search by."""

from __future__ import annotations

import re

# What is for the eye or for running: its text would be found in place of what explains it.
UNSAID = re.compile(r"<(pre|svg|math|textarea|button|script|noscript)\b.*?</\1>", re.DOTALL)
WHERE = re.compile(r'<p class="where">.*?</p>')  # the chapter's number, above the title
CELL = re.compile(r"(?=</(?:td|th|dt|dd|caption|li)>)")  # the next one's words stand apart
CHAPTER, LOG = 2, 0.1  # how much more, and less, a word on such a page counts
LOGS = ("changelog.md", "contributing.md")


def add(index, page, chapters: set[str]) -> None:
    """Add a page to Material's search index; `chapters` are the names of those pages.

    Under `search` on top of a page, `words` are what readers call its subject.
    """
    name = page.file.src_uri
    if name.endswith(".ipynb"):  # it repeats the package and its runs
        return
    shown, before = page.content, len(index.entries)
    page.content = CELL.sub(" ", UNSAID.sub(" ", WHERE.sub("", shown))).lstrip()
    type(index).add_entry_from_context(index, page)
    page.content = shown
    added = index.entries[before:]
    for entry in added:
        if name in chapters:
            entry["boost"] = CHAPTER
        elif name in LOGS:
            entry["boost"] = LOG
    words = (page.meta.get("search") or {}).get("words", "")
    if added and words:
        added[0]["words"] = words.replace(",", " ")
