"""Run the code of one page, and let nothing that it does go unseen."""

from __future__ import annotations

import builtins
import contextlib
import io
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator

from .records import Problem


class Failed(Exception):
    """The code of a page did what no page may: `problems` says what and where."""

    def __init__(self, problems: list[Problem]):
        super().__init__(problems)
        self.problems = problems


def _refuse_bare(value: object) -> None:
    if value is not None:
        raise ValueError(
            f"a bare expression shows {value!r} at a prompt and nothing in a script: print it"
        )


@contextlib.contextmanager
def _descriptors():
    """Catch what is written past `sys.stdout`: by C code, a child, or to stderr.

    Gives a function that returns what has been caught since it was last asked.
    """
    with tempfile.TemporaryFile() as caught:
        kept = [os.dup(1), os.dup(2)]
        for stream in (sys.__stdout__, sys.__stderr__, sys.stdout, sys.stderr):
            stream.flush()
        os.dup2(caught.fileno(), 1)
        os.dup2(caught.fileno(), 2)

        def taken() -> str:
            for stream in (sys.stderr, sys.__stdout__, sys.__stderr__):
                stream.flush()
            caught.seek(0)
            text = caught.read().decode(errors="replace")
            caught.seek(0)
            caught.truncate()
            return text

        try:
            # Where the caller has put a stream of its own in place (as pytest does),
            # what a page writes to sys.stderr still has to end up here.
            with (
                open(2, "w", encoding="utf-8", closefd=False) as stderr,
                contextlib.redirect_stderr(stderr),
            ):
                yield taken
        finally:
            taken()
            for number, copy in enumerate(kept, start=1):
                os.dup2(copy, number)
                os.close(copy)


class Runner:
    """Runs the code of one page, in order, in one namespace."""

    def __init__(self, name: str, namespace: dict | None = None, progress=lambda line: None):
        self.name = name
        self.progress = progress  # is told the line of each piece of code before it runs
        self.namespace = {"__name__": "__main__", "__builtins__": builtins, **(namespace or {})}

    def run(self, source: str, line: int, mode: str = "single") -> object:
        """Run `source`, which stands at `line`; return what it printed.

        With mode "eval", or "claim" for what must be true, return its value. Raises Failed
        for an exception, a warning, or output past the capture.
        """
        self.progress(line)
        printed = io.StringIO()
        value, before = None, self.names()
        valued = mode in ("eval", "claim")
        found: list[Problem] = []
        with (
            _descriptors() as taken,
            warnings.catch_warnings(record=True) as warned,
            contextlib.redirect_stdout(printed),
        ):
            warnings.simplefilter("always")
            display, sys.displayhook = sys.displayhook, _refuse_bare
            try:
                placed = "\n" * (line - 1) + source
                code = compile(placed, self.name, "eval" if valued else mode, dont_inherit=True)
                if valued:
                    value = eval(code, self.namespace)
                else:
                    exec(code, self.namespace)
            except BaseException as error:  # SystemExit must not end the build
                found.append(self._describe(error, line))
            finally:
                sys.displayhook = display
            escaped = taken()
        found += [
            Problem(
                warning.lineno if warning.filename == self.name else line,
                f"{warning.category.__name__}: {warning.message}",
            )
            for warning in warned
        ]
        if valued:
            found += self._after(before, printed.getvalue(), line)
        if escaped:
            found.append(Problem(line, f"wrote past the capture, where no page shows {escaped!r}"))
        if found:
            raise Failed(found)
        return value if valued else printed.getvalue()

    def names(self) -> dict[str, int]:
        """The names of the page, and which objects they name."""
        return {name: id(value) for name, value in self.namespace.items()}

    def _after(self, before: dict[str, int], printed: str, line: int) -> Iterator[Problem]:
        """What an expression did besides giving its value."""
        if printed:
            yield Problem(line, f"an expression prints nothing, and this one {printed!r}")
        if changed := dict(self.names().items() ^ before.items()):
            yield Problem(line, f"an expression assigns nothing, and this one {', '.join(changed)}")

    def aside(self, source: str, line: int) -> object:
        """Run a block that sees the page's names, and leaves the page none of its own."""
        return Runner(self.name, self.namespace, self.progress).run(source, line, "exec")

    def fresh(self) -> Runner:
        """A runner for a page that is shown inside this one."""
        return Runner(self.name)

    def _describe(self, error: BaseException, line: int) -> Problem:
        if isinstance(error, SyntaxError) and error.filename == self.name:
            return Problem(error.lineno or line, f"{type(error).__name__}: {error.msg}")
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == self.name:
                line = frame.lineno
        return Problem(line, f"{type(error).__name__}: {error}".rstrip(": "))
