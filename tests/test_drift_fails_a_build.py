"""A plain build fails on what differs from the code, and says where."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from _lesson.checked.config import read


def build(checkout: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build"],
        cwd=checkout,
        env={**os.environ, "NOTEBOOK": "false"},
        capture_output=True,
        text=True,
    )


@pytest.mark.ci
def test_a_plain_build_fails_and_names_every_place(checkout):
    one, two = checkout / "docs/one-query.md", checkout / "docs/index.md"
    text = read(one)
    line = text[: text.index("0.3611<!--=")].count("\n") + 1
    one.write_text(text.replace("0.3611<!--=", "0.3612<!--=", 1), "utf-8")
    two.write_text(read(two) + "\nA loose 5.\n", "utf-8")
    three = checkout / "docs/changelog.md"
    three.write_text(read(three) + "\n<pre>x = y</pre>\n", "utf-8")
    made = build(checkout)
    assert made.returncode != 0
    said = made.stdout + made.stderr
    assert f"docs/one-query.md:{line}: the page says 0.3612, the code says 0.3611" in said
    assert f"docs/index.md:{len(read(two).splitlines())}: 5 is neither" in said
    line = len(read(three).splitlines())
    assert f"docs/changelog.md:{line}: x = y is shown as code and was not checked" in said


@pytest.mark.ci
def test_a_plain_build_fails_where_code_ends_the_process(checkout):
    page = checkout / "docs/index.md"
    page.write_text(read(page) + "\n```pycon\n>>> import os; os._exit(0)\n```\n", "utf-8")
    made = build(checkout)
    assert made.returncode != 0
    assert "the code ended the process, with 0" in made.stdout + made.stderr
