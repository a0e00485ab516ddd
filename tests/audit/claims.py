"""Change what each claim of the pages rests on, and see that it becomes false.

    PYTHONPATH=docs:. python -m tests.audit.claims [PAGE ...]

A claim that stays true whatever becomes of the names in it says nothing. Here each of these is
replaced, one at a time and in a copy of the page's names: by its negative, by zero, by something
larger and smaller, turned round, shifted, without its last part. A claim that fails with an error
has not been found false, so this does not count; nor does not-a-number, of which all is false.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from _lesson import lesson
from _lesson.checked.claims import rests_on
from _lesson.checked.compare import compare
from _lesson.checked.config import Config
from _lesson.checked.document import parse
from _lesson.checked.runner import Runner

FACTOR = 16.0
FURTHER = 4  # levels of lists, dictionaries and records


class Claim(NamedTuple):
    """A claim of a page, and whether some change makes it false."""

    line: int
    expression: str
    can_fail: bool


def changes(value: object, level: int = 0) -> Iterator[object]:
    """Other values of the same kind."""
    if isinstance(value, (bool, np.bool_)):
        yield not value
    elif isinstance(value, (int, float, complex, np.number)):
        yield from (-value, 0 * value, value + 1, value - 1, value * FACTOR, value / FACTOR)
    elif isinstance(value, str):
        yield from ("", value + "s", value[::-1])
    elif isinstance(value, np.ndarray):
        yield from arrays(value)
    elif callable(value):
        yield from functions(value)
    elif isinstance(value, dict) and level < FURTHER:
        keys = list(value)
        yield dict(zip(keys, [*list(value.values())[1:], *list(value.values())[:1]], strict=True))
        yield dict(list(value.items())[:-1])
        for key in keys:
            yield from ({**value, key: other} for other in changes(value[key], level + 1))
    elif isinstance(value, (list, tuple)) and level < FURTHER:
        yield from sequences(value, level)


def arrays(value: np.ndarray) -> Iterator[np.ndarray]:
    yield value[None]
    if value.dtype.kind == "b":
        yield from (~value, np.zeros_like(value), np.ones_like(value))
    elif value.dtype.kind in "iufc":
        yield from (-value, 0 * value, value * FACTOR, value / FACTOR, value + 1)
    for axis in range(value.ndim):
        yield from (np.flip(value, axis), np.roll(value, 1, axis))
    if value.ndim:
        yield from (value[:-1], np.concatenate([value, value[:1]]))
        for place in range(min(len(value), 50)):  # one row, or number, alone
            for other in changes(value[place], FURTHER):
                changed = value.copy()
                changed[place] = other if np.shape(other) == value[place].shape else 0
                yield changed


def sequences(value: list | tuple, level: int) -> Iterator[object]:
    def like(items) -> object:
        if hasattr(value, "_make"):  # a record with names
            return value._make(items)
        return type(value)(items)

    if not hasattr(value, "_make"):
        yield from (value[::-1], value[1:] + value[:1], value[:-1], value + value[:1])
    for place, item in enumerate(value):
        for other in changes(item, level + 1):
            yield like([*value[:place], other, *value[place + 1 :]])


def functions(value) -> Iterator[object]:
    """A function whose result is changed: in each way that a first result can be."""
    for way in range(12):

        def other(*given, way=way, **named):
            found = list(changes(value(*given, **named)))
            return found[way % len(found)]

        yield other


@np.errstate(all="ignore")
def can_fail(expression: str, namespace: dict) -> bool:
    """Is there a change of one computed name that makes the expression false?"""
    code = compile(expression, "claim", "eval", dont_inherit=True)
    for name in rests_on(expression, namespace):
        for other in changes(namespace[name]):
            if isinstance(other, float) and not math.isfinite(other):
                continue
            try:
                with warnings.catch_warnings(action="ignore"):
                    holds = eval(code, {**namespace, name: other})
            except Exception:
                continue
            if isinstance(holds, (bool, np.bool_)) and not holds:
                return True
    return False


class Trying:
    """Runs a page, and tries each claim where it stands."""

    def __init__(self, runner: Runner, found: list[Claim]):
        self.runner, self.found, self.namespace = runner, found, runner.namespace

    def run(self, source: str, line: int, mode: str = "single") -> object:
        value = self.runner.run(source, line, mode)
        if mode == "claim":
            self.found.append(Claim(line, source.strip(), can_fail(source, self.namespace)))
        return value

    def aside(self, source: str, line: int) -> object:
        return self.runner.aside(source, line)

    def fresh(self) -> Trying:
        return Trying(self.runner.fresh(), self.found)


def try_page(text: str, name: str, config: Config) -> list[Claim]:
    """Each claim of a page that passes its check."""
    found: list[Claim] = []
    page = compare(parse(text, name), Trying(Runner(name, config.beside(name)), found), config)
    if page.problems:
        raise ValueError(f"{name} must pass its check first: {page.problems[0]}")
    return found


def main(names: list[str]) -> int:
    config = lesson.config()
    texts = config.sources()
    tried = {name: try_page(texts[name], name, config) for name in names or texts}
    idle = [(name, claim) for name, found in tried.items() for claim in found if not claim.can_fail]
    for name, claim in idle:
        print(f"{name}:{claim.line}: no change of a name makes this false: {claim.expression}")
    print(f"{sum(map(len, tried.values()))} claims, of which {len(idle)} cannot fail")
    return 1 if idle else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
