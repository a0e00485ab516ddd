"""What MkDocs, a plugin or a hook only warns of fails a build and is printed, at any flags."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT

NAV = """\
nav:
  - Overview: index.md
  - Part:
      - Only: only.md
  - Reference:
      - Glossary: glossary.md
"""
# A hook that is listed last, and warns in the last of its events.
LATE = """\
import logging

def on_post_build(config):
    logging.getLogger("mkdocs.hooks.late").warning("said by a hook as the build ends")
"""
CLEAN = {"index.md": "# Overview\n\nText.\n", "only.md": "# Only\n\nText.\n"}
WRONG = {
    "index.md": "# Overview\n\n[dead](nowhere.md), [gone](only.md#gone), $\\frac{$\n",
    "unlisted.md": "# Unlisted\n\nText.\n",
}
SAID = {
    "a dead link": "link 'nowhere.md', but the target is not found",
    "a dead anchor": "link 'only.md#gone', but the doc 'only.md' does not contain an anchor",
    "an unreadable formula": "formula $\\frac{$",
    "a page outside the navigation": "- unlisted.md",
    "a hook that runs last": "said by a hook as the build ends",
}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """The repository with three short pages, which builds in a moment."""
    copy = tmp_path_factory.mktemp("small") / "lesson"
    for folder in ("docs", "attention"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for text in (*(copy / "docs").rglob("*.md"), *(copy / "docs").glob("*.json")):
        text.unlink()
    shutil.copy(ROOT / "docs/glossary.md", copy / "docs")
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    settings = re.sub(r"^nav:\n(?: .*\n)+", NAV, settings, flags=re.MULTILINE)
    (copy / "mkdocs.yml").write_text(settings, "utf-8")
    for name, text in CLEAN.items():
        (copy / "docs" / name).write_text(text, "utf-8")
    return copy


@pytest.fixture(scope="module")
def wrong(small, tmp_path_factory) -> Path:
    """The same with a warning of each kind."""
    copy = tmp_path_factory.mktemp("wrong") / "lesson"
    shutil.copytree(small, copy)
    for name, text in WRONG.items():
        (copy / "docs" / name).write_text(text, "utf-8")
    (copy / "late.py").write_text(LATE, "utf-8")
    settings = (copy / "mkdocs.yml").read_text("utf-8")
    settings = re.sub(r"(?m)^hooks:\n(?: .*\n)+", r"\g<0>  - late.py\n", settings)
    (copy / "mkdocs.yml").write_text(settings, "utf-8")
    return copy


MKDOCS = [sys.executable, "-m", "mkdocs"]
SETTINGS = {"NOTEBOOK": "false", "RUNTIME": "false", "NO_MKDOCS_2_WARNING": "1"}


def build(folder: Path, *flags: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*MKDOCS, "build", *flags],
        cwd=folder,
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    "flags",
    [
        "--quiet",
        *(
            pytest.param(more, marks=pytest.mark.ci)
            for more in ("", "--quiet --strict", "--verbose")
        ),
    ],
)
def test_each_warning_fails_a_build_and_is_printed(flags, wrong):
    made = build(wrong, *flags.split())
    assert [kind for kind, words in SAID.items() if words not in made.stderr] == []
    assert f"the build gave {len(SAID)} warnings" in made.stdout
    assert made.returncode == 1


def test_a_setting_that_nothing_knows_fails_a_quiet_build(small):
    settings = small / "mkdocs.yml"
    known = settings.read_text("utf-8")
    settings.write_text(f"mistyped: true\n{known}", "utf-8")
    made = build(small, "--quiet")
    settings.write_text(known, "utf-8")
    assert "Unrecognised configuration name: mistyped" in made.stderr
    assert made.returncode == 1


def test_without_a_warning_a_quiet_build_succeeds_and_says_nothing(small):
    made = build(small, "--quiet")
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")


@pytest.mark.ci
def test_the_authors_server_prints_warnings_and_goes_on(wrong):
    with subprocess.Popen(
        [*MKDOCS, "serve", "-a", "127.0.0.1:0"],
        cwd=wrong,
        env=os.environ | SETTINGS,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as server:
        said = ""
        for line in server.stderr:  # until it ends, or waits for a visitor
            said += line
            if "Serving on" in line:
                break
        alive = server.poll() is None
        server.terminate()
    assert [kind for kind, words in SAID.items() if words not in said] == []
    assert alive
    assert "Serving on" in said
