"""A page is light: few requests, few bytes."""

import pytest
from helpers import chapters

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("page", chapters())
def test_a_chapter_is_light(page, visit):
    """A chapter with its figures: at most 8 requests and 110 KB over the wire."""
    tab = visit(page)
    assert tab.locator("article figure svg").count() > 0
    sizes = {response.url: response.request.sizes() for response in tab.responses}
    wire = sum(s["responseBodySize"] + s["responseHeadersSize"] for s in sizes.values())
    print(f"{page}: {wire} bytes, {len(tab.responses)} requests")
    assert len(tab.responses) <= 8, list(sizes)
    assert 40_000 < wire <= 110_000, sizes
