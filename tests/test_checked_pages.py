"""A number on a page is computed, compared or declared; a changed one is reported."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from _lesson.checked.command import ROOT, check, read, report, sources
from _lesson.checked.command import main as command
from _lesson.checked.document import edited, process
from _lesson.checked.numerals import like
from conftest import chapters

PAGES = sources()
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
    pages = check({name: text}, limit) if limit else {name: process(text, name)}
    return [line.removeprefix(f"{name}:") for line in report(pages)]


# --- The pages of this project


@pytest.fixture(scope="module")
def checked():
    return check(PAGES)


def test_no_page_differs_from_its_code(checked):
    assert report(checked) == []


@pytest.mark.parametrize("name", PAGES)
def test_every_block_and_number_that_the_eye_can_count_was_checked(checked, name):
    text = PAGES[name]
    prompts = len(re.findall(r"^ *>>>", text, re.MULTILINE))
    marks = re.sub("```pycon.*?```", "", text, flags=re.DOTALL).count("<!--=")
    assert (checked[name].examples, checked[name].numbers) == (prompts, marks)


def test_the_chapters_hold_blocks_and_numbers_at_all(checked):
    assert len(chapters()) == 7
    for name in (f"docs/{page.strip('/')}.md" for page in chapters()):
        assert checked[name].examples >= 15
        assert checked[name].numbers >= 10


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


def test_a_chapters_heading_carries_the_number_of_its_file():
    assert problems("# 3 Scale\n", "docs/3-scale.md") == []
    assert problems("# 4 Scale\n", "docs/3-scale.md") == [
        "1: the heading says 4, the file's name 3"
    ]


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
        ("```text\n>>> x = y\n```\n", "1: the page has"),
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
        assert report(check(texts)) == []


def test_pages_give_the_same_in_any_order(checked):
    again = check(dict(reversed(PAGES.items())))
    assert {name: page.site for name, page in again.items()} == {
        name: page.site for name, page in checked.items()
    }


# --- Accepting a change


@pytest.fixture
def copy(tmp_path):
    """A copy of the project that a test may change, and a way to run its command."""
    names = ("attention", "docs", "tests/data", "mkdocs.yml", "pyproject.toml", "README.md")
    for name in names:
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, tmp_path / name, ignore=ignore)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def run_check(copy: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-B", copy / "docs/_lesson/checked/command.py", *arguments],
        cwd=copy,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


DRIFTED = (
    "# A page – with “UTF-8”\n\nA weight of 0.30<!--= w[0] --> here.\n\n"
    "```pycon\n>>> w = [0.25]\n>>> print(f'é {w[0]}')\né 0.24\n```\n\n"
    "And 0.31<!--= w[0] --> there, 0.25<!--= w[0] --> too.\n"
).replace("A weight of 0.30<!--= w[0] --> here.", "No digit.").replace("UTF-8", "UTF")  # fmt: skip
MENDED = DRIFTED.replace("0.24", "0.25").replace("0.31", "0.25")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_accept_writes_outputs_and_leaves_the_rest_byte_for_byte(copy, newline):
    page = copy / "docs" / "page.md"
    page.write_bytes(DRIFTED.replace("\n", newline).encode())
    shown = run_check(copy, "docs/page.md")
    assert shown.returncode == 1
    assert "docs/page.md:8: é [-0.24-]{+0.25+}" in shown.stdout
    assert page.read_bytes() == DRIFTED.replace("\n", newline).encode()
    written = run_check(copy, "--accept", "docs/page.md")
    assert written.returncode == 0
    assert page.read_bytes() == MENDED.replace("\n", newline).encode()
    again = run_check(copy, "--accept", "docs/page.md")
    assert again.returncode == 0
    assert page.read_bytes() == MENDED.replace("\n", newline).encode()


def test_accept_takes_one_line(copy):
    page = copy / "docs" / "page.md"
    page.write_text(DRIFTED, "utf-8")
    assert run_check(copy, "--accept", "docs/page.md:11").returncode == 1
    assert page.read_text("utf-8") == DRIFTED.replace("0.31", "0.25")


def test_accept_says_where_else_an_expression_stands(copy):
    (copy / "docs" / "page.md").write_text(DRIFTED, "utf-8")
    shown = run_check(copy, "docs/page.md:11").stdout
    assert "docs/page.md:11: [-0.31-]{+0.25+}" in shown
    assert "w[0] also stands at docs/page.md:11" in shown


@pytest.mark.parametrize("failing", ["1 / 0", "import warnings; warnings.warn('hm')"])
def test_accept_never_takes_a_page_whose_code_fails(copy, failing):
    page = copy / "docs" / "page.md"
    text = DRIFTED + f"```pycon\n>>> {failing}\nsomething\n```\n"
    page.write_text(text, "utf-8")
    written = run_check(copy, "--accept", "docs/page.md")
    assert written.returncode == 1
    assert "not written" in written.stdout
    assert page.read_text("utf-8") == text


def test_accept_refuses_a_page_that_is_not_there(capsys):
    with pytest.raises(SystemExit) as ended:
        command(["docs/nowhere.md"])
    assert ended.value.code == 2
    assert "no page docs/nowhere.md" in capsys.readouterr().err


# --- Numbers are written as their neighbours are


@pytest.mark.parametrize(
    ("literal", "value", "written"),
    [
        ("0.5", 0.25, "0.2"),
        ("1", 41.0, "41"),
        ("1,000", 1234567, "1,234,567"),
        ("1,000.5", 1234567.25, "1,234,567.2"),
        ("5%", 0.257, "26%"),
        ("5.0%", 0.257, "25.7%"),
        ("2e-6", 0.00000312, "3e-6"),
        ("2.0e-06", 0.00000312, "3.1e-06"),
        ("0.00", -0.0001, "0.00"),
        ("−1", -2, "−2"),
        ("+1", 2, "+2"),
        ("+1", -2, "-2"),
        ("three", 4, "four"),
        ("Three", 4, "Four"),
        ("1", 2**70 + 1, "1180591620717411303425"),
        ("a", "text", "text"),
    ],
)
def test_a_value_is_written_as_the_literal_is(literal, value, written):
    assert like(literal, value) == written


def test_edits_touch_nothing_else():
    assert edited("abcdef", [(4, 5, "E"), (1, 2, "")]) == "acdEf"


# --- The build


def build(copy: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build"],
        cwd=copy,
        env={**os.environ, "NOTEBOOK": "false"},
        capture_output=True,
        text=True,
    )


def test_a_plain_build_fails_and_names_every_place(copy):
    one, two = copy / "docs/one-query.md", copy / "docs/index.md"
    text = read(one)
    line = text[: text.index("0.3611<!--=")].count("\n") + 1
    one.write_text(text.replace("0.3611<!--=", "0.3612<!--=", 1), "utf-8")
    two.write_text(read(two) + "\nA loose 5.\n", "utf-8")
    made = build(copy)
    assert made.returncode != 0
    said = made.stdout + made.stderr
    assert f"docs/one-query.md:{line}: the page says 0.3612, the code says 0.3611" in said
    assert f"docs/index.md:{len(read(two).splitlines())}: 5 is neither" in said


@pytest.mark.ci
def test_a_plain_build_fails_where_code_ends_the_process(copy):
    page = copy / "docs/index.md"
    page.write_text(read(page) + "\n```pycon\n>>> import os; os._exit(0)\n```\n", "utf-8")
    made = build(copy)
    assert made.returncode != 0
    assert "the code ended the process, with 0" in made.stdout + made.stderr


@pytest.mark.ci
def test_a_plain_build_fails_on_what_is_only_a_warning_elsewhere(copy):
    """A dead link, a dead anchor and a formula that does not parse."""
    page = copy / "docs/index.md"
    dead = "[dead](nowhere.md), [dead](run-it.md#nowhere), $\\frac{$\n"
    page.write_text(f"{read(page)}\n{dead}", "utf-8")
    made = build(copy)
    assert made.returncode != 0
    said = made.stdout + made.stderr
    for part in ("nowhere.md", "#nowhere", "\\frac{"):
        assert part in said
    assert "the build gave 3 warnings" in said


# --- The author's server


def wait_for(address: str, text: str, without: str | None = None) -> str:
    """Ask for a page until it says `text` (and no longer says `without`)."""
    page, end = "", time.monotonic() + 40
    while time.monotonic() < end:
        try:
            page = urllib.request.urlopen(address, timeout=10).read().decode()
        except OSError:
            page = ""
        if text in page and not (without and without in page):
            return page
        time.sleep(0.2)
    pytest.fail(f"{address} never said {text!r}, but {page[:2000]!r}")


@pytest.mark.ci
def test_serve_shows_a_drift_lives_on_and_clears_it(copy):
    page, module = copy / "docs/one-query.md", copy / "attention/examples.py"
    kept = read(page)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"],
        cwd=copy,
        env={name: value for name, value in os.environ.items() if name != "SITE_URL"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(server.stdout), daemon=True)
    reader.start()
    address = f"http://127.0.0.1:{port}/one-query/"
    search = f"http://127.0.0.1:{port}/search/search_index.json"
    try:
        wait_for(address, "0.3611")
        found = wait_for(search, "One query")
        page.write_text(kept.replace("0.3611<!--=", "0.3612<!--="), "utf-8")
        wait_for(address, "the page says 0.3612, the code says 0.3611")
        drawn = '\n```python exec="true" html="true"\nprint("<hr>"); print(1 / nothing)\n```\n'
        page.write_text(f"{kept}\n```pycon\n>>> print(1 / 0)\n```\n{drawn}", "utf-8")
        failed = wait_for(address, "ZeroDivisionError")
        assert "NameError" in failed
        assert "ZeroDivisionError" in wait_for(search, "One query")
        assert failed.count("<figure") == kept.count("from _lesson")  # what does not fail is shown
        page.write_text(kept, "utf-8")
        wait_for(address, "0.3611", without="This page and the code differ")
        text = read(module)
        module.write_text(text.replace("[0.6, 0.7, 0.8]", "[0.6, 0.7, 0.9]"), "utf-8")
        wait_for(address, "row &#x27;best&#x27;")
        module.write_text("this is no Python", "utf-8")
        wait_for(address, "SyntaxError")
        module.write_text(text, "utf-8")
        wait_for(address, "0.3611", without="This page and the code differ")
        wait_for(address.replace("one-query", "code/attention"), "run_one")
        assert wait_for(search, "One query") == found
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait()
        reader.join()
        server.stdout.close()
    said = "".join(lines)
    assert "docs/one-query.md" in said
    assert "ZeroDivisionError" in said
