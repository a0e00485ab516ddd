"""A value is written as the number that stands on the page, and no digit of it is lost."""

import sys
from fractions import Fraction

import pytest
from _lesson.checked.numerals import NUMBER, ROUGH, format_like, numerals
from _lesson.checked.words import cardinal, fraction, is_ordinal, is_word, ordinal
from hypothesis import example, given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("literal", "value", "written"),
    [
        ("0.5", 0.26, "0.3"),
        ("1", 41.0, "41"),
        ("1", 2.9999999999999996, "3"),
        ("1,000", 1234567, "1,234,567"),
        ("1,000.5", 1234567.26, "1,234,567.3"),
        ("5%", 0.26, "26%"),
        ("5%", 1 - 0.9, "10%"),
        ("5.0%", 0.257, "25.7%"),
        ("2e-6", 0.000003, "3e-6"),
        ("2.0e-06", 0.00000312, "3.1e-06"),
        ("2.0e-06", 3.1e7, "3.1e+07"),
        ("0.0", 0, "0.0"),
        ("0.00", 1e-17, "0.00"),
        ("−1", -2, "−2"),
        ("+1", 2, "+2"),
        ("+1", -2, "-2"),
        ("three", 4, "four"),
        ("Three", 4, "Four"),
        ("1", 2**70 + 1, "1180591620717411303425"),
        ("1", 10**400, "1" + 400 * "0"),
        ("1.5", Fraction(1, 3), "0.3"),
        ("3.10", "3.11", "3.11"),
        # The power of ten that an author has chosen is a right one.
        ("272e12", 272 * 10**12, "272e12"),
        ("12e3", 12000, "12e3"),
        ("12e3", 13000, "13e3"),
        ("12e3", 130000, "13e4"),
        ("25e3%", 250, "25e3%"),
        ("2.5E3", 2500, "2.5E3"),
        ("2.5E3", 9.97e5, "1.0E6"),
        ("1E-3", 0.001, "1E-3"),
        ("1e100", 1e100, "1e100"),
        ("1e100", 10**99, "1e99"),
        ("0.5e3", 500, "0.5e3"),
        ("1,200e3", 1_200_000, "1,200e3"),
        ("1e3", 0, "0e3"),
        # Of two numbers equally near, the one farther from zero; a reader sees 2.675.
        ("0.1", 0.25, "0.3"),
        ("0.1", -0.25, "-0.3"),
        ("0.12", 0.125, "0.13"),
        ("0.12", 2.675, "2.68"),
        ("1.2e3", 1250, "1.3e3"),
        # Words, as a whole.
        ("twenty", 21, "twenty-one"),
        ("twenty three", 23, "twenty-three"),
        ("one hundred and twenty", 120, "one hundred and twenty"),
        ("one hundred twenty", 105, "one hundred five"),
        ("A hundred", 100, "A hundred"),
        ("a hundred", 200, "two hundred"),
        ("two thousand five hundred", 2500, "two thousand five hundred"),
        ("third", 3, "third"),
        ("third", 1 / 3, "third"),
        ("Third", 22, "Twenty-second"),
        ("twelfth", 20, "twentieth"),
        ("half", 0.5, "half"),
        ("two thirds", 2 / 3, "two thirds"),
        ("three-quarters", 0.75, "three-quarters"),
        ("twice", 2, "twice"),
        ("once", 1, "once"),
    ],
)
def test_a_value_is_written_as_the_literal_is(literal, value, written):
    assert format_like(literal, value) == written
    assert format_like(written, value) == written


@pytest.mark.parametrize(
    ("literal", "value", "rough"),
    [
        ("1", 1.4, "1"),
        ("2", 2.5, "3"),
        ("0", 0.49, "0"),
        ("0%", 0.004, "0%"),
        ("31%", 0.31016, "31%"),
        ("0.0", 0.04, "0.0"),
        ("0.00", -0.0001, "0.00"),
        ("1,000", 1000.5, "1,001"),
        ("1e-3", 0.0014999, "1e-3"),
        ("272e12", 2.7216e14, "272e12"),
        ("12e3", 12345, "12e3"),
        ("1e15", 10**15 + 1, "1e15"),
        ("three", 3.1, "three"),
        ("third", 3.1, "third"),
        ("1", 1e-9, "0"),
    ],
)
def test_what_is_no_whole_number_is_about_one_or_a_fault(literal, value, rough):
    with pytest.raises(ValueError, match=r"the page says .*, the code says .*: "):
        format_like(literal, value)
    assert format_like(literal, value, "about") == rough


