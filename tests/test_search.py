"""The search finds what a page says, and its index loads only when it is used."""

import pytest

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("width", [360, 1280])
def test_search_finds_a_term_and_its_index_loads_only_when_used(width, visit):
    tab = visit("changelog/", width)
    assert not any("search_index" in response.url for response in tab.responses)
    tab.keyboard.press("s")
    tab.keyboard.type("softmax")
    tab.locator(".md-search-result__item").first.wait_for()
    tab.locator(".md-search-result__link").first.click()
    tab.wait_for_url(lambda url: not url.partition("?")[0].endswith("changelog/"))
    assert "softmax" in tab.locator("main article").first.inner_text().lower()
    assert tab.faults == []
