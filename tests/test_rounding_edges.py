"""A number that lies where rounding could go either way is found, wherever it is written."""

import pytest
from _lesson.checked import Config
from helpers import importable, need

pytestmark = pytest.mark.ci


@pytest.fixture(scope="module")
def measure():
    """Each number of a page, by its text; the page runs in a process of its own."""
    need(importable("threadpoolctl"), "threadpoolctl (.ci/requirements.txt)")
    from tests.audit.precision import measure_all

    return lambda text: measure_all({"docs/page.md": text}, Config())["docs/page.md"]


CODE = """```pycon
>>> import numpy as np
>>> from attention import softmax, table
>>> from attention.runs import fixed_point
>>> x = {}
{}
```
"""
WAYS = {
    "a format": (">>> print(f'{x:.2f}')", "{:.2f}"),
    "a table": (">>> print(table(['x'], [[f'{x:.2f}']]))", "| {:4.2f} |"),
    "an array": (">>> print((np.array([x]) * 1).round(2))", "[{:.2f}]"),
    "a function": (">>> print(format(x, '.2f'), round(x + 1, 1) > 0)", "{:.2f} True"),
    "the package": (">>> print(fixed_point(x, 2))", "{:.2f}"),
}


def page(value, code, printed):
    header = "|    x |\n| ---: |\n" if printed.startswith("|") else ""
    return CODE.format(value, f"{code}\n{header}{printed.format(value)}")


@pytest.mark.parametrize("way", WAYS)
def test_an_edge_is_found_in_an_output(measure, way):
    on_edge = measure(page(0.375, *WAYS[way]))
    assert {place.line for place in on_edge if place.near} == {6}
    beside = measure(page(0.376, *WAYS[way]))
    assert len(beside) >= 1
    assert not any(place.near for place in beside)


def test_a_double_that_is_shown_to_its_last_digit_is_near_an_edge(measure):
    code = ">>> print(float(np.exp(np.float64(x))))\n20.085536923187668"
    places = measure(CODE.format(3, code))
    assert [place.near for place in places] == [True]


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
def test_an_edge_is_found_in_prose(measure, prose, near):
    assert any(place.near for place in measure(f"It is {prose}.\n")) == near


def test_what_overflows_is_left_out_and_what_is_rounded_is_not(measure):
    code = """>>> big = np.array([1100.0, 1099.0])
>>> with np.errstate(over="ignore", invalid="ignore"):
...     print(np.exp(big), np.exp(-big))
[inf inf] [0. 0.]
>>> print(np.array([1.0, 0.0], dtype=np.float32).dtype, softmax(big).round(4))
float32 [0.7311 0.2689]"""
    assert [place.line for place in measure(CODE.format(1, code))] == [10, 10]
