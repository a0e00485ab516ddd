"""From page to page nothing flashes."""

import pytest
from helpers import chapters, settle

pytestmark = pytest.mark.ci


def test_style_sheets_stay_from_page_to_page(visit):
    """Else a page would flash as it comes."""
    sheets = "[...document.styleSheets].map(sheet => sheet.href.split('/').pop())"
    tab = visit("")
    before = tab.evaluate(sheets)
    tab.evaluate("window.kept = [...document.querySelectorAll('link[rel=stylesheet]')]")
    tab.locator("a.md-footer__link--next").click()
    tab.wait_for_url(f"**/{chapters()[0]}")
    settle(tab)
    assert tab.evaluate("kept.every(link => link.isConnected)")
    assert tab.evaluate(sheets) == before
    assert tab.faults == []


def test_who_follows_a_link_is_at_the_new_pages_heading(visit):
    tab = visit("")
    assert tab.evaluate("document.activeElement.localName") == "body"
    tab.locator("a.md-footer__link--next").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**/{chapters()[0]}")
    settle(tab)
    tab.wait_for_function("document.activeElement.localName === 'h1'")
    tab.wait_for_function("scrollY === 0", timeout=3000)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.closest('article') !== null")
