"""The process that pool.py starts: it runs each page in a child of its own."""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import sys
import warnings
from multiprocessing.connection import wait

from .compare import process
from .config import Config
from .records import Page, Problem


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
    waiting, running = list(texts), {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop(0)
            here, there = context.Pipe(duplex=False)
            child = context.Process(target=_child, args=(there, texts[name], name, config))
            child.start()
            there.close()
            running[here] = [name, child, 1]
        ready = wait(running, timeout=limit)
        for connection in ready or list(running):
            name, child, line = running[connection]
            said = _heard(connection, child, line) if ready else _ended(child, line, limit)
            if isinstance(said, int):
                running[connection][2] = said
                continue
            print(json.dumps([name, said.as_json()]), flush=True)
            child.join()
            del running[connection]


def _heard(connection, child, line: int) -> Page | int:
    """What a child says: the page, or the line that it has come to."""
    try:
        return connection.recv()
    except EOFError:
        child.join()
        said = f"the code ended the process, with {child.exitcode}"
        return Page([Problem(line, said)], failed=True)


def _ended(child, line: int, limit: float) -> Page:
    """End a child that has said nothing for too long."""
    child.kill()
    message = f"the page's code went on for {limit:g} seconds: stopped"
    return Page([Problem(line, message)], failed=True)


if __name__ == "__main__":
    given, pages, seconds = json.load(sys.stdin)
    work(Config.from_json(given), pages, seconds)
