"""Numbers as people write them: found in a text, and written alike."""

from __future__ import annotations

import math
import re

_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen twenty
"""
WORDS = tuple(_WORDS.split())
ORDINALS = ("zeroth", *"first second third fourth fifth sixth seventh eighth ninth tenth".split())
MINUS = "\u2212"  # the longer dash that typography prefers

# The sign belongs to the number unless something stands before it: a-1, 2-3.
NUMBER = re.compile(
    r"(?:(?<![\w.)\]}>])[-\u2212+])?(?<![^\W_])(?<!\.)"
    r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?%?(?!\d|\.\d)"
)
DIGIT = re.compile(r"[\d⁰¹²³⁴-⁹₀-₉½⅓⅔¼¾]+")


def format_like(literal: str, value: object) -> str:
    """Write `value` as `literal` is written: its decimals, commas, % or word.

    Raises ValueError for what is no number, and TypeError for a bool, which would
    pass for 0 or 1.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise TypeError(f"{value} is true or false: a number was expected")
    if not math.isfinite(value):
        raise ValueError(f"the value is {value}, which no number on a page can be")
    if literal.lower() in WORDS:
        return _in_words(literal, value, WORDS)
    if literal.lower() in ORDINALS:
        return _in_words(literal, value, ORDINALS)
    comma = "," if "," in literal else ""
    percent = "%" if literal.endswith("%") else ""
    mantissa, _, exponent = literal.rstrip("%").partition("e")
    decimals = len(mantissa.partition(".")[2])
    if percent:
        value = value * 100
    if exponent:
        text = f"{value:.{decimals}e}"
        if len(exponent.lstrip("+-")) == 1:  # 3e-6, where Python writes 3e-06
            digits, _, power = text.partition("e")
            text = f"{digits}e{int(power)}"
    elif decimals == 0 and value == int(value):
        text = f"{int(value):{comma}d}"  # exact, however large
    else:
        text = f"{value:z{comma}.{decimals}f}"
    sign = "+" if literal.startswith("+") and value > 0 else ""
    return (sign + text + percent).replace("-", MINUS if MINUS in literal else "-")


def _in_words(literal: str, value: object, words: tuple[str, ...]) -> str:
    if value != int(value) or not 0 <= value < len(words):
        raise ValueError(f"{value} has no word here: write it in digits")
    word = words[int(value)]
    return word.capitalize() if literal[0].isupper() else word


def last_digit(literal: str) -> int:
    """The power of ten that the last digit of a number stands for: 0.25 and 25% give -2."""
    mantissa, _, power = literal.rstrip("%").partition("e")
    return int(power or 0) - len(mantissa.partition(".")[2]) - 2 * literal.endswith("%")


def flatten(value: object) -> list:
    """The numbers of a value in order: of an array, a tuple, or of itself."""
    if hasattr(value, "ravel"):
        return value.ravel().tolist() if value.ndim else [value.item()]
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in flatten(item)]
    return [value]
