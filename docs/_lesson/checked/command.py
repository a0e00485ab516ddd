"""Run the code of a page and hold every number on it against the result.

`process` (page.py) takes the text of one page and gives the text for the site, each
place where page and code disagree, and what would bring the page up to date. `check` does it
for many pages, each in a process of its own. Neither knows of MkDocs: the build
(hooks.py), the tests and this command use them alike.

    python docs/_lesson/checked/command.py                  show what differs, word by word
    python docs/_lesson/checked/command.py --accept         and write it into the pages
    python docs/_lesson/checked/command.py --accept PAGE    only there; PAGE:LINE, only that line

How a page is written is said in docs/contributing.md.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import warnings
from dataclasses import asdict
from multiprocessing.connection import wait
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"

# Pages import the package of this checkout, wherever the command is given.
PLACES = [str(DOCS), str(ROOT)]
sys.path[:0] = [place for place in PLACES if place not in sys.path]

from _lesson.checked.document import Edit, Page, edited, process  # noqa: E402
from _lesson.checked.runner import Problem  # noqa: E402

LIMIT = 60  # seconds that a page may run without a sign of life
LOADED = ("numpy.random", "attention.runs", "_lesson.figures.live")


class Checking:
    """Pages that are checked in the background, each in a process of its own.

    `checking[name]` waits for one page, `checking.pages()` for all, in the order given.
    Code that goes on for `limit` seconds is ended, which is a problem like any other.
    Pages whose result is in `known` are not run again.
    """

    def __init__(
        self, texts: dict[str, str], limit: float = LIMIT, known: dict[str, Page] | None = None
    ):
        self.texts = texts
        self.done = dict(known or {})
        new = {name: text for name, text in texts.items() if name not in self.done}
        # A new interpreter sees the package as it is on disk now. It writes no
        # bytecode: a file saved twice in one second would be taken for the old one.
        with tempfile.TemporaryFile() as given:  # a pipe would make the caller wait for its reader
            given.write(json.dumps(new).encode())
            given.seek(0)
            self.worker = subprocess.Popen(
                [sys.executable, "-B", __file__, "--worker", str(limit)],
                stdin=given,
                stdout=subprocess.PIPE,
                cwd=ROOT,
            )

    def __getitem__(self, name: str) -> Page:
        while name not in self.done:
            line = self.worker.stdout.readline()
            if not line:
                raise RuntimeError(f"the page checker ended with {self.worker.wait()}")
            found, fields = json.loads(line)
            page = self.done[found] = Page(**fields)
            page.problems = [Problem(*problem) for problem in page.problems]
            page.changes = [Edit(*change) for change in page.changes]
        return self.done[name]

    def pages(self) -> dict[str, Page]:
        pages = {name: self[name] for name in self.texts}
        self.worker.stdout.close()
        self.worker.wait()
        return pages


def check(texts: dict[str, str], limit: float = LIMIT) -> dict[str, Page]:
    """`process` for each of `texts`, as Checking does it."""
    return Checking(texts, limit).pages()


def counted(pages: dict[str, Page]) -> str:
    """How much some checked pages hold, in a sentence for a page."""
    examples = sum(page.examples for page in pages.values())
    numbers = sum(page.numbers for page in pages.values())
    text = f"{examples:,} examples and {numbers:,} numbers in prose on {len(pages)} pages."
    return f"<strong>{text}</strong>"


def _child(connection, text: str, name: str) -> None:
    page = process(text, name, connection.send)
    connection.send(asdict(page))
    connection.close()


def _worker(limit: float) -> None:
    """Read pages as JSON, run each in a child; write a line of JSON when one is done."""
    texts = json.load(sys.stdin)
    if hasattr(os, "nice"):
        os.nice(10)  # who waits for the pages has work of its own, which comes first
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # input() in a page finds nothing
    # A fork has loaded already what most pages need: a page costs milliseconds, not a start.
    forks = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if forks else "spawn")
    for module in LOADED if forks else ():
        # What fails or warns here does so again in each page that needs it, and is reported.
        with contextlib.suppress(Exception), warnings.catch_warnings(action="error"):
            importlib.import_module(module)
    waiting, running = list(texts), {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop(0)
            here, there = context.Pipe(duplex=False)
            child = context.Process(target=_child, args=(there, texts[name], name))
            child.start()
            there.close()
            running[here] = [name, child, 1]
        ready = wait(running, timeout=limit)
        for connection in ready or list(running):
            name, child, line = running[connection]
            message = f"the page's code went on for {limit:g} seconds: stopped"
            if ready:
                try:
                    said = connection.recv()
                except EOFError:
                    child.join()
                    said = None
                    message = f"the code ended the process, with {child.exitcode}"
                if isinstance(said, int):
                    running[connection][2] = said
                    continue
            else:
                child.kill()
                said = None
            shown = texts[name].replace('python exec="true"', "python no-exec")
            lost = Page(shown, [Problem(line, message)], failed=True)
            print(json.dumps([name, said or asdict(lost)]), flush=True)
            child.join()
            del running[connection]


def report(pages: dict[str, Page]) -> list[str]:
    """Each problem as `docs/PAGE.md:LINE: what is wrong`."""
    return [
        f"{name}:{problem.line}: {problem.message}"
        for name, page in pages.items()
        for problem in page.problems
    ]


def read(path: Path) -> str:
    """A page's text, its line ends as they are."""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write(path: Path, text: str) -> None:
    """Replace a page's text whole or not at all."""
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.replace(temporary, path)


