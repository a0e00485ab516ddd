"""A number on a page is computed, compared or declared; a changed one is reported."""

import dataclasses
import re

import pytest
from _lesson import lesson
from _lesson.checked import Config, check, process, report
from _lesson.checked.records import edited
from helpers import chapters

CONFIG = lesson.config()
PAGES = CONFIG.sources()
CODE = """
```pycon
>>> w = [0.25, 0.75]
>>> print(w[0])
0.25
```
"""


def problems(text: str, name: str = "docs/page.md", limit: float | None = None) -> list[str]:
    """What the check says of a page, without the page's name.

    The page runs in this process, which is quicker, or with `limit` in one of its own.
    """
    pages = check({name: text}, CONFIG, limit) if limit else {name: process(text, name, CONFIG)}
    return [line.removeprefix(f"{name}:") for line in report(pages)]


# --- The pages of this project


whole = pytest.mark.xdist_group("all pages")  # one process checks them all, once


@pytest.fixture(scope="module")
def checked():
    return check(PAGES, CONFIG)


@whole
def test_no_page_differs_from_its_code(checked):
    assert report(checked) == []


@whole
@pytest.mark.parametrize("name", PAGES)
def test_every_block_and_number_that_the_eye_can_count_was_checked(checked, name):
    text = PAGES[name]
    prompts = len(re.findall(r"^ *>>>", text, re.MULTILINE))
    marks = re.findall("<!--[=?]", re.sub("```pycon.*?```", "", text, flags=re.DOTALL))
    assert (checked[name].examples, checked[name].marks) == (prompts, len(marks))


@whole
def test_the_chapters_hold_blocks_and_numbers_at_all(checked):
    assert len(chapters()) >= 11
    for name in (f"docs/{page.strip('/')}.md" for page in chapters()):
        assert checked[name].examples >= 15
        assert checked[name].numbers >= 5


# --- A drift names its place and both values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It is 0.26<!--= w[0] -->.", "8: the page says 0.26, the code says 0.25 (w[0])"),
        ("It is 26%<!--= w[0] -->.", "8: the page says 26%, the code says 25% (w[0])"),
        ("It has Three<!--= len(w) -->.", "8: the page says Three, the code says Two (len(w))"),
        ("| 0.26<!--= w[0] --> |", "8: the page says 0.26, the code says 0.25 (w[0])"),
        ("`w = (0.25, 0.7)`<!--= w -->", "8: the page says 0.7, the code says 0.8 (w)"),
        ("$w_0 = 0.26$<!--= 0, w[0] -->", "8: the page says 0.26, the code says 0.25 (0, w[0])"),
        ("2017<!--= 2018 -->", "8: the page says 2017, the code says 2018 (2018)"),
        ("-0.25<!--= w[0] -->", "8: the page says -0.25, the code says 0.25 (w[0])"),
        ("1,024<!--= 2048 -->", "8: the page says 1,024, the code says 2,048 (2048)"),
    ],
)
def test_a_number_in_prose_that_drifted(text, said):
    assert problems(f"{CODE}\n{text}\n") == [said]


def test_a_drifted_line_of_output():
    said = problems("```pycon\n>>> print('a\\nb 1')\na\nb 2\n```\n")
    assert said == ["4: the page says b 2, the code says b 1"]


def test_a_drifted_cell_of_a_table_is_named_by_row_and_column():
    table = "| key | alpha |\\n|---|--:|\\n| is | 0.1 |\\n| the | 0.9 |"
    shown = table.replace("\\n", "\n").replace("0.9", "0.8")
    said = problems(f"```pycon\n>>> print('{table}')\n{shown}\n```\n")
    assert said == ["6: row 'the', column 'alpha': the page says 0.8, the code says 0.9"]


def test_all_drifts_are_said_not_only_the_first():
    text = CODE.replace("0.25\n", "0.24\n") + "1<!--= 2 --> and 3<!--= 4 -->\n"
    assert len(problems(text)) == 3


def test_a_missing_and_a_superfluous_line_of_output():
    assert problems("```pycon\n>>> print(1)\n```\n") == [
        "3: the page says nothing, the code says 1"
    ]
    assert problems("```pycon\n>>> x = 1\n1\n```\n") == [
        "3: the page says 1, the code says nothing"
    ]


# --- A numeral that is neither computed nor declared


