"""Code copied from a page runs, and prints what the page shows."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from helpers import OPEN, chapters, lesson, run

CODE = "div.language-python.highlight pre > code"
COPIED = [*lesson(), "", "three-libraries/", "bug-clinic/"]  # all pages with code of their own


def blocks_and_boxes(page) -> tuple[list[str], list]:
    """The code of a page in its order, and what the page says that it prints."""
    boxes = page.select("article .output")
    code = [
        tag.get_text()
        for tag in page.select(f"article {CODE}")
        if not any(box in tag.parents for box in boxes)
    ]
    return code, [row for box in boxes for row in shown(box)]


def copied(code: str) -> str:
    """What the button of a block copies: a prompt wants a blank line behind an indented one."""
    code = code.rstrip()
    return code + "\n\n" if code.splitlines()[-1][:1].isspace() else code


def shown(box) -> list:
    """The rows of an output box: a table's as tuples of cells, others as text."""
    rows = []
    for tag in box.select("pre > code, tr"):
        if tag.name == "tr":
            rows.append(tuple(cell.get_text().strip() for cell in tag.select("th, td")))
        else:
            rows += tag.get_text().rstrip("\n").split("\n")
    return rows


def printed(text: str) -> list:
    """What a program printed, in the same form as `shown`."""
    rows = []
    for line in text.splitlines():
        if not line.startswith("|"):
            rows.append(line)
        elif not re.fullmatch(r"[|: -]+", line) or "-" not in line:
            rows.append(tuple(cell.strip() for cell in line.strip().strip("|").split("|")))
    return rows


@pytest.fixture(params=["the package", "the file lying beside"])
def reader(request, site, numpy_only, tmp_path):
    """A Python in an empty folder, with the package or with attention.py lying there."""
    if request.param == "the package":
        return Path(sys.executable), tmp_path
    shutil.copy(site / "code/attention.py", tmp_path)
    return numpy_only, tmp_path


@pytest.mark.ci
@pytest.mark.parametrize("page", COPIED)
@pytest.mark.parametrize("way", ["a script", "a prompt"])
def test_code_copied_from_a_page_prints_what_the_page_shows(page, way, reader, parsed):
    python, folder = reader
    code, boxes = blocks_and_boxes(parsed(page))
    assert len(code) >= 2
    assert len(boxes) >= 4
    if way == "a script":
        (folder / "pasted.py").write_text("\n".join(code), "utf-8")
        result = run(python, "pasted.py", cwd=folder)
        assert result.stderr == ""
    else:
        typed = "".join(f"{copied(block)}\n" for block in code)  # pasted, and Enter
        result = run(python, "-q", "-i", input=typed, cwd=folder)
        assert re.sub(r">>> |\.\.\. ", "", result.stderr).strip() == ""
    assert printed(result.stdout) == boxes


@pytest.mark.ci
@pytest.mark.parametrize("page", [*chapters(), "run-it/", "code/attention/"])
def test_copy_buttons_copy_runnable_code(page, visit, parsed, address):
    """All of a block and nothing else: no prompts, no output."""
    tab = visit(page)
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.evaluate(OPEN)
    found = []
    for block in tab.locator("article div.highlight:not(.no-copy)").all():
        tab.evaluate("navigator.clipboard.writeText('nothing was copied')")
        block.scroll_into_view_if_needed()
        block.locator("button[data-md-type=copy]").click()
        tab.wait_for_function(
            "navigator.clipboard.readText().then(t => t !== 'nothing was copied')"
        )
        found.append(tab.evaluate("navigator.clipboard.readText()"))
    article = parsed(page).select_one("article")
    blocks = article.select("div.highlight:not(.no-copy) > pre > code")
    assert found == [copied(code.get_text()) for code in blocks]
    assert len(found) > 0
    assert not any(line.startswith((">>>", "...")) for c in found for line in c.splitlines())
