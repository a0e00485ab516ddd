"""Compute the pages' numbers a second time, to fifty digits, and see how safe each is.

    python tests/audit/exact.py [PAGE ...]

A number on a page is a true value, rounded. Where the true value lies almost halfway
between two roundings, another processor, whose sums come out a hair different, could
print another digit. So each piece of a page's code runs twice here: as always, and with
mpmath's numbers in place of doubles. For each number that is written, the distance of
its true value from the nearest rounding edge is measured, in units of its last digit:
0.5 is as far as can be, and 0 lies on the edge.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import math
import re
import sys
import types
import warnings
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import mpmath
import numpy as np
from mpmath import libmp

sys.path[:0] = [
    str(Path(__file__).resolve().parents[2] / "docs"),
    str(Path(__file__).resolve().parents[2]),
]

from _lesson.checked import command as check  # noqa: E402
from _lesson.checked.document import Reader  # noqa: E402
from _lesson.checked.numerals import NUMBER, flat  # noqa: E402
from _lesson.checked.runner import Runner  # noqa: E402

from attention.core import plain_attention  # noqa: E402

mpmath.mp.dps = 50
NEAR = 1e-6  # of the last digit, and
ROUNDING = 1e-12  # of the value: far more than rounding errors add up to on these pages
WHOLE = 8  # the decimals that numpy shows of an array


class Place(NamedTuple):
    """A number on a page: its line, its true value, and how far that is from an edge."""

    line: int
    value: float
    unit: float  # of its last digit
    distance: float  # in such units
    error: float  # of the double, in such units; 0 where it is not known


class Found:
    """What is being written, and where."""

    line = 0
    places: list[Place] | None = None


def found(value, unit, error=0.0) -> None:
    """Note a number that is written to multiples of `unit`."""
    if Found.places is None or not mpmath.isfinite(value) or not value:
        return
    steps = abs(value) / mpmath.mpf(unit)
    distance = abs(steps - mpmath.floor(steps) - mpmath.mpf(0.5))
    Found.places.append(Place(Found.line, float(value), float(unit), float(distance), float(error)))


def unit_of(value, spec: str) -> mpmath.mpf | None:
    """The unit of the last digit that this format shows."""
    asked = re.search(r"\.(\d+)([efg%]?)$", spec)
    if not asked or not value or not mpmath.isfinite(value):
        return None
    digits, kind = int(asked[1]), asked[2]
    if kind in ("e", "g", ""):
        highest = int(mpmath.floor(mpmath.log10(abs(value))))
        digits = digits - highest - (kind != "e")
    return mpmath.mpf(10) ** -(digits + 2 * (kind == "%"))


# mpmath's numbers as numpy and the pages use numbers


def _format(self, spec):
    if (unit := unit_of(self, spec)) is not None:
        found(self, unit)
    return format(float(self), spec)


def _text(self):
    """A number that is shown whole: to the last digit of a double."""
    shown = repr(float(self))
    if "." in shown and "e" not in shown:
        found(self, mpmath.mpf(10) ** -len(shown.partition(".")[2]))
    return shown


def _rounded(self, digits=None):
    found(self, mpmath.mpf(10) ** -(digits or 0))
    scaled = mpmath.nint(self * 10 ** (digits or 0))
    return scaled / 10**digits if digits else int(scaled)


def _nearest(self):
    found(self, 1)
    return mpmath.nint(self)


def _divided(plain):
    def divide(a, b):
        try:
            return plain(a, b)
        except ZeroDivisionError:  # doubles go on with inf or nan
            return mpmath.nan if not a or mpmath.isnan(a) else mpmath.sign(a) * mpmath.inf

    return divide


mpf = mpmath.mpf
mpf.__format__, mpf.__repr__, mpf.__str__ = _format, _text, _text
mpf.__round__, mpf.rint = _rounded, _nearest
mpf.__truediv__, mpf.__rtruediv__ = _divided(mpf.__truediv__), _divided(mpf.__rtruediv__)
mpf.sqrt = mpmath.sqrt


class Digits(np.ndarray):
    """An array of mpmath's numbers, whose products are summed as whole numbers: it is faster."""

    def __matmul__(self, other):
        return product(self, other)

    def __rmatmul__(self, other):
        return product(other, self)

    def __round__(self, digits=None):
        return round(self.item(), digits)


BITS = 250  # behind the point, of the factors of a product


def as_mpf(value) -> mpf:
    """`mpf(value)`, sooner: most are doubles, which need no rounding, or such numbers already."""
    if type(value) is mpf:
        return value
    return mpmath.mp.make_mpf(libmp.from_float(value)) if type(value) is float else mpf(value)


def fixed_point(value):
    """The whole number nearest to this one times 2 ** BITS."""
    sign, mantissa, exponent, bits = as_mpf(value)._mpf_
    if exponent and not mantissa:
        raise OverflowError("infinite, or not a number")
    return libmp.to_fixed((sign, mantissa, exponent, bits), BITS)


def of_product(whole):
    """The number that is `whole`, a sum of products of two such whole numbers."""
    return mpmath.mp.make_mpf(libmp.from_man_exp(whole, -2 * BITS, mpmath.mp.prec, "n"))


