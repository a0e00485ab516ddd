"""The process that pool.py starts: it runs each page in a child of its own."""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import sys
import time
import warnings
from multiprocessing.connection import wait

from .compare import process
from .config import Config
from .records import Page, Problem

AFTERWARDS = 3  # seconds for what a page has started to end


def _child(connection, text: str, name: str, config: Config) -> None:
    connection.send(process(text, name, config, connection.send))
    connection.close()


def work(config: Config, texts: dict[str, str], limit: float) -> None:
    """Run each page in a child; write a line of JSON when one is done."""
    if hasattr(os, "nice"):
        os.nice(10)  # who waits for the pages has work of its own, which comes first
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # input() in a page finds nothing
    # A fork has loaded already what most pages need: a page costs milliseconds, not a start.
    forks = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if forks else "spawn")
    for module in config.preload if forks else ():
        # What fails or warns here does so again in each page that needs it, and is reported.
        with contextlib.suppress(Exception), warnings.catch_warnings(action="error"):
            importlib.import_module(module)
    waiting, running, parent = list(texts), {}, os.getppid()
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            child = Child(context, texts[waiting[0]], waiting.pop(0), config)
            running[child.connection] = child
        quiet = min(child.since for child in running.values()) + limit - time.monotonic()
        ready = wait(running, timeout=max(0, min(quiet, 1)))
        if os.getppid() != parent:  # nobody waits for the pages any more
            for child in running.values():
                child.process.kill()
            return
        for child in list(running.values()):
            said = child.hear(child.connection in ready, limit)
            if said:
                print(json.dumps([child.name, said.as_json()]), flush=True)
                del running[child.connection]


class Child:
    """One page, in a process of its own."""

    def __init__(self, context, text: str, name: str, config: Config):
        self.name, self.line, self.since = name, 1, time.monotonic()
        self.connection, there = context.Pipe(duplex=False)
        self.process = context.Process(target=_child, args=(there, text, name, config))
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
    given, pages, seconds = json.load(sys.stdin)
    work(Config.from_json(given), pages, seconds)
