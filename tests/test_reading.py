"""What makes the site a pleasure to read, tried in Chromium and read off its files."""

import re
import struct
from urllib.parse import urljoin, urlsplit

import pytest
from conftest import chapters, go, lesson, pages, settle

READ = 400  # ms in which a page that has been reached the end of is marked


# How a number was computed


@pytest.mark.ci
@pytest.mark.parametrize("way", ["hover", "focus", "tap"])
def test_a_number_shows_how_it_was_computed(way, visit):
    tab = visit(chapters()[0], has_touch=way == "tap")
    number = tab.locator("article .computed", has_text="0.3611").first
    box = tab.locator("#how")
    assert not box.is_visible()
    getattr(number, way)()
    assert box.is_visible()
    assert box.text_content() == "computed as weights.max()"
    assert number.get_attribute("aria-describedby") == box.get_attribute("id")
    assert box.get_attribute("role") == "tooltip"
    tab.keyboard.press("Escape")
    assert not box.is_visible()
    assert number.get_attribute("aria-describedby") is None


@pytest.mark.ci
@pytest.mark.parametrize("width", [360, 1280])
def test_every_explanation_stays_on_the_page_and_by_its_number(width, visit):
    """Also those in answers; and a pointer can move from the number onto the box."""
    tab = visit(chapters()[0], width)
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for item in tab.locator("article :is(.computed, abbr)[data-how]").all():
        item.focus()
        at, box = item.bounding_box(), tab.locator("#how").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] <= at["y"] + at["height"]
        assert box["y"] + box["height"] >= at["y"]
    number = tab.locator("article .computed[data-how]").first
    number.hover()
    box = tab.locator("#how").bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert tab.locator("#how").is_visible()
    tab.mouse.move(5, 400)
    assert not tab.locator("#how").is_visible()


@pytest.mark.ci
def test_a_term_shows_its_meaning_by_keyboard(visit):
    tab = visit(chapters()[0])
    tab.locator("article abbr", has_text="softmax").first.focus()
    assert "positive weights" in tab.locator("#how").text_content()


@pytest.mark.ci
def test_explanations_work_after_instant_navigation(visit):
    tab = visit(chapters()[0])
    tab.locator("a.md-footer__link--next").click()
    tab.locator("h1", has_text="When it selects").wait_for()
    tab.locator("article .computed[data-how]").first.focus()
    assert tab.locator("#how").text_content().startswith("computed as ")


def test_without_javascript_the_browsers_own_tooltip_says_it(parsed):
    for page in chapters():
        numbers = parsed(page).select("article .computed:not(code *)")
        assert len(numbers) > 5
        assert all(number["title"] for number in numbers)


# From chapter to chapter


@pytest.mark.ci
def test_keys_lead_to_the_next_and_the_previous_chapter_but_not_while_typing(visit):
    first = chapters()[0]
    tab = visit(first)
    for way, key in (("next", "n"), ("prev", "p")):
        hint = tab.locator(f".md-footer__link--{way} .md-footer__direction")
        assert "key" in hint.evaluate("e => getComputedStyle(e, '::after').content")
        assert hint.get_attribute("data-key") == key
    field = tab.locator("#worksheet [name=q0]")
    field.focus()
    tab.keyboard.press("n")
    tab.wait_for_timeout(READ)
    assert urlsplit(tab.url).path.endswith(first)
    tab.locator("h1").click()
    tab.keyboard.press("n")
    tab.locator("h1", has_text="When it selects").wait_for()
    tab.keyboard.press("p")
    tab.wait_for_url(re.compile(f"/{first}(#.*)?$"))


@pytest.mark.ci
def test_progress_is_kept_in_the_browser_and_can_be_forgotten(visit, address):
    first, second = chapters()[:2]
    tab = visit(second)
    marked = tab.locator(f".md-nav--primary a.read[href$='{first}']")
    assert tab.locator(".reading").count() == 0
    go(tab, urljoin(address, first))
    assert tab.locator(".reading").count() == 0
    tab.keyboard.press("End")
    tab.wait_for_timeout(READ)
    assert f"1 of {len(lesson())} chapters read" in tab.locator(".reading").text_content()
    go(tab, urljoin(address, second))
    assert marked.count() == 1
    assert tab.locator("article ol a.read").count() == 0
    go(tab, address)
    assert tab.locator("article ol a.read").count() == 1
    tab.locator(".reading button").click()
    assert tab.locator("a.read").count() == 0
    tab.reload()
    settle(tab)
    assert tab.locator("a.read").count() == 0
    assert tab.faults == []


