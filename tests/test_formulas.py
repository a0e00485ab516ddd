"""A formula is MathML in the page itself: it shows at once, set as mathematics."""

import re

import pytest
from helpers import chapters, lesson, pages, settle


def prose(article) -> str:
    return "".join(
        text for text in article.find_all(string=True) if not text.find_parent(["pre", "code"])
    )


def test_formulas_are_in_the_page_itself(parsed):
    """As MathML, which needs no script: none is left as LaTeX."""
    for page in pages():
        article = parsed(page).select_one("article")
        assert article.select(".arithmatex") == [], page
        assert "$" not in prose(article), page
    assert sum(len(parsed(page).select("article math")) for page in chapters()) > 20


def test_a_mark_stays_with_the_formula_before_it(parsed):
    loose = []
    for page in pages():
        for formula in parsed(page).select("article math"):
            if formula.find_parent(class_=("nowrap", "formula")):
                continue
            number = formula.find_parent(class_="computed") or formula
            if re.match(r"[,.;:!?)]", str(number.next_sibling or "")):
                loose.append((page, str(formula), str(number.next_sibling)[:20]))
    assert loose == []
    assert sum(len(parsed(page).select("article .nowrap > math")) for page in chapters()) > 5


HIDDEN = """() => [...document.querySelectorAll("article math")].filter(math => {
  const box = math.getBoundingClientRect();
  return !math.closest("details:not([open])") && !(box.width > 3 && box.height > 3);
}).length"""

# Set as mathematics, not as a run of letters: a fraction is taller than a line.
TALL = """() => Math.max(0, ...[...document.querySelectorAll("article .formula math")]
  .map(math => math.getBoundingClientRect().height))"""

ARTICLE_CODE = "article div.language-python.highlight:not(.output *)"


@pytest.mark.ci
def test_formulas_show_after_instant_navigation(visit):
    """From chapter to chapter by the links at the foot, without loading a whole page."""
    tab = visit(lesson()[0])
    tab.evaluate("window.stayed = true")
    shown, tallest = 0, 0
    for page in lesson():
        if page != lesson()[0]:
            tab.locator("a.md-footer__link--next").click()
            tab.wait_for_url(f"**/{page}")
            settle(tab)
        if page not in chapters():
            continue
        assert tab.evaluate(HIDDEN) == 0
        shown += tab.locator("article math").count()
        tallest = max(tallest, tab.evaluate(TALL))
        block = tab.locator(f"{ARTICLE_CODE}:not(details *)").last
        block.scroll_into_view_if_needed()
        block.locator("button[data-md-type=copy]").wait_for()
    assert tab.evaluate("window.stayed") is True
    assert shown > 20
    assert tallest > 30
    assert tab.faults == []


def test_query_key_and_value_have_their_colours_where_a_formula_has_all_three(parsed):
    formula = parsed("").select_one(".formula math")
    assert {mi.get_text(): mi["class"][0] for mi in formula.select("mi[class]")} == {
        "Q": "query",
        "K": "key",
        "V": "value",
    }
    for page in pages():  # elsewhere a V may be a vocabulary
        for math in parsed(page).select("article math:has(mi[class])"):
            assert {"Q", "K", "V"} <= {mi.get_text() for mi in math.select("mi")}