@pytest.mark.parametrize(
    "text",
    [
        "A weight of 0.5.",
        "It grew 16-fold.",
        "Use float32 here.",
        "D² grows.",
        "½ of it",
        "## Section 2",
        "# 2 A chapter in a file without a number",
        "* 3 keys",
        "2. the second item, first in its list",
        "1. one\n3. three",
        "| a |\n|---|\n| 0.5 |",
        "> 0.5",
        "`x = 5`",
        "`float33`",
        "$2^n$",
        "$$\n2^n\n$$",
        "[chapter 3](index.md)",
        "[there](9-nowhere.md)",
        "[there](https://example.org/2017)",
        "![a plot of 5 bars](index.md)",
        '<img alt="5 bars">',
        '??? question "Why 5?"',
        "<!-- 5 -->",
        "    an indented block with a 5",
        "---\ntitle: 5 keys\n---",
        "```text\n5\n```",
        "```console\n$ python3 x.py 5\n```",
        '```python exec="true"\nprint("5 bars")\n```',
        "0.25 <!--= 0.25 -->",
        "**0.25**<!--= 0.25 -->",
        "[^1]: a footnote",
        "&#53; keys",
    ],
)
def test_a_numeral_that_nothing_checks_is_an_error(text):
    said = problems(text)
    assert said
    assert re.match(r"\d+: ", said[0])


@pytest.mark.parametrize(
    "text",
    [
        "No number.",
        "1. one\n2. two\n\n    more\n\n3. three",
        "1. one\n\nText.\n\n1. a new list",
        "`float32` and `log2` and `w`",
        "[there](one-query.md)",
        "0.25<!--= 0.25 -->",
        "1e-3<!--= 0.001 -->",
        "−1<!--= -1 -->",
        "10%<!--= 0.1 -->",
        "`a-1`<!--= 1 -->",
        "[x](https://example.org/2017)<!--= 2017 -->",
        '```python exec="true"\nprint("bars")\n```',
        "```console\n$ python3 -m venv\n```",
    ],
)
def test_what_is_checked_or_holds_no_number_passes(text):
    assert problems(text) == []


THREE = Config(chapters={"docs/scale.md": 3})


@pytest.mark.parametrize(
    "said",
    [
        "[Chapter three](scale.md) says so.",
        "So says [the third chapter](scale.md#how).",
        "So says [the idea of chapter 3](scale.md).",
        "Chapters come later, in `chapter one`.",
    ],
)
def test_a_chapters_number_goes_with_a_link_to_it(said):
    assert process(said, "docs/page.md", THREE).problems == []


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("[Chapter four](scale.md)", "the page says chapter four, the navigation says three"),
        ("[Chapter 4](scale.md)", "the page says chapter 4, the navigation says 3"),
        ("the [Second chapter](scale.md)", "the page says Second chapter, the navigation says Thi"),
        ("Chapter three says so.", "leads to no chapter"),
        ("[chapter three](index.md)", "leads to no chapter"),
        ("chapter three, and [scale](scale.md)", "leads to no chapter"),
        ("# 3 Scale", "3 is neither computed nor declared"),
    ],
)
def test_a_chapters_number_is_that_of_the_navigation(said, why):
    (problem,) = process(said, "docs/page.md", THREE).problems
    assert why in problem.message


def test_a_chapters_number_is_mended_where_it_stands():
    text = "[Chapter four](scale.md), [the first chapter](scale.md).\n"
    changes = process(text, "docs/page.md", THREE).changes
    assert edited(text, changes) == "[Chapter three](scale.md), [the third chapter](scale.md).\n"


# --- Nothing passes in silence


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "3: ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "3: SystemExit: 0"),
        ("import os; os._exit(0)", "3: the code ended the process, with 0"),
        ("import os; os.abort()", "3: the code ended the process, with -6"),
        ("x = (1", "3: SyntaxError: '(' was never closed"),
        ("import warnings; warnings.warn('hm')", "3: UserWarning: hm"),
        ("import numpy as np; print(np.log(0.0))", "3: RuntimeWarning: divide by zero"),
        ("import os; n = os.write(1, b'hi')", "3: wrote past the capture"),
        ("import sys; n = sys.stderr.write('hi')", "3: wrote past the capture"),
        ("import sys; n = sys.__stdout__.write('hi')", "3: wrote past the capture"),
        ("import subprocess as s; r = s.run(['echo', 'hi'])", "3: wrote past the capture"),
        ("import logging; logging.warning('hi')", "3: wrote past the capture"),
        ("input()", "3: EOFError"),
        ("while True: pass", "3: the page's code went on for 2 seconds: stopped"),
        ("1 + 1", "3: ValueError: a bare expression"),
        ("x = 1  # doctest: +SKIP", "3: a doctest option would hide a drift"),
    ],
)
def test_code_that_fails_is_an_error_with_its_place(code, said):
    found = problems(f"\n```pycon\n>>> {code}\n```\n", limit=2)
    assert [line for line in found if line.startswith(said)]


def test_an_exception_names_the_line_inside_a_long_example():
    code = ">>> def f():\n...     x = 1\n...     return x / 0\n>>> print(f())"
    assert problems(f"```pycon\n{code}\n```\n") == ["4: ZeroDivisionError: division by zero"]


