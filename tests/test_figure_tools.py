"""A figure's state is in the address, beside that of others, and its tools take it elsewhere."""

from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from helpers import settle
from live import FIGURES, LAYER, Figure

pytestmark = pytest.mark.ci


def both(tab) -> tuple[str, str]:
    """What the two figures of the page hold, when they are awake."""
    one, other = (Figure(tab, name).settled().form for name in ("dial", "detective"))
    return one.locator("[name=n]").input_value(), other.locator("[name=D]").input_value()


def test_the_states_of_a_pages_figures_stand_side_by_side_and_survive_reload_and_back(visit):
    tab = visit(LAYER)
    Figure(tab, "dial").fill(n="64")
    Figure(tab, "dial").settled()
    Figure(tab, "detective").fill(D="768")
    assert both(tab) == ("64", "768")
    assert urlsplit(tab.url).fragment == "detective?D=768;dial?n=64"
    address = tab.url
    tab.reload()
    settle(tab)
    assert both(tab) == ("64", "768")
    assert tab.url == address
    tab.locator("a.md-footer__link--next").click()
    tab.wait_for_url(lambda url: LAYER not in url)
    settle(tab)
    tab.go_back()
    tab.wait_for_url(f"**/{LAYER}#*")
    settle(tab)
    assert both(tab) == ("64", "768")
    Figure(tab, "detective").form.locator("button[type=reset]").click()
    Figure(tab, "detective").settled()
    assert urlsplit(tab.url).fragment == "dial?n=64"
    assert tab.faults == []


def test_a_link_shows_the_figures_title_below_the_header(visit):
    tab = visit(f"{LAYER}#dial?n=64")
    Figure(tab, "dial").settled()
    title = tab.locator("figure:has(#dial) > figcaption").bounding_box()
    header = tab.locator(".md-header").bounding_box()
    assert header["y"] + header["height"] <= title["y"] < 150


def test_a_link_to_a_figures_state_can_be_copied(visit):
    tab = visit(LAYER, permissions=["clipboard-read", "clipboard-write"])
    dial = Figure(tab, "dial")
    dial.fill(n="64")
    dial.form.get_by_role("button", name="Copy link").click()
    dial.form.get_by_role("button", name="Copied").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()").endswith(f"{LAYER}#dial?n=64")


def test_a_drawing_can_be_saved_and_needs_no_style_sheet(visit):
    tab = visit(LAYER)
    with tab.expect_download() as download:
        tab.locator("#dial [data-tool=save]").click()
    assert download.value.suggested_filename == "dial.svg"
    drawing = ElementTree.parse(download.value.path()).getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    shapes = list(drawing.iter())
    assert len(shapes) > 20
    assert all("class" not in shape.attrib and "stroke" in shape.attrib for shape in shapes)
    assert "var(" not in ElementTree.tostring(drawing, "unicode")


def test_a_figure_can_be_enlarged_for_a_projector(visit):
    tab = visit(LAYER)
    small = tab.locator("#dial table").bounding_box()["height"]
    tab.locator("#dial [data-tool=enlarge]").click()
    tab.wait_for_function("document.fullscreenElement?.querySelector('#dial')")
    assert tab.locator("#dial table").bounding_box()["height"] > 1.2 * small
    tab.locator("#dial [data-tool=enlarge]").click()
    tab.wait_for_function("!document.fullscreenElement")


SEEN = """element => {
  const style = getComputedStyle(element, element.matches(".role") ? "::before" : null);
  return [style.backgroundColor, style.backgroundImage, style.fill, style.stroke];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_and_bars_are_seen_in_a_readers_own_colours(scheme, visit):
    tab = visit(FIGURES["worksheet"], scheme=scheme, forced_colors="active")
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    for kind in ("query", "key", "value"):
        assert tab.locator(f".role.{kind}").first.evaluate(SEEN)[0] not in (
            paper,
            "rgba(0, 0, 0, 0)",
        )
    share = tab.locator("#worksheet td.share").first.evaluate(SEEN)[1]
    assert "gradient" in share
    assert paper not in share
    bar = tab.locator(".plot svg .weight").first.evaluate(SEEN)[2]
    assert bar not in (paper, "none")
