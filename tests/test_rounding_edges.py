"""A number that lies where rounding could go either way is found, wherever it is written."""

import pytest
from conftest import need

pytestmark = pytest.mark.ci


@pytest.fixture(scope="module")
def exact():
    try:
        from tests.audit import exact
    except ImportError as error:
        need(None, f"{error.name} (.ci/requirements.txt)")
    return exact


CODE = """```pycon
>>> import numpy as np
>>> from attention import softmax, table
>>> x = {}
{}
```
"""
WAYS = {
    "a format": (">>> print(f'{x:.2f}')", "{:.2f}"),
    "a table": (">>> print(table(['x'], [[f'{x:.2f}']]))", "| {:4.2f} |"),
    "an array": (">>> print((np.array([x]) * 1).round(2))", "[{:.2f}]"),
}


def page(value, code, printed):
    header = "|    x |\n| ---: |\n" if printed.startswith("|") else ""
    return CODE.format(value, f"{code}\n{header}{printed.format(value)}")


@pytest.mark.parametrize("way", WAYS)
def test_an_edge_is_found_in_an_output(exact, way):
    on_edge, _ = exact.measure(page(0.375, *WAYS[way]), "docs/page.md")
    assert [place.line for place in exact.near(on_edge)] == [5]
    beside, plainly = exact.measure(page(0.376, *WAYS[way]), "docs/page.md")
    assert len(beside) == 1
    assert not plainly
    assert not exact.near(beside)


def test_a_double_that_is_shown_to_its_last_digit_is_near_an_edge(exact):
    code = ">>> print(softmax(np.log([1.0, x]))[0])\n0.25"
    places, _ = exact.measure(CODE.format(3, code), "docs/page.md")
    assert not exact.near(places)  # the true value is as short as what is shown
    code = ">>> print(float(np.exp(np.float64(x))))\n20.085536923187668"
    places, _ = exact.measure(CODE.format(3, code), "docs/page.md")
    assert len(exact.near(places)) == 1


@pytest.mark.parametrize(
    ("prose", "near"),
    [
        ("0.38<!--= 0.375 -->", True),
        ("0.38<!--= 0.376 -->", False),
        ("38%<!--= 0.375 -->", True),
        ("37.5%<!--= 0.375 -->", False),
        ("1.3e-3<!--= 0.00125 -->", True),
        ("1.3e-3<!--= 0.00126 -->", False),
        ("`(0.38, 0.25)`<!--= 0.375, 0.25 -->", True),
        ("3<!--= 3 -->", False),
    ],
)
def test_an_edge_is_found_in_prose(exact, prose, near):
    places, _ = exact.measure(f"It is {prose}.\n", "docs/page.md")
    assert bool(exact.near(places)) == near


def test_the_values_are_true_to_more_digits_than_a_double_has(exact):
    text = CODE.format(0.5, ">>> third = softmax(np.zeros(3))[0]") + "0.3333<!--= third -->\n"
    ((place,), _) = exact.measure(text, "docs/page.md")
    assert 0 < place.error < 1e-11  # what the double is off, in units of the last digit
    assert place.distance == pytest.approx(1 / 6)


def test_what_only_doubles_show_is_shown_as_they_do(exact):
    code = """>>> big = np.array([1100.0, 1099.0])
>>> with np.errstate(over="ignore", invalid="ignore"):
...     print(np.exp(big), np.exp(-big))
[inf inf] [0. 0.]
>>> print(np.array([1.0, 0.0], dtype=np.float32).dtype, softmax(big).round(4))
float32 [0.7311 0.2689]"""
    places, plainly = exact.measure(CODE.format(1, code), "docs/page.md")
    assert not plainly
    assert len(places) == 2
