"""A chapter reads without JavaScript."""

import pytest
from helpers import chapters


@pytest.mark.ci
@pytest.mark.parametrize("page", chapters())
def test_a_chapter_reads_without_javascript(page, visit):
    tab = visit(page, java_script_enabled=False)
    for math in tab.locator("article math:not(details *)").all():
        box = math.bounding_box() or {"width": 0, "height": 0}
        assert box["width"] > 3, math.inner_html()
        assert box["height"] > 3, math.inner_html()
    answer = tab.locator("article details").first
    assert not answer.locator("p").nth(0).is_visible()
    answer.locator("summary").click()
    assert answer.locator(":scope > :not(summary)").first.is_visible()


def test_without_javascript_the_browsers_own_tooltip_says_it(parsed):
    for page in chapters():
        numbers = parsed(page).select("article .computed:not(code *)")
        assert len(numbers) > 5
        assert all(number["title"] for number in numbers)
