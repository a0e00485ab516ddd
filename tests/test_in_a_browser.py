"""What a visitor meets in Chromium, on a phone and a desk, in light and in dark."""

import re

import pytest
from conftest import chapters, importable, lesson, need, pages, settle

pytestmark = pytest.mark.ci

ARTICLE_CODE = "article div.language-python.highlight:not(.output *)"


# What follows of a class that a block of code has shown: its colours are the same.
SHORTEN = """document.querySelectorAll(".highlight code").forEach(code => {
  const shown = new Set();
  for (const element of code.querySelectorAll("*")) {
    const kind = element.parentElement.className + "/" + element.className;
    shown.has(kind) ? element.remove() : shown.add(kind);
  }
})"""
OPEN = "document.querySelectorAll('details').forEach(answer => answer.open = true)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", pages())
def test_a_page_fits_and_is_accessible(page, scheme, visit):
    """No sideways scrolling, no error, no other host, no finding of axe; answers open too."""
    axe = need(importable("axe_playwright_python.sync_playwright"), "axe-playwright-python").Axe()
    tab = visit(page, 360, scheme)
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 300) == (scheme == "dark")
    tab.evaluate(OPEN)
    # The colours of the text do not depend on the width, and most of the time goes there.
    for width, skipped in ((360, [["article"]]), (1280, [])):
        tab.set_viewport_size({"width": width, "height": 800})
        tab.wait_for_timeout(100)
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert tab.evaluate(wide) == 0, width
        for context, options in (
            (None, {"rules": {"color-contrast": {"enabled": False}}}),
            ({"include": [["html"]], "exclude": skipped}, {"runOnly": ["color-contrast"]}),
        ):
            if context is None and scheme == "dark":
                continue  # nothing but the contrast depends on colours
            if context and not skipped:
                tab.evaluate(SHORTEN)
            ran = axe.run(tab, context, {"resultTypes": ["violations"], **options})
            for finding in ran.response["violations"]:
                tab.faults += [f"{width}: {finding['id']}: {n['html']}" for n in finding["nodes"]]
    assert tab.faults == []


@pytest.mark.parametrize("page", chapters())
def test_a_chapter_is_light(page, visit):
    """A chapter with its figures: at most 5 requests and 110 KB over the wire."""
    tab = visit(page)
    assert tab.locator("article figure svg").count() > 0
    sizes = {response.url: response.request.sizes() for response in tab.responses}
    wire = sum(s["responseBodySize"] + s["responseHeadersSize"] for s in sizes.values())
    print(f"{page}: {wire} bytes, {len(tab.responses)} requests")
    assert len(tab.responses) <= 5, list(sizes)
    assert 40_000 < wire <= 110_000, sizes


HIDDEN = """() => [...document.querySelectorAll("article math")].filter(math => {
  const box = math.getBoundingClientRect();
  return !math.closest("details:not([open])") && !(box.width > 3 && box.height > 3);
}).length"""


# Set as mathematics, not as a run of letters: a fraction is taller than a line.
TALL = """() => Math.max(0, ...[...document.querySelectorAll("article .formula math")]
  .map(math => math.getBoundingClientRect().height))"""


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


def test_style_sheets_stay_from_page_to_page(visit):
    """Else a page would flash as it comes."""
    sheets = "[...document.styleSheets].map(sheet => sheet.href.split('/').pop())"
    tab = visit("")
    before = tab.evaluate(sheets)
    tab.evaluate("window.kept = [...document.querySelectorAll('link[rel=stylesheet]')]")
    tab.locator("a.md-footer__link--next").click()
    tab.wait_for_url(f"**/{chapters()[0]}")
    settle(tab)
    assert tab.evaluate("kept.every(link => link.isConnected)")
    assert tab.evaluate(sheets) == before
    assert tab.faults == []


def test_scroll_bars_follow_the_scheme(visit):
    scheme = "getComputedStyle(document.documentElement).colorScheme"
    assert visit("", scheme="dark").evaluate(scheme) == "dark"
    assert visit("").evaluate(scheme) != "dark"


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


