"""Check many pages, each in a process of its own, so that none can lean on another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .config import Config
from .records import Page, Problem

LIMIT = 60  # seconds that a page may run without a sign of life
HOME = Path(__file__).resolve().parents[len(__package__.split("."))]  # holds this very package


class Checking:
    """Pages that are checked in the background.

    `checking[name]` waits for one page, `checking.pages()` for all, in the order given.
    With `twice`, each is computed once more behind all others, and must say the same: only
    `pages()` waits for that. Code that goes on for `limit` seconds is ended, which is a
    problem like any other. Pages whose result is in `known` are not run at all.
    """

    def __init__(
        self,
        texts: dict[str, str],
        config: Config,
        limit: float = LIMIT,
        known: dict[str, Page] | None = None,
        twice: bool = True,
    ):
        self.texts = texts
        self.done = dict(known or {})
        self.again: dict[str, list[Problem]] = {}
        new = {name: text for name, text in texts.items() if name not in self.done}
        places = [*config.places(), str(HOME), os.environ.get("PYTHONPATH")]
        # A new interpreter sees the package as it is on disk now. It writes no
        # bytecode: a file saved twice in one second would be taken for the old one.
        with tempfile.TemporaryFile() as given:  # a pipe would make the caller wait for its reader
            how = {"config": config.as_json(), "limit": limit, "parent": os.getpid()}
            said = {"texts": new, "how": how, "twice": twice, "first": {}}
            given.write(json.dumps(said).encode())
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
            if not self._read():
                raise RuntimeError(f"the page checker ended with {self.worker.wait()}")
        return self.done[name]

    def _read(self) -> bool:
        """Take in one line of the worker; False at its end."""
        line = self.worker.stdout.readline()
        if not line:
            return False
        name, found = json.loads(line)
        if isinstance(found, dict):
            self.done[name] = Page.from_json(found)
        else:
            self.again.setdefault(name, []).extend(Problem(*problem) for problem in found)
        return True

    def pages(self) -> dict[str, Page]:
        pages = {name: self[name] for name in self.texts}
        if not self.worker.stdout.closed:
            while self._read():
                pass
            self.worker.stdout.close()
            if ended := self.worker.wait():
                raise RuntimeError(f"the page checker ended with {ended}")
        for name, problems in self.again.items():
            new = [problem for problem in problems if problem not in pages[name].problems]
            pages[name].problems = sorted(pages[name].problems + new)
            pages[name].failed |= bool(problems)
        return pages


def check(texts: dict[str, str], config: Config, limit: float = LIMIT) -> dict[str, Page]:
    """Check each of `texts`, pages by their names, as Checking does it."""
    return Checking(texts, config, limit).pages()
