"""Change each digit of each page, one at a time, and see that the check reports it.

    python tests/audit/gate.py [PAGE ...]     print the digits that could change unseen

A digit of the text (prose, outputs, links) is changed while the page's code is not run
again: what it gave is remembered. A digit of the code is changed in a copy of the
running process, which goes on with the rest of the page from there: such a change is
caught when the code fails or any later output or number differs.
"""

from __future__ import annotations

import bisect
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).resolve().parents[2] / "docs"),
    str(Path(__file__).resolve().parents[2]),
]

from _lesson.checked import command as check  # noqa: E402
from _lesson.checked.document import Reader  # noqa: E402
from _lesson.checked.runner import Runner  # noqa: E402

LISTED = Path(__file__).with_name("survivors.toml")
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


def changed(text: str, at: int) -> str:
    """The text with the digit at `at` replaced by the next one."""
    return f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}"


def digits(text: str) -> list[int]:
    return [found.start() for found in re.finditer("[0-9]", text)]


class Recorder(Runner):
    """Runs a page, remembers what each piece of code gave, and tries its digits first.

    Each digit is changed in a fork of this process, which goes on with the page.
    """

    def __init__(self, name: str, tally: Tally, outcomes: list):
        super().__init__(name)
        self.tally, self.outcomes = tally, outcomes

    def run(self, source: str, line: int, mode: str = "single") -> object:
        if not Trial.running:
            for at in digits(source):
                if (child := os.fork()) == 0:
                    Trial.running = True
                    signal.alarm(PATIENCE)
                    return super().run(changed(source, at), line, mode)
                self.tally.tried(source, at, caught=os.waitpid(child, 0)[1] != 0)
        outcome = super().run(source, line, mode)
        self.outcomes.append(outcome)
        return outcome

    def aside(self, source: str, line: int) -> object:
        self.outcomes.append(super().aside(source, line))
        return self.outcomes[-1]

    def fresh(self) -> Recorder:
        return Recorder(self.name, self.tally, self.outcomes)


class Replayer(Runner):
    """Runs nothing: gives what a Recorder remembers, in the same order."""

    def __init__(self, name: str, outcomes, namespace: dict):
        super().__init__(name, namespace=namespace)
        self.outcomes = outcomes

    def run(self, source: str, line: int, mode: str = "single") -> object:
        return next(self.outcomes)

    def aside(self, source: str, line: int) -> object:
        return next(self.outcomes)

    def fresh(self) -> Replayer:
        return Replayer(self.name, self.outcomes, self.namespace)


class Trial(Reader):
    """Reads a page; in a fork with changed code, the first problem ends it: caught."""

    running = False

    def problem(self, line: int, message: str) -> None:
        if Trial.running:
            os._exit(1)
        super().problem(line, message)

    def failure(self, problems: list) -> None:
        if Trial.running:
            os._exit(1)
        super().failure(problems)


def try_page(text: str, name: str) -> Tally:
    """Change every digit of a page that passes its check."""
    tally, outcomes = Tally(), []
    runner = Recorder(name, tally, outcomes)
    page = Trial(text, runner).read()
    if Trial.running:
        os._exit(0)  # a fork that came to the end: nothing noticed the change
    if page.problems:
        raise ValueError(f"{name} must pass its check first: {page.problems[0]}")
    replayed = Reader(text, Replayer(name, iter(outcomes), runner.namespace)).read()
    assert not replayed.problems, "else any change would seem to be caught"
    code = sorted(page.spans)
    starts = [start for start, _ in code]
    for at in digits(text):
        place = bisect.bisect_right(starts, at) - 1
        if place >= 0 and at < code[place][1]:
            continue
        replayer = Replayer(name, iter(outcomes), runner.namespace)
        found = Reader(changed(text, at), replayer).read().problems
        line = text.count("\n", 0, at) + 1
        tally.tried(text, at, caught=any(problem.line == line for problem in found))
    assert tally.digits == len(digits(text)), "a digit was left out, or tried twice"
    return tally


def try_pages(texts: dict[str, str]) -> dict[str, Tally]:
    """`try_page` for each of these pages, as many at a time as there are processors."""

    def alone(name: str) -> Tally:
        command = [sys.executable, "-B", __file__, "--json", name]
        made = subprocess.run(command, input=texts[name].encode(), capture_output=True)
        if made.returncode:
            raise RuntimeError(made.stderr.decode())
        return Tally(**json.loads(made.stdout))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(texts, pool.map(alone, texts), strict=True))


def listed() -> dict[str, dict[str, str]]:
    """The survivors that were looked at: by page, each change with its reason."""
    return tomllib.loads(check.read(LISTED))


def published() -> str:
    """How many digits the site has and how many could change unseen, for a page."""
    texts = [*check.sources().values(), *(check.read(path) for path in check.DOCS.glob("*.toml"))]
    total = sum(len(digits(text)) for text in texts)
    left = sum(len(reasons) for reasons in listed().values())
    return (
        f"<strong>{total:,} digits were changed, one at a time. {total - left:,} changes were "
        f"reported: {100 * (total - left) / total:.2f} %.</strong>"
    )


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--json"]:
        text = sys.stdin.buffer.read().decode()
        print(json.dumps(asdict(try_page(text, arguments[1]))))
        return 0
    texts = check.sources()
    tallies = try_pages({name: texts[name] for name in arguments or texts})
    for name, tally in tallies.items():
        for survivor in tally.survivors:
            print(f"{name}: {survivor}")
    print(f"{sum(tally.digits for tally in tallies.values())} digits changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
