"""A mistyped address says so and leads on."""

import pytest
from helpers import chapters, pages

pytestmark = pytest.mark.ci


def test_a_missing_page_says_so_and_leads_on(visit, port, address):
    tab = visit("404.html")
    assert "No page" in tab.locator("h1").text_content()
    links = tab.locator(".missing a")
    assert links.count() == len(pages())
    links.nth(1).click()
    tab.wait_for_url(f"**/{chapters()[0]}")
    assert tab.faults == []
