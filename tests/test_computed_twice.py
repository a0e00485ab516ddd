"""A page that is computed twice says the same twice, and its prose changes nothing."""

import dataclasses

import pytest
from _lesson import lesson
from _lesson.checked import Checking, check

CONFIG = dataclasses.replace(lesson.config(), modules=("numpy",), preload=("numpy.random",))
SYSTEM = "__import__('random').SystemRandom()"
SEEDED = """```pycon
>>> import random
>>> import numpy as np
>>> random.seed(7)
>>> rng = np.random.default_rng(7)
>>> x, w, steps = [random.random(), rng.random()], [3, 1, 2], iter("abc")
```

It is {}.

```pycon
>>> print(w, next(steps))
{} a
```

{}
"""


def said(*pages: str, **options) -> list[list[str]]:
    texts = {f"docs/page-{number}.md": text for number, text in enumerate(pages)}
    found = Checking(texts, CONFIG, **options).pages()
    return [[message for _, message in page.problems] for page in found.values()]


def page(prose: str, code: str = "", printed: str = "[3, 1, 2]", behind: str = "") -> str:
    return (f"```pycon\n>>> {code}\n```\n\n" if code else "") + SEEDED.format(
        prose, printed, behind
    )


ABOUT = "about 0<!--= y -->"  # which all of these are, each time
RANDOM = {
    "a draw in an expression": page(f"about 0<!--= {SYSTEM}.random() / 9 -->"),
    "a draw in a block": page(ABOUT, f"y = {SYSTEM}.random() / 9"),
    "a global stream": page(ABOUT, "import random; y = random.random() / 9"),
    "numpy's global stream": page(ABOUT, "import numpy; y = numpy.random.rand() / 9"),
    "an unseeded generator": page(
        ABOUT, "from numpy.random import *; y = default_rng().random() / 9"
    ),
    "the time": page(ABOUT, "import time; y = time.perf_counter() * 1e-9"),
    "a process's number": page(ABOUT, "import os; y = os.getpid() * 1e-9"),
    "the order of a set": page(
        ABOUT, "y = int(''.join(str(ord(x)) for x in {*'abcdefgh'})) * 1e-30"
    ),
    "where an object lies": page(ABOUT, "y = id(object()) * 1e-30"),
}
MEDDLING = {
    "a sort": page("1<!--= w.sort() or w[0] -->", printed="[1, 2, 3]"),
    "an entry that is set": page("3<!--= w.__setitem__(1, 3) or w[0] -->", printed="[3, 3, 2]"),
    "a list that grows": page("3<!--= w.append(4) or 3 -->", printed="[3, 1, 2, 4]"),
    "an iterator that moves on": page("1<!--= len(next(steps)) -->").replace("2] a", "2] b"),
    "a module that is changed": page(
        "3<!--= setattr(random, 'seen', True) or w[0] -->",
        behind="```pycon\n>>> print(hasattr(random, 'seen'))\nTrue\n```",
    ),
    "a figure": page("3<!--= w[0] -->", printed="[1, 2, 3]")
    .replace("It is", '```python exec="true" html="true"\nprint(w.sort())\n```\n\nIt is')
    .replace("3<!--= w[0] -->", "1<!--= w[0] -->"),
    "what a later block fails without": page(
        "3<!--= setattr(random, 'seen', 3) or w[0] -->",
        behind="```pycon\n>>> print(random.seen)\n3\n```",
    ),
}


def test_whatever_is_not_the_same_twice_is_found(monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # the order of sets differs all the same
    for name, found in zip(RANDOM, said(*RANDOM.values()), strict=True):
        assert any("once this is" in message for message in found), (name, found)


def test_whatever_prose_changes_is_found():
    for name, found in zip(MEDDLING, said(*MEDDLING.values()), strict=True):
        assert any("of the text change what this prints" in one for one in found), (name, found)


def test_what_a_figure_draws_is_the_same_twice():
    draws = '```python exec="true"\nimport time\nprint(time.perf_counter())\n```\n'
    (found,) = said(draws)
    assert "a second run prints something else" in found[0]


@pytest.mark.parametrize("value", ["x[0]", "x[1]", "sum(x)", "sorted(w)[0] * x[0]", "0.31"])
def test_a_seeded_page_is_the_same_twice(value):
    text = page(f"0.5<!--= {value} -->")
    once = Checking({"docs/page.md": text}, CONFIG, twice=False).pages()["docs/page.md"]
    assert check({"docs/page.md": text}, CONFIG)["docs/page.md"] == once


def test_where_an_author_waits_it_is_computed_once():
    assert said(RANDOM["a draw in a block"], twice=False) == [[]]


def test_numbers_that_json_does_not_know_are_compared_too():
    exact = "It is 0.33<!--= __import__('fractions').Fraction(1, 3) -->.\n"
    assert said(exact) == [[]]
