"""What code prints keeps its shape on each screen."""

import pytest
from helpers import chapters

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("page", chapters())
def test_no_number_in_an_output_table_is_broken_in_two(page, visit):
    tab = visit(page, 360)
    broken = tab.evaluate(
        """() => [...document.querySelectorAll(".output td, .live-table td")].filter(cell => {
          if (!/\\d/.test(cell.textContent)) return false; // words may wrap
          const range = document.createRange();
          range.selectNodeContents(cell);
          return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
        }).map(cell => cell.textContent)"""
    )
    assert broken == []


def test_scripts_of_the_theme_move_no_table(visit):
    """With its scripts, an output is as high as without."""
    heights = [
        visit(chapters()[2], java_script_enabled=on).evaluate(
            "[...document.querySelectorAll('article > .output')].map(e => e.clientHeight)"
        )
        for on in (True, False)
    ]
    assert heights[0] == heights[1]
    assert len(heights[0]) > 9
