"""Which chapters are read is kept in the browser, where it may be."""

from urllib.parse import urljoin

import pytest
from helpers import chapters, go, lesson

pytestmark = pytest.mark.ci


def prepared(tab) -> None:
    """Wait until the page has been looked through, and its links to what is read marked."""
    tab.locator("article [data-how]").first.wait_for(state="attached")


def test_progress_is_kept_in_the_browser_and_can_be_forgotten(visit, address):
    first, second = chapters()[:2]
    tab = visit(second)
    prepared(tab)
    assert tab.locator(".reading").count() == 0
    go(tab, urljoin(address, first))
    prepared(tab)
    assert tab.locator(".reading").count() == 0
    tab.keyboard.press("End")
    tab.locator(".reading").wait_for()
    assert f"1 of {len(lesson())} chapters read" in tab.locator(".reading").text_content()
    go(tab, urljoin(address, second))
    tab.locator(f".md-nav--primary a.read[href$='{first}']").wait_for()
    assert tab.locator("article ol a.read").count() == 0
    go(tab, address)
    tab.locator("article ol a.read").wait_for()
    tab.locator(".reading button").click()
    assert tab.locator("a.read").count() == 0
    go(tab, urljoin(address, second))
    prepared(tab)
    assert tab.locator("a.read").count() == 0
    assert tab.faults == []


def test_where_storage_is_refused_pages_still_work(visit):
    tab = visit("changelog/")
    tab.add_init_script(
        "Storage.prototype.setItem = key => { window.asked ||= /read$/.test(key); throw key; }"
    )
    go(tab, tab.url.replace("changelog/", chapters()[0]))
    tab.keyboard.press("End")
    tab.wait_for_function("window.asked")
    assert tab.locator("#worksheet fieldset").is_enabled()
    assert tab.faults == []
