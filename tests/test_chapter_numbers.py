"""The order in `nav` numbers the chapters: in titles, in the navigation, and where one stands."""

import re
from types import SimpleNamespace

from _lesson.site import chapters
from helpers import lesson, pages

NAV = [
    {"Overview": "index.md"},
    {"Attention": [{"One": "one.md"}, {"Two": "two.md"}]},
    {"Length": [{"Last": "last.md"}]},
    {"Reference": [{"Words": "words.md"}]},
]
LONGER = [
    NAV[0],
    {"Attention": [{"One": "one.md"}, {"New": "new.md"}, {"Two": "two.md"}]},
    *NAV[2:],
]


def page(name: str, title: str = ""):
    return SimpleNamespace(title=title, file=SimpleNamespace(src_uri=name))


def test_a_page_of_a_part_is_a_chapter_and_the_reference_is_no_part():
    assert chapters.numbers(NAV) == {"one.md": 1, "two.md": 2, "last.md": 3}


def test_one_line_in_nav_inserts_a_chapter_and_moves_those_behind_it():
    assert chapters.numbers(LONGER) == {"one.md": 1, "new.md": 2, "two.md": 3, "last.md": 4}
    config = SimpleNamespace(nav=LONGER)

    def shown(name: str) -> str:
        return chapters.on_page_markdown("# Title\n\n# Not it\n", page(name), config)

    where = '<p class="where">Attention: chapter 3 of 4</p>'
    assert shown("two.md") == f"{where}\n\n# 3 Title\n\n# Not it\n"
    assert "Length: chapter 4 of 4" in shown("last.md")
    assert shown("words.md") == "# Title\n\n# Not it\n"
    found = [page("index.md", "Overview"), page("two.md", "Two"), page("words.md", "Words")]
    chapters.on_nav(SimpleNamespace(pages=found), config)
    assert [one.title for one in found] == ["Overview", "3 Two", "Words"]


def test_the_pages_of_the_site_follow_the_navigation(parsed):
    for number, name in enumerate(lesson(), 1):
        article = parsed(name).select_one("article")
        assert article.h1.get_text().startswith(f"{number} "), name
        where = article.select_one(".where").get_text()
        assert re.fullmatch(rf"[A-Z][\w ]+: chapter {number} of {len(lesson())}", where)
        link = parsed("").select_one(f'.md-nav--primary a[href="{name}"]')
        assert link.get_text().strip().startswith(f"{number} "), name
    others = [parsed(name).select_one("article") for name in set(pages()) - set(lesson())]
    assert len(others) > 5
    for article in others:
        assert not re.match(r"\d", article.h1.get_text())
        assert not article.select(".where")
