"""Show what differs between the pages and their code, word by word, and write it into them."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import tempfile
from pathlib import Path

from .config import Config, read
from .pool import check
from .records import Edit, Page, edited, report
from .worded import listing, survey


class Accept:
    """Shows the changes that would bring pages up to date, and writes those asked for."""

    def __init__(self, texts: dict[str, str], pages: dict[str, Page], root: Path):
        self.texts, self.pages, self.root = texts, pages, root

    def lines(self, name: str, change: Edit) -> range:
        """The lines of its page that a change rewrites."""
        first = self.texts[name].count("\n", 0, change.start) + 1
        return range(first, first + max(1, self.texts[name].count("\n", *change[:2])))

    def changes(self, name: str, line: int | None) -> list[Edit]:
        """The changes of a page, or those that touch a line of it."""
        return [
            change
            for change in self.pages[name].changes
            if line is None or line in self.lines(name, change)
        ]

    def show(self, name: str, change: Edit) -> None:
        old = self.texts[name][change.start : change.end]
        print(f"{name}:{self.lines(name, change)[0]}: {words(old, change.new)}")
        if mark := re.match(r"<!--=\s*(.*?)\s*-->", self.texts[name][change.end :]):
            places = [
                f"{other}:{text.count(chr(10), 0, found.start()) + 1}"
                for other, text in self.texts.items()
                for found in re.finditer(rf"<!--=\s*{re.escape(mark[1])}\s*-->", text)
                if (other, found.start()) != (name, change.end)
            ]
            if places:
                print(f"    {mark[1]} also stands at {', '.join(places)}")

    def write(self, name: str, changes: list[Edit]) -> bool:
        """Write changes into a page; not where its code failed. Was all written?"""
        if self.pages[name].failed:
            print(f"{name}: not written, for its code fails: mend that first")
            return False
        if read(self.root / name) != self.texts[name]:
            print(f"{name}: not written, for it was saved meanwhile: run this again")
            return False
        write(self.root / name, edited(self.texts[name], changes))
        print(f"{name}: {len(changes)} written")
        return True


def words(old: str, new: str) -> str:
    """What differs between two texts, as in `a weight of [-0.33-]{+0.34+}`."""
    a, b = (re.findall(r"\s+|[^\s]+", text.rstrip("\n")) for text in (old, new))
    pieces = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append("".join(a[i:j]))
            continue
        pieces.append(f"[-{''.join(a[i:j])}-]" if i < j else "")
        pieces.append(f"{{+{''.join(b[k:m])}+}}" if k < m else "")
    lines = "".join(pieces).split("\n")
    return "\n    ".join(line for line in lines if "[-" in line or "{+" in line)


def named(place: str, texts: dict[str, str], root: Path) -> tuple[str, int | None]:
    """The page, and the line if one is given, that `PAGE` or `PAGE:LINE` names.

    Raises ValueError for a page that is not there, naming those that are.
    """
    path, _, line = place.partition(":")
    # The page's own link is not followed: it is a page where it stands.
    full, root = Path(path).parent.resolve() / Path(path).name, root.resolve()
    name = full.relative_to(root).as_posix() if full.is_relative_to(root) else path
    if name not in texts or (line and not line.isdecimal()):
        raise ValueError(
            f"no page {place}: write PAGE or PAGE:LINE, PAGE one of {', '.join(texts)}"
        )
    return name, int(line) if line else None


def write(path: Path, text: str) -> None:
    """Replace a page's text whole or not at all; its mode stays, and a link to it is followed."""
    path = path.resolve()
    # Hidden, so that no build takes it for a page.
    number, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(number, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def main(config: Config, argv: list[str] | None = None, prog: str | None = None) -> int:
    """The command line for the pages of one lesson; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog=prog, description="Run the code of the pages and compare every number on them."
    )
    parser.add_argument(
        "places", nargs="*", metavar="PAGE[:LINE]", help="docs/index.md:41; all if none"
    )
    parser.add_argument("--accept", action="store_true", help="write the changes into the pages")
    parser.add_argument(
        "--words",
        action="store_true",
        help="list the words of number and comparison that nothing binds, and run nothing",
    )
    options = parser.parse_args(argv)
    texts = config.sources()
    try:
        places = [named(place, texts, config.root) for place in options.places]
    except ValueError as error:
        parser.error(str(error))
    places = places or [(name, None) for name in texts]
    if options.words:
        asked = {name: texts[name] for name, _ in places}
        print(
            "\n".join(listing(survey(asked if options.places else texts | config.beyond(), config)))
        )
        return 0
    pages = check({name: texts[name] for name, _ in places}, config)
    accept = Accept(texts, pages, config.root)
    for name in pages:
        changes = {c for page, line in places if page == name for c in accept.changes(name, line)}
        for change in sorted(changes):
            accept.show(name, change)
        if options.accept and changes and accept.write(name, sorted(changes)):
            texts[name] = edited(texts[name], list(changes))
    if options.accept:
        pages = check({name: texts[name] for name in pages}, config)
    for line in report(pages):
        print(line)
    examples = sum(page.examples for page in pages.values())
    numbers = sum(page.numbers for page in pages.values())
    wrong = sum(len(page.problems) for page in pages.values())
    print(f"{examples} examples and {numbers} numbers checked, {wrong} places wrong")
    return 1 if wrong else 0
