"""A printed page reads well."""

import re

import pytest
from helpers import chapters

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_printed_page_is_dark_on_light_with_every_answer(scheme, visit):
    tab = visit(chapters()[0], scheme=scheme)
    tab.emulate_media(media="print")
    ink = tab.evaluate("getComputedStyle(document.querySelector('article p:not(.where)')).color")
    assert sum(map(int, re.findall(r"\d+", ink)[:3])) < 200
    for answer in tab.locator("article details").all():
        assert answer.locator("p").first.bounding_box()["height"] > 5
    for hidden in (".md-header", ".md-footer", "#worksheet fieldset", ".md-sidebar--primary"):
        assert not tab.locator(hidden).first.is_visible(), hidden
    assert tab.locator("#worksheet table").last.is_visible()
