"""Run the code of a page and hold every number on it against the result.

`process` (page.py) takes the text of one page and gives the text with fresh numbers,
the text for the site, and each place where page and code disagree. `check` does it
for many pages, each in a process of its own. Neither knows of MkDocs: the build
(hooks.py), the tests and this command use them alike.

    python docs/_lesson/check.py            show what has drifted, as a diff
    python docs/_lesson/check.py --accept   and write the new outputs

How a page is written is said in docs/contributing.md.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import json
import multiprocessing
import os
import subprocess
import sys
from dataclasses import asdict
from multiprocessing.connection import wait
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

# Pages import the package of this checkout, wherever the command is given.
PLACES = [str(DOCS), str(ROOT)]
sys.path[:0] = [place for place in PLACES if place not in sys.path]

from _lesson.page import Page, process  # noqa: E402
from _lesson.runner import Problem  # noqa: E402

LIMIT = 60  # seconds that a page may run without a sign of life

_last: dict[str, Page] = {}


def start(texts: dict[str, str]) -> subprocess.Popen:
    """Begin to check pages in the background; `finish` waits for the result."""
    # A new interpreter sees the package as it is on disk now. It writes no
    # bytecode: a file saved twice in one second would be taken for the old one.
    worker = subprocess.Popen(
        [sys.executable, "-B", __file__, "--worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    worker.stdin.write(json.dumps(texts).encode())
    worker.stdin.close()
    return worker


def finish(worker: subprocess.Popen) -> dict[str, Page]:
    """What became of the pages given to `start`, by name."""
    answer = worker.stdout.read()
    worker.stdout.close()
    if worker.wait():
        raise RuntimeError(f"the page checker ended with {worker.returncode}")
    pages = {name: Page(**fields) for name, fields in json.loads(answer).items()}
    for page in pages.values():
        page.problems = [Problem(*problem) for problem in page.problems]
    _last.clear()
    _last.update(pages)
    return pages


def check(texts: dict[str, str]) -> dict[str, Page]:
    """`process` for each of `texts`, each in a process of its own."""
    return finish(start(texts))


def above(name: str, stop: int) -> dict:
    """The names that page `name`, checked last, has defined above line `stop`.

    A block that draws a figure runs where the site is built, not where the page was
    checked; this brings what the page computed to it.
    """
    namespace = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for line, source in _last[name].code:
            if line < stop:
                exec(source, namespace)
    return {name: v for name, v in namespace.items() if not name.startswith("__")}


def _child(connection, text: str, name: str) -> None:
    page = process(text, name, connection.send)
    connection.send(asdict(page))
    connection.close()


def _worker() -> None:
    """Read pages as JSON, run each in a child, write what they found as JSON."""
    texts = json.load(sys.stdin)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # input() in a page finds nothing
    # A fork has numpy loaded already: a page costs milliseconds, not a start.
    forks = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if forks else "spawn")
    if forks:
        import numpy  # noqa: F401
    waiting, running, pages = list(texts), {}, {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop(0)
            here, there = context.Pipe(duplex=False)
            child = context.Process(target=_child, args=(there, texts[name], name))
            child.start()
            there.close()
            running[here] = [name, child, 1]
        ready = wait(running, timeout=LIMIT)
        for connection in ready or list(running):
            name, child, line = running[connection]
            message = f"the page's code ran for more than {LIMIT} seconds: stopped"
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
            lost = Page(texts[name], texts[name], [Problem(line, message)], failed=True)
            pages[name] = said or asdict(lost)
            child.join()
            del running[connection]
    json.dump(pages, sys.stdout)


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
    """The text of each checked page of the project, by name."""
    paths = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    paths = [path for path in paths if path.parent.name != "_lesson" and path.exists()]
    return {path.relative_to(ROOT).as_posix(): read(path) for path in paths}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Run the code of the pages and compare every number on them."
    )
    parser.add_argument("pages", nargs="*", help="as in docs/1-one-query.md; all if none")
    parser.add_argument(
        "--accept", action="store_true", help="write the new outputs into the pages"
    )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.worker:
        _worker()
        return 0
    texts = sources()
    if options.pages:
        named = [
            Path(page).resolve().relative_to(ROOT).as_posix() for page in options.pages
        ]
        if unknown := [name for name in named if name not in texts]:
            parser.error(f"no page {unknown[0]}: there are {', '.join(texts)}")
        texts = {name: texts[name] for name in named}
    pages = check(texts)
    for name, page in pages.items():
        diff = difflib.unified_diff(
            texts[name].splitlines(), page.source.splitlines(), name, name, "", "", 0, ""
        )
        for line in diff:
            print(line)
        if options.accept and page.source != texts[name]:
            write(ROOT / name, page.source)
            print(f"{name}: written")
    if options.accept:
        pages = check({name: page.source for name, page in pages.items()})
    for line in report(pages):
        print(line)
    examples = sum(page.examples for page in pages.values())
    numbers = sum(page.numbers for page in pages.values())
    wrong = sum(len(page.problems) for page in pages.values())
    print(f"{examples} examples and {numbers} numbers checked, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
