"""A number shows how it was computed, and a term what it means."""

import pytest
from helpers import chapters

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("way", ["hover", "focus", "tap"])
def test_a_number_shows_how_it_was_computed(way, visit):
    tab = visit(chapters()[0], has_touch=way == "tap")
    number = tab.locator("article .computed", has_text="0.3611").first
    box = tab.locator("#how")
    assert not box.is_visible()
    getattr(number, way)()
    assert box.is_visible()
    assert box.text_content() == "computed as weights.max()"
    assert number.get_attribute("aria-describedby") == box.get_attribute("id")
    assert box.get_attribute("role") == "tooltip"
    tab.keyboard.press("Escape")
    assert not box.is_visible()
    assert number.get_attribute("aria-describedby") is None


@pytest.mark.parametrize("width", [360, 1280])
def test_every_explanation_stays_on_the_page_and_by_its_number(width, visit):
    """Also those in answers; and a pointer can move from the number onto the box."""
    tab = visit(chapters()[0], width)
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for item in tab.locator("article :is(.computed, abbr)[data-how]").all():
        item.focus()
        at, box = item.bounding_box(), tab.locator("#how").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] <= at["y"] + at["height"]
        assert box["y"] + box["height"] >= at["y"]
    number = tab.locator("article .computed[data-how]").first
    number.hover()
    box = tab.locator("#how").bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert tab.locator("#how").is_visible()
    tab.mouse.move(5, 400)
    assert not tab.locator("#how").is_visible()


def test_a_term_shows_its_meaning_by_keyboard(visit):
    tab = visit(chapters()[0])
    tab.locator("article abbr", has_text="softmax").first.focus()
    assert "positive weights" in tab.locator("#how").text_content()


def test_explanations_work_after_instant_navigation(visit):
    tab = visit(chapters()[0])
    tab.locator("a.md-footer__link--next").click()
    tab.locator("h1", has_text="When it selects").wait_for()
    tab.locator("article .computed[data-how]").first.focus()
    assert tab.locator("#how").text_content().startswith("computed as ")