def sources() -> dict[str, str]:
    """The text of each checked page of the project, by name, in the order of MkDocs."""
    paths = sorted(DOCS.rglob("*.md"), key=lambda path: (path.name != "index.md", path))
    paths = [path for path in [*paths, ROOT / "README.md"] if path.exists()]
    return {
        path.relative_to(ROOT).as_posix(): read(path)
        for path in paths
        if "_lesson" not in path.parts
    }


class Accept:
    """Shows the changes that would bring pages up to date, and writes those asked for."""

    def __init__(self, texts: dict[str, str], pages: dict[str, Page]):
        self.texts, self.pages = texts, pages

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
        write(ROOT / name, edited(self.texts[name], changes))
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


def named(place: str, texts: dict[str, str]) -> tuple[str, int | None]:
    """The page, and the line if one is given, that `PAGE` or `PAGE:LINE` names.

    Raises ValueError for a page that is not there, naming those that are.
    """
    path, _, line = place.partition(":")
    full = Path(path).resolve()
    name = full.relative_to(ROOT).as_posix() if full.is_relative_to(ROOT) else path
    if name not in texts or (line and not line.isdecimal()):
        raise ValueError(
            f"no page {place}: write PAGE or PAGE:LINE, PAGE one of {', '.join(texts)}"
        )
    return name, int(line) if line else None


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Run the code of the pages and compare every number on them."
    )
    parser.add_argument(
        "places", nargs="*", metavar="PAGE[:LINE]", help="docs/one-query.md:41; all if none"
    )
    parser.add_argument("--accept", action="store_true", help="write the changes into the pages")
    parser.add_argument("--worker", type=float, metavar="SECONDS", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.worker:
        _worker(options.worker)
        return 0
    texts = sources()
    try:
        places = [named(place, texts) for place in options.places]
    except ValueError as error:
        parser.error(str(error))
    places = places or [(name, None) for name in texts]
    accept = Accept(texts, check({name: texts[name] for name, _ in places}))
    for name in accept.pages:
        changes = {c for page, line in places if page == name for c in accept.changes(name, line)}
        for change in sorted(changes):
            accept.show(name, change)
        if options.accept and changes and accept.write(name, sorted(changes)):
            texts[name] = edited(texts[name], list(changes))
    pages = check({name: texts[name] for name in accept.pages}) if options.accept else accept.pages
    for line in report(pages):
        print(line)
    examples = sum(page.examples for page in pages.values())
    numbers = sum(page.numbers for page in pages.values())
    wrong = sum(len(page.problems) for page in pages.values())
    print(f"{examples} examples and {numbers} numbers checked, {wrong} places wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