as_mpfs, fixed_point, of_product = (
    np.frompyfunc(function, 1, 1) for function in (as_mpf, fixed_point, of_product)
)


def product(a, b):
    """a @ b, of arrays that hold finite numbers or not."""
    try:
        factors = [fixed_point(np.asarray(x)) for x in (a, b)]
    except OverflowError:
        return np.matmul(np.asarray(a), np.asarray(b)).view(Digits)
    result = np.matmul(*factors)
    return lifted(of_product(result))


def norm(x, axis=None):
    """In place of numpy.linalg.norm."""
    try:
        fixed = fixed_point(np.asarray(x))
    except OverflowError:
        return lifted(np.linalg.norm(lowered(x), axis=axis))
    squares = of_product(np.asarray((fixed * fixed).sum(axis=axis), dtype=object))
    return numpy.sqrt(lifted(squares))


def like_a_double(function, lowest=-math.inf, highest=math.inf):
    """A function of mpmath that overflows and underflows where doubles do."""

    def of(x):
        if mpmath.isnan(x):
            return mpmath.nan
        if not lowest <= x <= highest:
            return mpmath.inf if x > highest else mpf(0)
        return function(x)

    return np.frompyfunc(of, 1, 1)


def logarithm(function):
    return like_a_double(lambda x: function(x) if x > 0 else (mpmath.nan if x else -mpmath.inf))


def as_floats(function):
    """A function of numpy that numbers of this kind do not have."""

    def of(*arguments, **options):
        return function(*map(lowered, arguments), **options)

    return of


class Lifting(ast.NodeTransformer):
    """Code in which what an f-string formats is lifted first, also what was just computed."""

    def visit_FormattedValue(self, node):
        self.generic_visit(node)
        node.value = ast.Call(ast.Name("lifted", ast.Load()), [node.value], [])
        return node


