"""Check many pages, each in a process of its own, so that none can lean on another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .config import Config
from .records import Page

LIMIT = 60  # seconds that a page may run without a sign of life
HOME = Path(__file__).resolve().parents[len(__package__.split("."))]  # holds this very package


class Checking:
    """Pages that are checked in the background.

    `checking[name]` waits for one page, `checking.pages()` for all, in the order given.
    Code that goes on for `limit` seconds is ended, which is a problem like any other.
    Pages whose result is in `known` are not run again.
    """

    def __init__(
        self,
        texts: dict[str, str],
        config: Config,
        limit: float = LIMIT,
        known: dict[str, Page] | None = None,
    ):
        self.texts = texts
        self.done = dict(known or {})
        new = {name: text for name, text in texts.items() if name not in self.done}
        places = [*config.places(), str(HOME), os.environ.get("PYTHONPATH")]
        # A new interpreter sees the package as it is on disk now. It writes no
        # bytecode: a file saved twice in one second would be taken for the old one.
        with tempfile.TemporaryFile() as given:  # a pipe would make the caller wait for its reader
            given.write(json.dumps([config.as_json(), new, limit]).encode())
            given.seek(0)
            self.worker = subprocess.Popen(
                [sys.executable, "-B", "-m", f"{__package__}.worker"],
                stdin=given,
                stdout=subprocess.PIPE,
                cwd=config.root,
                # Optimised code would leave out the assertions of a page, and docstrings.
                env={name: value for name, value in os.environ.items() if name != "PYTHONOPTIMIZE"}
                | {"PYTHONPATH": os.pathsep.join(filter(None, places))},
            )

    def __getitem__(self, name: str) -> Page:
        while name not in self.done:
            line = self.worker.stdout.readline()
            if not line:
                raise RuntimeError(f"the page checker ended with {self.worker.wait()}")
            found, page = json.loads(line)
            self.done[found] = Page.from_json(page)
        return self.done[name]

    def pages(self) -> dict[str, Page]:
        pages = {name: self[name] for name in self.texts}
        self.worker.stdout.close()
        self.worker.wait()
        return pages


def check(texts: dict[str, str], config: Config, limit: float = LIMIT) -> dict[str, Page]:
    """Check each of `texts`, pages by their names, as Checking does it."""
    return Checking(texts, config, limit).pages()
