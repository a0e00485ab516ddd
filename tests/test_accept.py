"""An author accepts what the code says: just that is written, and nothing is lost."""

import subprocess
from pathlib import Path

import pytest
from _lesson import lesson
from _lesson.checked.command import main
from _lesson.checked.records import edited
from helpers import in_lesson


def run_check(lesson: Path, *arguments: str) -> subprocess.CompletedProcess:
    return in_lesson(lesson, "lesson.py", *arguments)


DRIFTED = (
    "# A page – with “UTF-8”\n\nA weight of 0.30<!--= w[0] --> here.\n\n"
    "```pycon\n>>> w = [0.25]\n>>> print(f'é {w[0]}')\né 0.24\n```\n\n"
    "And 0.31<!--= w[0] --> there, 0.25<!--= w[0] --> too.\n"
).replace("A weight of 0.30<!--= w[0] --> here.", "No digit.").replace("UTF-8", "UTF")  # fmt: skip
MENDED = DRIFTED.replace("0.24", "0.25").replace("0.31", "0.25")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_accept_writes_outputs_and_leaves_the_rest_byte_for_byte(second_lesson, newline):
    page = second_lesson / "docs" / "page.md"
    page.write_bytes(DRIFTED.replace("\n", newline).encode())
    shown = run_check(second_lesson, "docs/page.md")
    assert shown.returncode == 1
    assert "docs/page.md:8: é [-0.24-]{+0.25+}" in shown.stdout
    assert page.read_bytes() == DRIFTED.replace("\n", newline).encode()
    written = run_check(second_lesson, "--accept", "docs/page.md")
    assert written.returncode == 0
    assert page.read_bytes() == MENDED.replace("\n", newline).encode()
    again = run_check(second_lesson, "--accept", "docs/page.md")
    assert again.returncode == 0
    assert page.read_bytes() == MENDED.replace("\n", newline).encode()


def test_accept_takes_one_line(second_lesson):
    page = second_lesson / "docs" / "page.md"
    page.write_text(DRIFTED, "utf-8")
    assert run_check(second_lesson, "--accept", "docs/page.md:11").returncode == 1
    assert page.read_text("utf-8") == DRIFTED.replace("0.31", "0.25")


def test_accept_says_where_else_an_expression_stands(second_lesson):
    (second_lesson / "docs" / "page.md").write_text(DRIFTED, "utf-8")
    shown = run_check(second_lesson, "docs/page.md:11").stdout
    assert "docs/page.md:11: [-0.31-]{+0.25+}" in shown
    assert "w[0] also stands at docs/page.md:11" in shown


@pytest.mark.parametrize("failing", ["1 / 0", "import warnings; warnings.warn('hm')"])
def test_accept_never_takes_a_page_whose_code_fails(second_lesson, failing):
    page = second_lesson / "docs" / "page.md"
    text = DRIFTED + f"```pycon\n>>> {failing}\nsomething\n```\n"
    page.write_text(text, "utf-8")
    written = run_check(second_lesson, "--accept", "docs/page.md")
    assert written.returncode == 1
    assert "not written" in written.stdout
    assert page.read_text("utf-8") == text


def test_accept_refuses_a_page_that_is_not_there(capsys):
    with pytest.raises(SystemExit) as ended:
        main(lesson.config(), ["docs/nowhere.md"])
    assert ended.value.code == 2
    assert "no page docs/nowhere.md" in capsys.readouterr().err


def test_edits_touch_nothing_else():
    assert edited("abcdef", [(4, 5, "E"), (1, 2, "")]) == "acdEf"


def test_accept_writes_nothing_into_a_page_that_was_saved_meanwhile(second_lesson):
    page, since = second_lesson / "docs" / "page.md", "What its author has written since.\n"
    save = f"written = pathlib.Path({str(page)!r}).write_text({since!r})"  # as the page runs
    page.write_text(f"{DRIFTED}```pycon\n>>> import pathlib\n>>> {save}\n```\n", "utf-8")
    accepted = run_check(second_lesson, "--accept", "docs/page.md")
    assert "docs/page.md: not written, for it was saved meanwhile" in accepted.stdout
    assert page.read_text("utf-8") == since


def test_accept_keeps_a_pages_mode_and_a_link_to_it(second_lesson):
    page, home = second_lesson / "docs" / "page.md", second_lesson / "elsewhere.md"
    home.write_text(DRIFTED, "utf-8")
    home.chmod(0o464)
    page.symlink_to(home)
    assert run_check(second_lesson, "--accept", "docs/page.md").returncode == 0
    assert page.is_symlink()
    assert home.read_text("utf-8") == MENDED
    assert home.stat().st_mode & 0o777 == 0o464
    assert {path.name for path in page.parent.glob(".*")} == set()


@pytest.mark.parametrize("indent", ["", "    "])
def test_accept_writes_a_printed_tab_as_the_spaces_that_stand_for_it(second_lesson, indent):
    page = second_lesson / "docs" / "page.md"
    block = "```pycon\n>>> print('a\\tb')\nc\n```\n"
    text = "- An item\n\n" * bool(indent) + "".join(indent + x for x in block.splitlines(True))
    page.write_text(text, "utf-8")
    assert run_check(second_lesson, "--accept", "docs/page.md").returncode == 0
    printed = f"{indent}a\tb".expandtabs()  # doctest reads the whole line of the page so
    assert f"{printed}\n" in page.read_text("utf-8")
    assert run_check(second_lesson, "docs/page.md").returncode == 0