def lowered(value):
    """Back to doubles, which some of numpy insists on."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.astype(float)
    return float(value) if isinstance(value, mpf) else value


def lifted(value):
    """Doubles to mpmath's numbers, in all that holds some; functions to such that do so."""
    if isinstance(value, np.ndarray):
        if value.dtype not in (float, object) or isinstance(value, Digits):
            return value
        return np.asarray(as_mpfs(value), dtype=object).view(Digits)
    if type(value) in (float, np.float64):
        return mpf(float(value))
    if type(value) in (list, tuple):
        return type(value)(map(lifted, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(lifted, value))
    if isinstance(value, Mapping):
        return {key: lifted(item) for key, item in value.items()}
    if value is np:
        return numpy
    if isinstance(value, types.FunctionType) and value.__module__.startswith("attention."):
        return lifting(blockwise_attention if value.__name__ == "blockwise_attention" else value)
    return value


def lifting(function):
    """A function whose result is lifted; a mask to add may not be, to be known as one."""
    takes = inspect.signature(function).parameters if hasattr(function, "__code__") else ()

    def of(*arguments, **options):
        if "attn_mask" in takes:
            given = dict(zip(takes, arguments, strict=False)) | options
            arguments, options = (), given | {"attn_mask": lowered(given.get("attn_mask"))}
        return lifted(function(*arguments, **options))

    return of


class Numpy:
    """numpy, giving numbers of fifty digits."""

    own = types.MappingProxyType(
        {
            "exp": like_a_double(mpmath.exp, -745.1, 709.7),
            "sqrt": like_a_double(lambda x: mpmath.sqrt(x) if x >= 0 else mpmath.nan),
            "log": logarithm(mpmath.log),
            "log2": logarithm(lambda x: mpmath.log(x, 2)),
            "log10": logarithm(mpmath.log10),
            "hypot": np.frompyfunc(mpmath.hypot, 2, 1),
            "pi": +mpmath.pi,
            "asarray": np.asarray,
            "norm": norm,
        }
        | {
            name: as_floats(getattr(np, name))
            for name in ("isfinite", "isinf", "isnan", "allclose", "isclose")
        }
    )

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        if self.module in (np, np.linalg) and name in self.own:
            return self.own[name]
        value = getattr(self.module, name)
        if isinstance(value, types.ModuleType):
            return Numpy(value)
        if isinstance(value, type) or not callable(value):
            return value
        return lifting(value)


numpy = Numpy(np)


def real(x):
    """In place of attention.core.real: what is narrower than a double stays so."""
    x = np.asarray(x)
    narrow = x.dtype.kind == "f" and x.dtype != float
    return x, x.dtype if narrow else np.dtype(object)


def in_doubles(x):
    """In place of attention.core.in_doubles."""
    x = np.asarray(x)
    return lifted(x if x.dtype == object else x.astype(float))


def blockwise_attention(query, key, value, attn_mask=None, is_causal=False, scale=None, **_):
    """In place of attention.blockwise: the order of its sums is all that is its own."""
    return plain_attention(query, key, value, attn_mask, is_causal, scale)


INSTEAD = {"np": numpy, "real": real, "in_doubles": in_doubles}


@contextlib.contextmanager
def fifty_digits(line: int, places: list[Place] | None):
    """Have the package compute with mpmath's numbers; note those that are written."""
    modules = [vars(m) for name, m in sys.modules.items() if name.startswith("attention.")]
    kept = [{name: names[name] for name in INSTEAD if name in names} for names in modules]
    Found.line, Found.places = line, places
    for names, mine in zip(modules, kept, strict=True):
        names.update({name: INSTEAD[name] for name in mine})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        Found.places = None
        for names, mine in zip(modules, kept, strict=True):
            names.update(mine)


def show(*values, **_):
    """In place of print: whatever is written, is noted."""
    for value in map(lifted, values):
        if isinstance(value, np.ndarray) and value.dtype == object:
            for number in map(mpf, value.ravel()):
                if float(number) != float(f"{float(number):.{WHOLE}f}"):  # else it was rounded
                    found(number, mpf(10) ** -WHOLE)
        else:
            str(value)


class Twice(Runner):
    """Runs each piece of code as always, and again with fifty digits."""

    def __init__(self, name: str):
        super().__init__(name)
        self.exact = lifted(self.namespace) | {"print": show, "lifted": lifted}
        self.places: list[Place] = []
        self.plainly: list[tuple[int, str]] = []  # what only doubles can do, and why

    def run(self, source: str, line: int, mode: str = "single") -> object:
        before = dict(self.namespace)
        outcome = super().run(source, line, mode)
        changed = {n: v for n, v in self.namespace.items() if before.get(n, self) is not v}
        self.value = None
        noted = len(self.places)
        try:
            with fifty_digits(line, self.places if mode == "single" else None):
                tree = ast.fix_missing_locations(Lifting().visit(ast.parse(source, mode=mode)))
                self.value = eval(compile(tree, self.name, mode), self.exact)
                for name in changed:
                    self.exact[name] = lifted(self.exact[name])
        except Exception as error:
            del self.places[noted:]
            self.plainly.append((line, f"{type(error).__name__}: {error}"))
            self.exact |= {n: lifted(v) for n, v in changed.items()}
        return outcome

    def aside(self, source: str, line: int) -> object:
        return Runner(self.name, namespace=dict(self.namespace)).run(source, line, "exec")

    def fresh(self) -> Twice:
        inner = Twice(self.name)
        inner.places, inner.plainly = self.places, self.plainly
        return inner


class Measured(Reader):
    """Reads a page and measures the numbers of its prose too."""

    def bound(self, token, mark, base) -> None:
        super().bound(token, mark, base)
        runner, line = self.runner, self.line_of(base + token.start())
        if token["target"] or token["word"] or runner.value is None:
            return
        literals, values = NUMBER.findall(token[0]), flat(runner.value)
        plain = flat(Runner.run(runner, mark["expression"].strip(), line, "eval"))
        Found.line, Found.places = line, runner.places
        for literal, value, double in zip(literals, values, plain, strict=True):
            if isinstance(value, mpf | float):
                decimals = literal.rstrip("%").partition(".")[2]
                kind = "e" if "e" in literal else "%" if "%" in literal else "f"
                unit = unit_of(mpf(value), f".{len(decimals.partition('e')[0])}{kind}")
                if unit:
                    found(mpf(value), unit, abs(mpf(value) - double) / unit)
        Found.places = None


def measure(text: str, name: str) -> tuple[list[Place], list[tuple[int, str]]]:
    """Each number on a page, and each line that cannot be run with fifty digits."""
    runner = Twice(name)
    page = Measured(text, runner).read()
    if page.problems:
        raise ValueError(f"{name} must pass its check first: {page.problems[0]}")
    return runner.places, runner.plainly


def near(places: list[Place]) -> list[Place]:
    """Those that lie nearer to an edge than rounding errors may carry them."""
    return [
        place
        for place in places
        if place.distance < max(NEAR, ROUNDING * abs(place.value) / place.unit)
    ]


def main(arguments: list[str]) -> int:
    texts = check.sources()
    names = [check.named(place, texts)[0] for place in arguments] or list(texts)
    every, wrong = [], 0
    with ProcessPoolExecutor() as pool:
        measured = list(pool.map(measure, [texts[name] for name in names], names))
    for name, (places, plainly) in zip(names, measured, strict=True):
        every += [(place.distance, name, place) for place in places]
        for line, why in plainly:
            wrong += 1
            print(f"{name}:{line}: this goes with doubles only: {why}")
        for place in near(places):
            wrong += 1
            print(f"{name}:{place.line}: {place.value!r} lies {place.distance:.1e} from an edge")
    every.sort()
    print(f"{len(every)} numbers to fifty digits; the nearest to an edge, in their last digit:")
    for distance, name, place in every[:10]:
        print(f"    {distance:.2e}  {name}:{place.line}: {place.value!r} to {place.unit:g}")
    errors = [place.error for _, _, place in every]
    print(f"the largest error of a double, in the last digit: {max(errors, default=0):.1e}")
    print(f"{wrong} that rounding could change, or that could not be computed so")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
