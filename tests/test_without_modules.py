"""Where a page's modules cannot load, a sentence stands in place of controls that do nothing."""

import pytest

pytestmark = pytest.mark.ci

CONTROLS = {"one-query/": "#worksheet fieldset", "your-turn/": "[data-kind=check] .turn-buttons"}


@pytest.mark.parametrize("page", CONTROLS)
def test_a_page_opened_from_a_disk_says_so(page, browser, site):
    tab = browser.new_page()
    tab.goto((site / page / "index.html").as_uri())
    tab.locator(".dead").first.wait_for()
    assert "opened from a disk" in tab.locator(".dead").first.inner_text()
    assert not tab.locator(CONTROLS[page]).is_visible()
    tab.close()


@pytest.mark.parametrize("page", CONTROLS)
def test_a_page_whose_scripts_are_blocked_says_so(page, browser, address):
    tab = browser.new_page()
    tab.route("**/numbers.js", lambda route: route.abort())
    tab.route("**/your-turn-verdicts.js", lambda route: route.abort())
    tab.goto(address + page)
    tab.locator(".dead").first.wait_for()
    assert "could not be loaded" in tab.locator(".dead").first.inner_text()
    assert not tab.locator(CONTROLS[page]).is_visible()
    tab.close()
