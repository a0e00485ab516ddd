"""The process that pool.py starts: it runs each page in a child of its own.

Then it becomes another interpreter, with another order of sets, and runs each page once more.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import NamedTuple

from .again import differs, meddles
from .compare import process
from .config import Config
from .records import Page, Problem

AFTERWARDS = 3  # seconds for what a page has started to end


class Job(NamedTuple):
    """A page to be run: all of it, or nothing but its checked blocks."""

    name: str
    text: str
    blocks: bool = False


def _child(connection, job: Job, config: Config) -> None:
    connection.send(process(job.text, job.name, config, connection.send, job.blocks))
    connection.close()


def work(given: dict) -> None:
    """Write a line of JSON for each page as it is done: what was found, or how it differs.

    `given` is what pool.py says: the pages, and who waits for them. Once more it comes with
    `first`, what the first runs have found.
    """
    if hasattr(os, "nice"):
        os.nice(10)  # who waits for the pages has work of its own, which comes first
    texts, first = given["texts"], given["first"]
    if first:
        for job, page in run(again(texts, first), **given["how"]):
            page = Page.from_json(json.loads(as_json(page)))
            compared = (meddles if job.blocks else differs)(Page.from_json(first[job.name]), page)
            print(json.dumps([job.name, compared]), flush=True)
        return
    for job, page in run([Job(*item) for item in texts.items()], **given["how"]):
        if not page.problems and page.records:
            first[job.name] = page.as_json()
        print(f"[{json.dumps(job.name)}, {as_json(page)}]", flush=True)
    if given["twice"] and first:
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps(given, default=str).encode())
            file.seek(0)
            os.dup2(file.fileno(), 0)
        command = [sys.executable, "-B", "-m", f"{__package__}.worker"]
        os.execve(sys.executable, command, {**os.environ, "PYTHONHASHSEED": "random"})


def as_json(page: Page) -> str:
    return json.dumps(page.as_json(), default=str)  # a Fraction is no number of JSON's


def again(texts: dict[str, str], first: dict) -> list[Job]:
    """The second runs: of each page, and of the blocks alone where text between could meddle."""
    jobs = []
    for name, page in first.items():
        kinds = {record[0] for record in page["records"]}
        jobs.append(Job(name, texts[name]))
        if "output" in kinds and kinds & {"number", "name", "claim", "content"}:
            jobs.append(Job(name, texts[name], blocks=True))
    return jobs


def run(jobs: list[Job], config: dict, limit: float, parent: int) -> Iterator[tuple[Job, Page]]:
    """Run each page in a child, and give what came of it, until the process `parent` is gone."""
    about = Config.from_json(config)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # input() in a page finds nothing
    # A fork has loaded already what most pages need: a page costs milliseconds, not a start.
    forks = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if forks else "spawn")
    for module in about.preload if forks else ():
        # What fails or warns here does so again in each page that needs it, and is reported.
        with contextlib.suppress(Exception), warnings.catch_warnings(action="error"):
            importlib.import_module(module)
    waiting, running = list(jobs), {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            child = Child(context, waiting.pop(0), about)
            running[child.connection] = child
        quiet = min(child.since for child in running.values()) + limit - time.monotonic()
        ready = wait(running, timeout=max(0, min(quiet, 1)))
        if os.getppid() != parent:  # nobody waits for the pages any more
            for child in running.values():
                child.process.kill()
            sys.exit()
        for child in list(running.values()):
            said = child.hear(child.connection in ready, limit)
            if said:
                yield child.job, said
                del running[child.connection]


class Child:
    """One page, in a process of its own."""

    def __init__(self, context, job: Job, config: Config):
        self.job, self.line, self.since = job, 1, time.monotonic()
        self.connection, there = context.Pipe(duplex=False)
        self.process = context.Process(target=_child, args=(there, job, config))
        self.process.start()
        there.close()

    def hear(self, ready: bool, limit: float) -> Page | None:
        """What came of the page, once it is known."""
        if not ready:
            if time.monotonic() - self.since < limit:
                return None
            self.process.kill()
            return self.failed(f"the page's code went on for {limit:g} seconds: stopped")
        try:
            said = self.connection.recv()
        except EOFError:
            self.process.join()
            return self.failed(f"the code ended the process, with {self.process.exitcode}")
        if isinstance(said, int):
            self.line, self.since = said, time.monotonic()
            return None
        self.process.join(AFTERWARDS)
        if self.process.is_alive():  # a thread, or a process that it waits for
            self.process.kill()
            return self.failed(
                "something that the page's code has started goes on behind its end: stopped"
            )
        return said

    def failed(self, message: str) -> Page:
        return Page([Problem(self.line, message)], failed=True)


if __name__ == "__main__":
    work(json.load(sys.stdin))