def test_an_expression_that_fails_names_its_line():
    assert problems("\n5<!--= nope -->\n") == ["2: nope: NameError: name 'nope' is not defined"]
    assert "holds 1 numbers, 1, 2 gives 2" in problems("5<!--= 1, 2 -->\n")[0]
    assert "true or false" in problems("1<!--= True -->\n")[0]
    assert "nan" in problems("1<!--= float('nan') -->\n")[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```pycon\n>>> x = 1\n", "1: this fence is never closed"),
        ("```pycn\n>>> x = 1\n```\n", "1: unknown fence ```pycn"),
        ("```python\nx = 1\n```\n", "1: unknown fence ```python"),
        ("```pycon title=x\n>>> x = 1\n```\n", "1: unknown fence"),
        ('```python exec=true\nprint("a")\n```\n', "1: unknown fence"),
        ('```python exec="true" htlm="true"\nprint("a")\n```\n', "1: unknown fence"),
        ('```python exec="true"\nx = "a"\n```\n', "1: this block prints nothing"),
        ("~~~pycon\n>>> x = 1\n~~~\n", "1: write a fence with ```"),
        ("```pycon\nx = 1\n```\n", "2: this line belongs to no example"),
        ("```pycon\n```\n", "1: no example"),
        ("```pycon\n>>> print('a')\na\n\nb\n```\n", "5: this line belongs to no example"),
        ("```pycon\n>>> raise ValueError\nTraceback (most recent call last):\nValueError\n```\n",
         "2: a traceback is no output"),
        (">>> x = y\n", "1: the page has"),
        ("```text\n>>> x = y\n```\n", "2: the page has"),
        ("```pycon\n>>>x = y\n```\n", "2: "),
    ],
)  # fmt: skip
def test_a_block_that_would_not_be_checked_is_an_error(text, said):
    assert [line for line in problems(text) if line.startswith(said)], problems(text)


# --- Each page alone


def test_nothing_leaks_from_page_to_page():
    meddler = """```pycon
>>> import numpy as np, attention, random, os
>>> secret = 1
>>> _ = np.set_printoptions(precision=1)
>>> old = np.seterr(all="ignore")
>>> attention.softmax = None
>>> attention.secret = 1
>>> os.environ["SECRET"] = "x"
```
"""
    witness = """```pycon
>>> import numpy as np, attention, os
>>> print("secret" in globals(), hasattr(attention, "secret"), "SECRET" in os.environ)
False False False
>>> print(np.array([0.123456]), np.geterr()["divide"], attention.softmax is None)
[0.123456] warn False
```
"""
    for names in (("docs/a.md", "docs/b.md"), ("docs/b.md", "docs/a.md")):
        texts = dict(zip(names, (meddler, witness), strict=True))
        assert report(check(texts, CONFIG)) == []


@pytest.mark.ci
def test_pages_give_the_same_in_any_order(checked):
    assert check(dict(reversed(PAGES.items())), CONFIG) == checked


# --- Files that are not as they should be


def test_a_page_in_another_encoding_is_named_with_its_line(checkout):
    (checkout / "docs/page.md").write_bytes("# Seite\n\nGr\u00f6\u00dfe\n".encode("latin-1"))
    config = dataclasses.replace(CONFIG, root=checkout)
    text = config.sources()["docs/page.md"]
    assert "3: a byte that is not UTF-8, 0xf6: save the page as UTF-8" in problems(text)


def test_a_broken_file_of_measurements_is_named(checkout):
    (checkout / "docs/page.md").write_text("# Page\n", "utf-8")
    (checkout / "docs/page.json").write_text("{", "utf-8")
    config = dataclasses.replace(CONFIG, root=checkout)
    ((line, message),) = process("# Page\n", "docs/page.md", config).problems
    assert line == 1
    assert message.startswith("page.json beside the page is no JSON: ")


def test_what_an_editor_hides_is_no_page(checkout):
    (checkout / "docs/.#index.md").symlink_to("author@machine.1234")
    (checkout / "docs/.index.md.swp.md").write_text("A loose 5.\n", "utf-8")
    assert dataclasses.replace(CONFIG, root=checkout).sources().keys() == PAGES.keys()


def test_a_prompt_or_an_expression_outside_of_its_place_is_named_by_its_line():
    (prompt,) = problems("# Page\n\n<pre>\n>>> x\n</pre>\n")
    assert prompt.startswith("4: the page has 1 prompts")
    (mark,) = problems("# Page\n\n```text\nfive\n<!--= n -->\n```\n")
    assert mark.startswith("5: the page has 0 prompts and 1 expressions")
