"""The theme's markup is altered, or the build fails: never left as it is without a word."""

import pytest
from _lesson.site.theme_markup import alter
from helpers import ROOT, lesson
from mkdocs.exceptions import PluginError


def test_markup_that_has_changed_is_an_error():
    assert alter("<a b>", "b", "c") == "<a c>"
    for changed in ("<a>", "<b b>"):
        with pytest.raises(PluginError, match="markup has changed: b stands"):
            alter(changed, "b", "c")


def test_the_version_that_is_altered_is_pinned():
    pinned = (ROOT / "requirements.txt").read_text("utf-8")
    version = pinned.partition("mkdocs-material==")[2].partition(" ")[0]
    assert f'"mkdocs-material =={version}"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_search_has_a_name_and_links_name_their_keys(parsed):
    page = parsed(lesson()[1])
    assert page.select_one(".md-search")["aria-label"] == "Search"
    for way, key in (("prev", "p"), ("next", "n")):
        link = page.select_one(f".md-footer__link--{way}")
        assert link["aria-keyshortcuts"] == key
        assert link.select_one(".md-footer__direction")["data-key"] == key