@pytest.mark.parametrize("page", [*chapters(), "run-it/", "code/attention/"])
def test_copy_buttons_copy_runnable_code(page, visit, parsed, address):
    """All of a block and nothing else: no prompts, no output."""
    tab = visit(page)
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.evaluate(OPEN)
    copied = []
    for block in tab.locator("article div.highlight:not(.no-copy)").all():
        tab.evaluate("navigator.clipboard.writeText('nothing was copied')")
        block.scroll_into_view_if_needed()
        block.locator("button[data-md-type=copy]").click()
        tab.wait_for_function(
            "navigator.clipboard.readText().then(t => t !== 'nothing was copied')"
        )
        copied.append(tab.evaluate("navigator.clipboard.readText()"))
    article = parsed(page).select_one("article")
    blocks = article.select("div.highlight:not(.no-copy) > pre > code")
    assert copied == [code.get_text().rstrip() for code in blocks]
    assert len(copied) > 0
    assert not any(line.startswith((">>>", "...")) for c in copied for line in c.splitlines())


FOCUSABLE = """() => [...document.querySelectorAll("article *, .md-footer a")].filter(e =>
  e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true })
  && e.getClientRects().length > 0)"""


@pytest.mark.parametrize("page", ["", chapters()[0], "run-it/", "code/attention/"])
@pytest.mark.parametrize("width", [360, 1280])
def test_tab_reaches_everything_that_can_be_used(page, width, visit):
    tab = visit(page, width)
    wanted = tab.evaluate(f"() => {{ window.wanted = ({FOCUSABLE})(); return wanted.length; }}")
    assert wanted > 0
    tab.evaluate("window.met = new Set()")
    for _ in range(wanted + 60):
        tab.keyboard.press("Tab")
        tab.evaluate("met.add(document.activeElement)")
    missed = tab.evaluate("wanted.filter(e => !met.has(e)).map(e => e.outerHTML.slice(0, 120))")
    assert missed == []


def test_the_skip_link_leads_to_the_text(visit):
    tab = visit(chapters()[0])
    tab.keyboard.press("Tab")
    focused = "document.activeElement"
    assert tab.evaluate(f"{focused}.matches('.md-skip')")
    tab.keyboard.press("Enter")
    tab.wait_for_function("document.activeElement === document.body")  # the focus starts anew
    tab.keyboard.press("Tab")
    assert tab.evaluate(f"!!{focused}.closest('article')")


@pytest.mark.parametrize("page", chapters())
def test_questions_open_by_keyboard(page, visit):
    tab = visit(page)
    questions = tab.locator("article details.question")
    assert questions.count() >= 2
    for question in questions.all():
        assert question.get_attribute("open") is None
        question.locator("summary").focus()
        tab.keyboard.press("Enter")
        assert question.get_attribute("open") is not None
        assert question.locator(":scope > :not(summary)").first.is_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_search_finds_a_term_and_loads_only_when_used(width, visit):
    tab = visit("changelog/", width)
    assert not any("search" in response.url for response in tab.responses)
    tab.keyboard.press("s")
    tab.keyboard.type("softmax")
    tab.locator(".md-search-result__item").first.wait_for()
    tab.locator(".md-search-result__link").first.click()
    tab.wait_for_url(lambda url: not url.partition("?")[0].endswith("changelog/"))
    assert "softmax" in tab.locator("main article").first.inner_text().lower()
    assert tab.faults == []


def test_the_reader_can_choose_light_or_dark(visit):
    tab = visit("", scheme="dark")
    seen = []
    for _ in range(3):
        tab.locator("form[data-md-component=palette] label:visible").click()
        tab.wait_for_timeout(100)
        seen.append(tab.evaluate("document.body.dataset.mdColorScheme"))
    assert seen == ["default", "slate", "slate"]  # light, dark, the system's, which is dark
