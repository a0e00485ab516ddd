"""A reader chooses light or dark, or leaves it to the system."""

import pytest

pytestmark = pytest.mark.ci


def test_scroll_bars_follow_the_scheme(visit):
    scheme = "getComputedStyle(document.documentElement).colorScheme"
    assert visit("", scheme="dark").evaluate(scheme) == "dark"
    assert visit("").evaluate(scheme) != "dark"


def test_the_reader_can_choose_light_or_dark(visit):
    tab = visit("", scheme="dark")
    seen = []
    for media in (": light", ": dark", ""):
        tab.locator("form[data-md-component=palette] label:visible").click()
        tab.wait_for_function(
            "media => document.body.dataset.mdColorMedia === media",
            arg=f"(prefers-color-scheme{media})",
        )
        seen.append(tab.evaluate("document.body.dataset.mdColorScheme"))
    assert seen == ["default", "slate", "slate"]  # light, dark, the system's, which is dark
