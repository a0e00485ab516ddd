"""A printed page reads well, and gives no answer away that was not asked for."""

import re

import pytest
from helpers import chapters

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_printed_page_is_dark_on_light_without_what_only_a_screen_can_do(scheme, visit):
    tab = visit(chapters()[0], scheme=scheme)
    tab.emulate_media(media="print")
    ink = tab.evaluate("getComputedStyle(document.querySelector('article p:not(.where)')).color")
    assert sum(map(int, re.findall(r"\d+", ink)[:3])) < 200
    for hidden in (".md-header", ".md-footer", "#worksheet fieldset", ".md-sidebar--primary"):
        assert not tab.locator(hidden).first.is_visible(), hidden
    assert tab.locator("article :is(button, .headerlink):visible").count() == 0
    assert tab.locator("#worksheet table").last.is_visible()


def shown(tab) -> list[bool]:
    """Which of the answers are laid out, as they would be on paper."""
    answers = tab.locator("article details:not(.turn-before, .turn-local)")
    return [answer.locator("> :last-child").is_visible() for answer in answers.all()]


@pytest.mark.parametrize("page", [chapters()[0], "your-turn/"])
def test_answers_are_printed_where_they_are_asked_for(page, visit):
    tab = visit(page)
    tab.evaluate("window.print = () => (window.printed = true)")
    tab.emulate_media(media="print")
    assert len(shown(tab)) >= 3
    assert not any(shown(tab))
    tab.emulate_media(media="screen")
    tab.get_by_role("button", name="Print with answers").click()
    tab.emulate_media(media="print")
    assert tab.evaluate("printed")
    assert all(shown(tab))
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not any(shown(tab))


WIDE = """[...document.querySelectorAll("article *")].filter(one => one.clientWidth
  && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible")
  .map(one => one.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("page", [*chapters(), "your-turn/", "code/attention/"])
def test_nothing_is_clipped_on_paper(page, visit):
    tab = visit(page, width=718)  # as wide as A4 between its margins
    tab.emulate_media(media="print")
    assert tab.evaluate(WIDE) == []
