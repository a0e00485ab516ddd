"""Numbers in words, bound as a whole: three, one hundred and twenty, third, half, twice."""

from __future__ import annotations

import re
from fractions import Fraction

SMALL = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen
""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SCALES = {"billion": 10**9, "million": 10**6, "thousand": 1000, "hundred": 100}
TIMES = {"once": 1, "twice": 2, "thrice": 3}
_IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth",
              "eight": "eighth", "nine": "ninth", "twelve": "twelfth"}  # fmt: skip


def cardinal(number: int, link: str = " and ") -> str:
    """one hundred and twenty-three; raises ValueError where there is no word."""
    if not 0 <= number < 10**12:
        raise ValueError(f"{number} has no word here: write it in digits")
    if number < len(SMALL):
        return SMALL[number]
    if number < 100:
        tens, rest = TENS[number // 10 - 2], number % 10
        return f"{tens}-{SMALL[rest]}" if rest else tens
    scale, size = next(pair for pair in SCALES.items() if number >= pair[1])
    head, rest = divmod(number, size)
    behind = (link if rest < 100 else " ") + cardinal(rest, link) if rest else ""
    return f"{cardinal(head, link)} {scale}{behind}"


def ordinal(number: int, link: str = " and ") -> str:
    """one hundred and twenty-third."""
    head, last = re.fullmatch(r"(.*?)(\w+)", cardinal(number, link)).groups()
    regular = last.removesuffix("y") + "ie" * last.endswith("y") + "th"
    return head + _IRREGULAR.get(last, regular)


# A unit, as the last part of an ordinal and as the denominator of a fraction.
_NTH = {ordinal(n).removeprefix("one "): n for n in (*range(21), *range(30, 91, 10))}
_NTH |= {"hundredth": 100, "thousandth": 1000, "millionth": 10**6}
_DENOMINATORS = {"half": 2, "halve": 2, "quarter": 4} | {w: n for w, n in _NTH.items() if n > 2}


def _any(words) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"  # sixteen before six


# Each pattern is that of one number: "two and three" are two of them.
_LOW = rf"(?:{_any(TENS)}(?:[-\s]\s*{_any(SMALL[1:10])})?|{_any(SMALL[1:])})\b"
_HUNDREDS = rf"(?:a|{_LOW})\s+hundred\b"
_PART = rf"(?:{_HUNDREDS}(?:\s+(?:and\s+)?{_LOW})?|{_LOW})"
_SCALED = rf"(?:a|{_PART})\s+(?:thousand|million|billion)\b"
CARDINAL = rf"\b(?:{_SCALED}(?:\s+{_SCALED})*(?:\s+(?:and\s+)?{_PART})?|{_PART}|zero\b)"
ORDINAL = rf"\b(?:{_HUNDREDS}\s+(?:and\s+)?)?(?:{_any(TENS)}[-\s]\s*)?{_any(_NTH)}\b"
FRACTION = rf"\b(?:(?:a|{_LOW})[-\s]\s*)?{_any(_DENOMINATORS)}s?\b"
WORD = rf"(?:{ORDINAL}|{FRACTION}|{CARDINAL}|\b{_any(TIMES)}\b)"


def is_word(literal: str) -> bool:
    return bool(re.fullmatch(WORD, literal, re.IGNORECASE))


def is_ordinal(literal: str) -> bool:
    return bool(re.fullmatch(ORDINAL, literal, re.IGNORECASE))


def fraction(literal: str) -> Fraction | None:
    """What a half, two thirds or twice stand for, which no other word replaces."""
    plain = re.sub(r"[\s-]+", " ", literal.lower())
    if plain in TIMES:
        return Fraction(TIMES[plain])
    if not re.fullmatch(FRACTION, plain):
        return None
    head, _, name = plain.rpartition(" ")
    numerators = {cardinal(n).replace("-", " "): n for n in range(1, 100)} | {"": 1, "a": 1}
    return Fraction(numerators[head], _DENOMINATORS[name.removesuffix("s")])


def in_words(literal: str, number: int) -> str:
    """The whole `number` in words, as `literal` is: its kind, its “and”, its first letter."""
    plain = " ".join(literal.lower().split())
    link = " " if "hundred " in plain and " and " not in plain else " and "
    kind = ordinal if is_ordinal(plain) else cardinal
    text = kind(number, link)
    if plain.startswith("a "):
        text = re.sub("^one ", "a ", text)
    if not (is_ordinal if kind is ordinal else is_word)(text):
        raise ValueError(f"{text} is too long a word: write it in digits")
    if text == plain:
        return literal if literal[1:] == literal[1:].lower() else literal[0] + text[1:]
    return text.capitalize() if literal[0].isupper() else text


def counts(text: str) -> list[re.Match]:
    """The words that say how many; but for “one”, which is also somebody or something."""
    found = re.finditer(rf"{CARDINAL}|\b(?:twice|thrice)\b", text, re.IGNORECASE)
    return [word for word in found if word[0].lower() != "one"]