@pytest.mark.parametrize("rough", ROUGH)
def test_nearly_is_less_than_the_number(rough):
    assert format_like("3", 2.9, rough) == "3"
    if rough in ("nearly", "almost", "just under"):
        with pytest.raises(ValueError, match="more"):
            format_like("3", 3.1, rough)
    else:
        assert format_like("3", 3.1, rough) == "3"


@pytest.mark.parametrize(
    ("literal", "value"),
    [("half", 0.4), ("two thirds", 0.5), ("twice", 3), ("once", 0), ("three", -1), ("a half", 1)],
)
def test_a_word_that_no_other_can_replace_is_not_repaired(literal, value):
    with pytest.raises(ValueError, match=f"the page says {literal}, the code says {value}: "):
        format_like(literal, value)


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), None, [], 1j])
def test_what_is_no_number_is_written_as_none(value):
    with pytest.raises((TypeError, ValueError)):
        format_like("1", value)


# --- A repair would pass, and shows at least as much as what it replaces

DIGITS = st.from_regex(
    r"[-+−]?(0|[1-9][0-9]{0,2}(,[0-9]{3}){0,2}|[1-9][0-9]{0,8})(\.[0-9]{1,6})?"
    r"([eE][-+]?[0-9]{1,3})?%?",
    fullmatch=True,
)
WORDS = st.builds(
    lambda write, n, big: write(n).capitalize() if big else write(n),
    st.sampled_from([cardinal, ordinal]),
    st.integers(1, 10**9),
    st.booleans(),
)
VALUES = st.one_of(
    st.integers(-(10**18), 10**18),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-2, 2).map(lambda x: round(x, 4)),
    st.fractions(),
)


@given(DIGITS, VALUES, st.sampled_from(["", "about", "nearly"]))
@example("1e3", 10**15 + 1, "")
@example("9.9e3", 99960, "")
def test_a_repair_would_pass_and_loses_no_digit(literal, value, rough):
    try:
        fresh = format_like(literal, value, rough)
    except ValueError:
        return  # refused, and nothing is written
    assert NUMBER.fullmatch(fresh)
    assert format_like(fresh, value, rough) == fresh
    shown, percent = Fraction(plain(fresh)), 100 if fresh.endswith("%") else 1
    unit = Fraction(10) ** (exponent(fresh) - decimals(fresh))
    off = abs(shown - Fraction(value) * percent)
    noise = Fraction(1, 10**12) * max(unit, 1) + Fraction(1, 10**13) * abs(shown)
    assert off <= unit / 2 + noise
    assert decimals(fresh) == decimals(literal)
    if not rough and not decimals(fresh) and not isinstance(value, float):
        assert off <= unit / 10**12
    assert not shown or value


def plain(literal: str) -> str:
    return literal.rstrip("%").replace(",", "").replace("−", "-")


def exponent(literal: str) -> int:
    return int(plain(literal).lower().partition("e")[2] or 0)


def decimals(literal: str) -> int:
    return len(plain(literal).lower().partition("e")[0].partition(".")[2])


@given(DIGITS)
def test_what_a_number_says_is_right_as_it_stands(literal):
    number = Fraction(plain(literal)) / (100 if literal.endswith("%") else 1)
    if literal.startswith(("-", "−")) and not number:
        literal = literal[1:]  # zero has no sign
    if literal.startswith("+") and not number:
        literal = literal[1:]
    assert format_like(literal, number) == literal


@given(WORDS.filter(is_word), st.integers(0, 10**9))
def test_a_word_is_replaced_by_one_that_would_pass(literal, value):
    try:
        fresh = format_like(literal, value)
    except ValueError:
        assert fraction(literal) is not None or is_ordinal(literal)  # of cardinals, all have words
        return
    assert format_like(fresh, value) == fresh
    assert is_word(fresh)
    assert fresh[0].isupper() == literal[0].isupper()


# --- No other sign stands for a number


def test_every_sign_that_unicode_calls_numeric_is_a_numeral():
    for code in range(sys.maxunicode + 1):
        if chr(code).isnumeric():
            assert next(numerals(f"x{chr(code)}"), None), hex(code)


@pytest.mark.parametrize("sign", [*"Ⅳ①⅗⑴五⚅½²₂🂡🀇🔟", "&half;", "&#xBD;", "&frac12;", "&sup2;"])
def test_other_numerals_are_found(sign):
    assert [found[0] for found in numerals(f"a {sign} b")] == [sign]


@pytest.mark.parametrize("sign", [*"aé–“×≈∞→", "&nbsp;", "&amp;", "&ndash;"])
def test_what_is_no_numeral_is_not(sign):
    assert not list(numerals(f"a {sign} b"))