@pytest.mark.ci
def test_where_storage_is_refused_pages_still_work(visit):
    tab = visit("changelog/")
    tab.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    go(tab, tab.url.replace("changelog/", chapters()[0]))
    tab.keyboard.press("End")
    tab.wait_for_timeout(READ)
    assert tab.locator("#worksheet fieldset").is_enabled()
    assert tab.faults == []


# Lines and tables


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


@pytest.mark.ci
@pytest.mark.parametrize("page", chapters())
def test_no_number_in_an_output_table_is_broken_in_two(page, visit):
    tab = visit(page, 360)
    broken = tab.evaluate(
        """() => [...document.querySelectorAll(".output td, .live-table td")].filter(cell => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
        }).map(cell => cell.textContent)"""
    )
    assert broken == []


@pytest.mark.ci
def test_scripts_of_the_theme_move_no_table(visit):
    """With its scripts, an output is as high as without."""
    heights = [
        visit(chapters()[2], java_script_enabled=on).evaluate(
            "[...document.querySelectorAll('article > .output')].map(e => e.clientHeight)"
        )
        for on in (True, False)
    ]
    assert heights[0] == heights[1]
    assert len(heights[0]) > 20


# On paper


@pytest.mark.ci
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_printed_page_is_dark_on_light_with_every_answer(scheme, visit):
    tab = visit(chapters()[0], scheme=scheme)
    tab.emulate_media(media="print")
    ink = tab.evaluate("getComputedStyle(document.querySelector('article p')).color")
    assert sum(map(int, re.findall(r"\d+", ink)[:3])) < 200
    for answer in tab.locator("article details").all():
        assert answer.locator("p").first.bounding_box()["height"] > 5
    for hidden in (".md-header", ".md-footer", "#worksheet fieldset", ".md-sidebar--primary"):
        assert not tab.locator(hidden).first.is_visible(), hidden
    assert tab.locator("#worksheet table").last.is_visible()


# Shared, found, mistyped


@pytest.mark.parametrize("page", pages())
def test_a_shared_link_has_a_title_a_text_and_a_picture(page, parsed, site):
    head = parsed(page).head
    meta = {tag.get("property"): tag["content"] for tag in head.select("meta[property]")}
    canonical = head.select_one("link[rel=canonical]")["href"]
    assert meta["og:url"] == canonical
    assert meta["og:title"] == head.title.get_text().strip()
    assert meta["og:description"] == head.select_one("meta[name=description]")["content"]
    assert urlsplit(meta["og:image"]).scheme
    picture = site / meta["og:image"].removeprefix(canonical.removesuffix(page))
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    assert (width, height) == (int(meta["og:image:width"]), int(meta["og:image:height"]))


def test_descriptions_differ_from_page_to_page(parsed):
    texts = [
        parsed(page).select_one("meta[name=description]")["content"]
        for page in pages()
        if page != "code/attention/"  # made from the package, without a page of its own
    ]
    assert len(set(texts)) == len(texts)
    assert all(40 < len(text) < 170 for text in texts)


def test_the_sitemap_lists_each_page_by_its_canonical_address(parsed, site):
    listed = set(re.findall(r"<loc>(.*?)</loc>", (site / "sitemap.xml").read_text()))
    assert {parsed(p).select_one("link[rel=canonical]")["href"] for p in pages()} <= listed


def test_each_page_has_an_icon(parsed):
    assert all(parsed(page).select_one("link[rel=icon]")["href"] for page in pages())


@pytest.mark.ci
def test_a_missing_page_says_so_and_leads_on(visit, port, address):
    tab = visit("404.html")
    assert "No page" in tab.locator("h1").text_content()
    links = tab.locator(".missing a")
    assert links.count() == len(pages())
    links.nth(1).click()
    tab.wait_for_url(f"**/{chapters()[0]}")
    assert tab.faults == []
