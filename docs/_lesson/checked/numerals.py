"""Numbers as people write them: found in a text, and written alike."""

from __future__ import annotations

import contextlib
import html
import math
import re
from collections.abc import Iterator
from fractions import Fraction

from . import words

MINUS = "\u2212"  # the longer dash that typography prefers

# The sign belongs to the number unless something stands before it: a-1, 2-3.
NUMBER = re.compile(
    r"(?:(?<![\w.)\]}])(?<!-->)[-\u2212+])?(?<![^\W_])(?<!\.)"
    r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?%?(?!\d|\.\d)"
)
# Python knows which signs are numeric: ², ½, Ⅳ, ①, 五. Of some that are pictures it does not.
SIGN = re.compile(r"\d+|&#?\w+;|[^\x00-\x7f]")
PICTURES = re.compile(
    "[\u2680-\u2685\U0001f000-\U0001f0ff\U0001f51f\U0001f4af\U0001f947-\U0001f949]"
)
UNDER = ("nearly", "almost", "just under")
ROUGH = ("about", "around", "roughly", "approximately", "close to", "≈", "~", r"\approx", *UNDER)
TINY = Fraction(1, 10**12)  # a double that should be zero is less


def numerals(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match]:
    """Each run of digits, and each other sign that stands for a number."""
    for found in SIGN.finditer(text, start, len(text) if end is None else end):
        sign = html.unescape(found[0])
        if any(map(str.isnumeric, sign)) or PICTURES.search(sign):
            yield found


def format_like(literal: str, value: object, rough: str = "") -> str:
    """Write `value` as `literal` is written: its decimals, commas, %, power of ten or word.

    `rough` is the word of ROUGH before it, if any: without one, a whole number is exact, and
    nothing but zeros is zero. Of what this returns it would return the same. Raises ValueError
    for what is no number or cannot be written so, and TypeError for a bool, which would pass
    for 0 or 1.
    """
    if isinstance(value, str):
        if not (any(numerals(value)) or words.is_word(value)):
            raise ValueError(f"the page says {literal}, the code says {value}: no number is in it")
        return value
    number = exact(value)
    try:
        if words.is_word(literal):
            return _in_words(literal, number, rough)
        return _in_digits(literal, number, rough)
    except ValueError as why:
        shown = f"{value:.6g}" if isinstance(value, float) else value
        raise ValueError(f"the page says {literal}, the code says {shown}: {why}") from None


def _in_words(literal: str, number: Fraction, rough: str) -> str:
    part = words.fraction(literal)
    if part is not None and abs(part - number) <= TINY:
        return literal
    if part is not None and not words.is_ordinal(literal):
        raise ValueError("no word like this one says so")
    return words.in_words(literal, whole(number, rough))


def _in_digits(literal: str, number: Fraction, rough: str) -> str:
    percent = "%" if literal.endswith("%") else ""
    number *= 100 if percent else 1
    body, letter, power = re.fullmatch(r"(.*?)(?:(e)(.*))?", literal.rstrip("%"), re.I).groups()
    body = body.lstrip("-+\u2212")
    if not letter and abs(number) < TINY:
        number = Fraction(0)
    text = (
        _fixed(body, number, rough) if not letter else _scaled(body, letter, power, number, rough)
    )
    if text.startswith("-"):
        return (MINUS if MINUS in literal else "-") + text[1:] + percent
    return "+" * (literal.startswith("+") and number > 0) + text + percent


def exact(value: object) -> Fraction:
    """The number that a reader sees where a value is printed: 0.1 + 0.2 is three tenths."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise TypeError(f"{value} is true or false: a number was expected")
    if not isinstance(value, float):
        return Fraction(value)
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"the value is {value}, which no number on a page can be")
    return Fraction(repr(value) if value.is_integer() else f"{value:.14g}")


def rounded(value: Fraction) -> int:
    """The nearest whole number; of two, the one farther from zero."""
    return int(abs(value) + Fraction(1, 2)) * (-1 if value < 0 else 1)


def whole(value: Fraction, rough: str) -> int:
    """The nearest whole number: the value itself, unless the sentence says that it is near."""
    nearest = rounded(value)
    if value != nearest:
        if not rough:
            raise ValueError("write its decimals, or “about” directly before the number")
        if rough in UNDER and abs(nearest) < abs(value):
            raise ValueError(f"that is more, and not “{rough}” so much")
    return nearest


def _fixed(body: str, number: Fraction, rough: str) -> str:
    """`number` with the decimals and the commas of `body`."""
    decimals = len(body.partition(".")[2])
    steps = rounded(number * 10**decimals) if decimals else whole(number, rough)
    if not steps and not rough and number:
        raise ValueError("write more decimals, for these show nothing of it")
    digits = f"{abs(steps):0{decimals + 1}d}"
    head, tail = digits[: len(digits) - decimals], digits[len(digits) - decimals :]
    head = f"{int(head):,}" if "," in body else head
    return "-" * (steps < 0) + head + f".{tail}" * bool(tail)


def _scaled(body: str, letter: str, power: str, number: Fraction, rough: str) -> str:
    """`number` with a power of ten: this one, or the one that leaves as many digits before it."""

    def mantissa(power: int) -> str:
        return _fixed(body, number / Fraction(10) ** power, rough)

    width = len(body.partition(".")[0].replace(",", ""))
    with contextlib.suppress(ValueError):
        kept = mantissa(int(power))
        if not number or kept.lstrip("-") == body:
            return kept + letter + power
    size = abs(number)
    size = len(str(int(size))) if size >= 1 else 1 - len(str(math.ceil(1 / size) - 1))
    better = size - width
    text = mantissa(better)
    if len(text.lstrip("-").partition(".")[0].replace(",", "")) > width:  # 9.96 became 10.0
        better += 1
        text = mantissa(better)
    python = power.startswith("+") or re.match(r"-?0", power)  # as in 1e-06
    return f"{text}{letter}{better:{'+03d' if python else 'd'}}"


def last_digit(literal: str) -> int:
    """The power of ten that the last digit of a number stands for: 0.25 and 25% give -2."""
    mantissa, _, power = literal.rstrip("%").lower().partition("e")
    return int(power or 0) - len(mantissa.partition(".")[2]) - 2 * literal.endswith("%")


def flatten(value: object) -> list:
    """The numbers of a value in order: of an array, a tuple, or of itself."""
    if hasattr(value, "ravel"):
        return value.ravel().tolist() if value.ndim else [value.item()]
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in flatten(item)]
    return [value]
