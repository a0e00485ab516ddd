"""Change each digit of each page, one at a time, and see that the check reports it.

A digit of the text (prose, outputs, links) is changed while the page's code is not run
again: what it gave is remembered. A digit of the code is changed in a copy of the
running process, which goes on with the rest of the page from there: such a change is
caught when the code fails or any later output or number differs. A digit of a claim is the
bound of a comparison: it is caught when some other digit in its place makes the claim false.
"""

from __future__ import annotations

import bisect
import multiprocessing
import os
import re
import signal
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from _lesson.checked.compare import compare
from _lesson.checked.config import Config
from _lesson.checked.document import parse
from _lesson.checked.runner import Runner

PATIENCE = 30  # seconds that changed code may take


@dataclass
class Tally:
    """How many digits of a page were changed, and the changes that nothing noticed."""

    digits: int = 0
    survivors: list[str] = field(default_factory=list)

    def tried(self, text: str, at: int, caught: bool) -> None:
        self.digits += 1
        if not caught:
            start = text.rfind("\n", 0, at) + 1
            line = text[start:].partition("\n")[0]
            self.survivors.append(f"{line}  →  {changed(line, at - start)}")


def changed(text: str, at: int, more: int = 1) -> str:
    """The text with the digit at `at` replaced by the next one, or the one `more` after it."""
    return f"{text[:at]}{(int(text[at]) + more) % 10}{text[at + 1 :]}"


def digits(text: str) -> list[int]:
    return [found.start() for found in re.finditer("[0-9]", text)]


class Fork:
    """Is this process a copy, in which a digit of the code was changed?"""

    running = False

    @classmethod
    def noted(cls, problems: list) -> None:
        if cls.running:
            os._exit(1)  # caught


class Recorder:
    """Runs a page, remembers what each piece of code gave, and tries its digits first."""

    def __init__(self, runner: Runner, tally: Tally, outcomes: list):
        self.runner, self.tally, self.outcomes = runner, tally, outcomes
        self.namespace = runner.namespace

    def run(self, source: str, line: int, mode: str = "single") -> object:
        if not Fork.running:
            for at in digits(source):
                # A digit of a claim is a bound: one that is some digits too far must be false.
                for more in range(1, 10 if mode == "claim" else 2):
                    if (child := os.fork()) == 0:
                        Fork.running = True
                        signal.alarm(PATIENCE)
                        return self.runner.run(changed(source, at, more), line, mode)
                    if caught := os.waitpid(child, 0)[1] != 0:
                        break
                self.tally.tried(source, at, caught)
        self.outcomes.append(self.runner.run(source, line, mode))
        return self.outcomes[-1]

    def aside(self, source: str, line: int) -> object:
        self.outcomes.append(self.runner.aside(source, line))
        return self.outcomes[-1]

    def fresh(self) -> Recorder:
        return Recorder(self.runner.fresh(), self.tally, self.outcomes)


class Replayer:
    """Runs nothing: gives what a Recorder remembers, in the same order."""

    def __init__(self, outcomes, namespace: dict):
        self.outcomes, self.namespace = outcomes, namespace

    def run(self, source: str, line: int, mode: str = "single") -> object:
        return next(self.outcomes)

    def aside(self, source: str, line: int) -> object:
        return next(self.outcomes)

    def fresh(self) -> Replayer:
        return self


def try_page(text: str, name: str, config: Config) -> Tally:
    """Change every digit of a page that passes its check."""
    tally, outcomes = Tally(), []
    recorder = Recorder(Runner(name, config.beside(name)), tally, outcomes)
    try:
        page = compare(parse(text, name), recorder, config, Fork.noted)
    finally:
        if Fork.running:
            os._exit(0)  # it came to the end: nothing noticed the change
    if page.problems:
        raise ValueError(f"{name} must pass its check first: {page.problems[0]}")

    def problems(text: str) -> list:
        replayer = Replayer(iter(outcomes), recorder.namespace)
        return compare(parse(text, name), replayer, config).problems

    assert not problems(text), "else any change would seem to be caught"
    code = sorted(record.code for record in page.records if record.kind != "content")
    starts = [start for start, _ in code]
    for at in digits(text):
        place = bisect.bisect_right(starts, at) - 1
        if place >= 0 and at < code[place][1]:
            continue
        line = text.count("\n", 0, at) + 1
        found = problems(changed(text, at))
        tally.tried(text, at, caught=any(problem.line == line for problem in found))
    assert tally.digits == len(digits(text)), "a digit was left out, or tried twice"
    return tally


def try_pages(texts: dict[str, str], config: Config) -> dict[str, Tally]:
    """`try_page` for each of these pages, in processes of their own."""
    alone = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), alone, max_tasks_per_child=1) as pool:
        tried = {name: pool.submit(try_page, text, name, config) for name, text in texts.items()}
        return {name: future.result() for name, future in tried.items()}
