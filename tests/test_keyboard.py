"""A keyboard reaches all that a pointer does."""

import pytest
from helpers import chapters

pytestmark = pytest.mark.ci

FOCUSABLE = """() => [...document.querySelectorAll("article *, .md-footer a")].filter(e =>
  e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true })
  && e.getClientRects().length > 0)"""


@pytest.mark.parametrize("page", ["", chapters()[0], "run-it/", "code/attention/"])
@pytest.mark.parametrize("width", [360, 1280])
def test_tab_reaches_everything_that_can_be_used(page, width, visit):
    tab = visit(page, width)
    wanted = tab.evaluate(f"() => {{ window.wanted = ({FOCUSABLE})(); return wanted.length; }}")
    assert wanted > 0
    tab.evaluate("window.met = new Set()")
    for _ in range(wanted + 100):  # besides: the header, the sidebars, copy buttons that come up
        tab.keyboard.press("Tab")
        tab.evaluate("met.add(document.activeElement)")
    missed = tab.evaluate("wanted.filter(e => !met.has(e)).map(e => e.outerHTML.slice(0, 120))")
    assert missed == []


def test_the_skip_link_leads_to_the_text(visit):
    tab = visit(chapters()[0])
    tab.keyboard.press("Tab")
    focused = "document.activeElement"
    assert tab.evaluate(f"{focused}.matches('.md-skip')")
    tab.keyboard.press("Enter")
    tab.wait_for_function("document.activeElement === document.body")  # the focus starts anew
    tab.keyboard.press("Tab")
    assert tab.evaluate(f"!!{focused}.closest('article')")


@pytest.mark.parametrize("page", chapters())
def test_questions_open_by_keyboard(page, visit):
    tab = visit(page)
    questions = tab.locator("article details.question")
    assert questions.count() >= 2
    for question in questions.all():
        assert question.get_attribute("open") is None
        question.locator("summary").focus()
        tab.keyboard.press("Enter")
        assert question.get_attribute("open") is not None
        assert question.locator(":scope > :not(summary)").first.is_visible()
