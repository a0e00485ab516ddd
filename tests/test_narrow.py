"""On the narrowest phone no page scrolls sideways."""

import pytest
from helpers import SIDEWAYS, pages

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("page", pages())
def test_no_page_scrolls_sideways_at_320_pixels(page, visit):
    assert visit(page, width=320).evaluate(SIDEWAYS) == 0
