"""The checker serves any lesson: this one, on sums of doubles, knows nothing of attention."""

import subprocess
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from helpers import SECOND_LESSON, SECOND_SETTINGS, in_lesson, serving, wait_for

CONFIGURATION = ("mkdocs.yml", "lesson.py")


def build(lesson: Path) -> subprocess.CompletedProcess:
    return in_lesson(lesson, "-m", "mkdocs", "build")


def replaced(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


def test_its_configuration_is_fifteen_lines():
    lines = "".join(
        (SECOND_LESSON / name).read_text("utf-8") for name in CONFIGURATION
    ).splitlines()
    assert len([line for line in lines if line.strip()]) <= 15


def test_it_is_built_with_its_figure_table_and_question(second_lesson):
    made = build(second_lesson)
    assert made.returncode == 0, made.stdout + made.stderr
    page = BeautifulSoup(
        (second_lesson / "site/kahan/index.html").read_text("utf-8"), "html.parser"
    )
    assert page.select_one("td:-soup-contains('one by one') + td").text == "-99"
    assert "one by one -99, Kahan 0" in page.select_one("figure svg")["aria-label"]
    computed = page.select_one("details [title^=METHODS][title*=exactly]")
    assert computed.text == "2"


def test_a_drift_of_its_numbers_or_its_module_fails_the_build_and_names_the_place(second_lesson):
    replaced(second_lesson / "docs/index.md", "by 1<!--=", "by 2<!--=")
    replaced(second_lesson / "sums/__init__.py", "lost = (new - total) - more", "lost = 0.0")
    made = build(second_lesson)
    said = made.stdout + made.stderr
    assert made.returncode != 0
    assert "docs/index.md:12: the page says 2, the code says 1" in said
    assert "row 'Kahan', column 'steps off': the page says 0, the code says -99" in said


def test_it_accepts_what_the_code_says(second_lesson):
    page = second_lesson / "docs/kahan.md"
    kept = page.read_text("utf-8")
    replaced(page, "-99", "-98")
    shown = in_lesson(second_lesson, "lesson.py")
    assert shown.returncode == 1
    assert "docs/kahan.md:12: row 'one by one'" in shown.stdout
    assert in_lesson(second_lesson, "lesson.py", "--accept").returncode == 0
    assert page.read_text("utf-8") == kept


@pytest.mark.ci
def test_its_server_follows_a_save_of_page_and_module(second_lesson):
    differs = "This page and the code differ"
    with serving(second_lesson, **SECOND_SETTINGS) as home:
        address = f"{home}kahan/"
        wait_for(address, "-99")
        replaced(second_lesson / "docs/kahan.md", "-99", "-98")
        wait_for(address, differs)
        replaced(second_lesson / "docs/kahan.md", "-98", "-99")
        wait_for(address, "-99", without=differs)
        replaced(second_lesson / "sums/__init__.py", "lost = (new - total) - more", "lost = 0.0")
        wait_for(address, differs)
