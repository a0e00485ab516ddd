"""On the narrowest phone no page scrolls sideways."""

import pytest
from helpers import pages

pytestmark = pytest.mark.ci

WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("page", pages())
def test_no_page_scrolls_sideways_at_320_pixels(page, visit):
    assert visit(page, width=320).evaluate(WIDE) == 0
