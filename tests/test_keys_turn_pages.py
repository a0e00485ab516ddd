"""Keys lead from chapter to chapter, but not while a reader types."""

import re
from urllib.parse import urlsplit

import pytest
from helpers import chapters, settle

pytestmark = pytest.mark.ci


def test_keys_lead_to_the_next_and_the_previous_chapter_but_not_while_typing(visit):
    first = chapters()[0]
    tab = visit(first)
    for way, key in (("next", "n"), ("prev", "p")):
        hint = tab.locator(f".md-footer__link--{way} .md-footer__direction")
        assert "key" in hint.evaluate("e => getComputedStyle(e, '::after').content")
        assert hint.get_attribute("data-key") == key
    field = tab.locator("#worksheet [name=q0]")
    field.focus()
    asked = tab.asked
    tab.keyboard.press("n")
    settle(tab)
    assert tab.asked == asked  # no other page, so that none can come
    assert urlsplit(tab.url).path.endswith(first)
    tab.locator("h1").click()
    tab.keyboard.press("n")
    tab.locator("h1", has_text="When it selects").wait_for()
    tab.keyboard.press("p")
    tab.wait_for_url(re.compile(f"/{first}(#.*)?$"))
