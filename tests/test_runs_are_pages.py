"""Every word and number of the runs: a page for each says it, and computes it another way.

The expressions of these pages use Python's own arithmetic, never the package's.
"""

import re
from pathlib import Path

import pytest
from _lesson.checked import process

from attention import RUNS
from attention.runs import run

PAGES = Path(__file__).parent / "runs"
MARK, FENCE = re.compile(r"<!--[=?].*?-->"), re.compile(r"^```pycon\n(.*?)^```\n\n?", re.M | re.S)
CODE = re.compile(r"^(?:>>>|\.\.\.).*\n", re.M)


def text_of(page: str) -> str:
    """What a page prints: its sentences and the output of its blocks."""
    printed = FENCE.sub(lambda block: f"{out}\n" if (out := CODE.sub("", block[1])) else "", page)
    return MARK.sub("", printed).replace("`", "").rstrip("\n")


def test_each_run_has_its_page():
    assert {page.stem for page in PAGES.glob("*.md")} == set(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_what_a_run_prints_is_what_its_page_says(name):
    assert run(name) == text_of((PAGES / f"{name}.md").read_text("utf-8"))


@pytest.mark.parametrize("name", RUNS)
def test_what_a_page_says_is_computed_another_way(name):
    checked = process((PAGES / f"{name}.md").read_text("utf-8"), f"tests/runs/{name}.md")
    assert checked.problems == []
