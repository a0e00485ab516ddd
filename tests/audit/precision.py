"""Find the numbers of the pages that lie where rounding could go either way.

    PYTHONPATH=docs python -m tests.audit.precision [PAGE ...]

A number on a page is a double, rounded. Where the double lies almost halfway between two
roundings, another processor, whose sums come out a hair different, could print another digit.
Here the code of the pages and of the package is rewritten so that whatever is formatted,
rounded or printed is noted first, with the unit of the last digit that is shown.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import math
import multiprocessing
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from _lesson import lesson
from _lesson.checked.compare import compare
from _lesson.checked.config import Config
from _lesson.checked.document import parse
from _lesson.checked.numerals import last_digit
from _lesson.checked.runner import Runner

from tests.audit.values import numbers

NEAR = 1e-6  # of the last digit, and
ROUNDING = 1e-12  # of the value: far more than rounding errors add up to on these pages
WHOLE = 8  # the decimals that numpy shows of an array


class Place(NamedTuple):
    """A number on a page: its line, its value, and how far that is from a rounding edge."""

    line: int
    value: float
    unit: float  # of its last digit
    distance: float  # in such units: 0.5 is as far as can be, 0 lies on the edge

    @property
    def near(self) -> bool:
        return self.distance < max(NEAR, ROUNDING * abs(self.value) / self.unit)


class Noted:
    """What was written, and at which line of the page."""

    line = 0
    places: list[Place] | None = None


def note(value, power: int) -> None:
    """Note a number that is written to multiples of 10 ** power."""
    value = float(value)
    if Noted.places is None or not value or not math.isfinite(value):
        return
    steps = abs(value) * 10.0**-power
    distance = abs(steps - math.floor(steps) - 0.5)
    Noted.places.append(Place(Noted.line, value, 10.0**power, distance))


def last_shown(value: float, spec: str) -> int | None:
    """The power of ten of the last digit that a format shows."""
    asked = re.search(r"\.(\d+)([efg%]?)$", spec)
    if not asked or not value or not math.isfinite(value):
        return None
    digits, kind = int(asked[1]), asked[2]
    if kind in ("e", "g", ""):
        digits -= math.floor(math.log10(abs(value))) + (kind != "e")
    return -digits - 2 * (kind == "%")


# What stands in for formatting, rounding and printing


def formatted(value, spec: str = ""):
    """The value, of which a format is about to show some digits."""
    if isinstance(value, float):
        power = last_shown(value, spec)
        if power is not None:
            note(value, power)
        elif not spec:
            whole(value)
    return value


def whole(value: float) -> None:
    """A number that is shown to the last digit of a double."""
    shown = repr(float(value))
    if "." in shown and "e" not in shown:
        note(value, -len(shown.partition(".")[2]))


def rounded(value, digits=0):
    for number in np.asarray(value, dtype=float).ravel():
        note(number, -digits)
    return value


def printed(value):
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        for number in value.ravel():
            if number != round(float(number), WHOLE):  # else it was rounded before
                note(number, -WHOLE)
    elif isinstance(value, float):
        whole(value)
    return value


class Noting(ast.NodeTransformer):
    """Code in which numbers are noted before they are formatted, rounded or printed."""

    def visit_FormattedValue(self, node):
        self.generic_visit(node)
        spec = [node.format_spec] if node.format_spec else []
        node.value = call("formatted", [node.value, *spec])
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        name = getattr(node.func, "id", "")
        if name == "print":
            node.args = [
                a if isinstance(a, ast.Starred) else call("printed", [a]) for a in node.args
            ]
        elif name == "format" and len(node.args) == 2:
            node.args[0] = call("formatted", list(node.args))
        elif name == "round" and node.args:
            node.args[0] = call("rounded", list(node.args))
        elif getattr(node.func, "attr", "") == "round" and not node.keywords:
            node.func.value = call("rounded", [node.func.value, *node.args])
        return node


def call(name: str, arguments: list) -> ast.Call:
    function = ast.Attribute(ast.Name("__precision__", ast.Load()), name, ast.Load())
    return ast.Call(function, arguments, [])


def noting(source: str, mode: str = "exec") -> ast.AST:
    return ast.fix_missing_locations(Noting().visit(ast.parse(source, mode=mode)))


class Finder(importlib.abc.MetaPathFinder):
    """Imports the modules of a package as code that notes."""

    def __init__(self, package: str):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name != self.package and not name.startswith(self.package + "."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        spec.loader = Loader(name, spec.origin)
        return spec


class Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data, path, *, _optimize=-1):
        return compile(noting(data), path, "exec", dont_inherit=True)

    def path_stats(self, path):
        raise OSError("the code in a cache notes nothing")


class Watched:
    """Runs a page's code, and notes what its checked blocks write."""

    def __init__(self, runner: Runner):
        self.runner, self.namespace = runner, runner.namespace

    def run(self, source: str, line: int, mode: str = "single") -> object:
        if mode != "single":
            return self.runner.run(source, line, mode)
        Noted.line, kept = line, Noted.places
        try:
            return self.runner.run(ast.unparse(noting(source)) + "\n", line, mode)
        finally:
            Noted.places = kept

    def aside(self, source: str, line: int) -> object:
        places, Noted.places = Noted.places, None
        try:
            return self.runner.aside(source, line)
        finally:
            Noted.places = places

    def fresh(self) -> Watched:
        return Watched(self.runner.fresh())


def measure(text: str, name: str, config: Config) -> list[Place]:
    """Each double that a page shows; its package must not be imported yet, to be watched."""
    builtins.__precision__ = sys.modules[__name__]
    Noted.places = found = []
    page = compare(parse(text, name), Watched(Runner(name, config.beside(name))), config)
    if page.problems:
        raise ValueError(f"{name} must pass its check first: {page.problems[0]}")
    for record in page.records:
        Noted.line = record.line
        for literal, value in numbers(record):
            note(value, last_digit(literal))
    Noted.places = None
    return found


def watch(package: str) -> None:
    """Import a package, from now on, as code that notes."""
    sys.meta_path.insert(0, Finder(package))


def measure_all(texts: dict[str, str], config: Config) -> dict[str, list[Place]]:
    """`measure` for each of these pages, in processes of their own."""
    alone = multiprocessing.get_context("spawn")
    options = {"max_tasks_per_child": 1, "initializer": watch, "initargs": ("attention",)}
    with ProcessPoolExecutor(os.cpu_count(), alone, **options) as pool:
        found = {name: pool.submit(measure, text, name, config) for name, text in texts.items()}
        return {name: future.result() for name, future in found.items()}


def main(names: list[str]) -> int:
    config = lesson.config()
    texts = config.sources()
    pages = measure_all({name: texts[name] for name in names or texts}, config)
    places = [(place.distance, name, place) for name, found in pages.items() for place in found]
    places.sort(key=lambda entry: entry[0])
    print(f"{len(places)} numbers are rounded; those nearest to an edge, in units of a last digit:")
    for distance, name, place in places[:10]:
        print(f"    {distance:.1e}  {name}:{place.line}: {place.value!r}")
    near = [(name, place) for _, name, place in places if place.near]
    for name, place in near:
        print(
            f"{name}:{place.line}: {place.value!r} is rounded to {place.unit:g}: too near an edge"
        )
    return 1 if near else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
