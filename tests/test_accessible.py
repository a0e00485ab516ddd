"""Each page fits its screen, in light and in dark, and is accessible."""

import re

import pytest
from helpers import OPEN, SIDEWAYS, drawn, importable, need, pages

pytestmark = pytest.mark.ci

# What follows of a class that a block of code has shown: its colours are the same.
SHORTEN = """document.querySelectorAll(".highlight code").forEach(code => {
  const shown = new Set();
  for (const element of code.querySelectorAll("*")) {
    const kind = element.parentElement.className + "/" + element.className;
    shown.has(kind) ? element.remove() : shown.add(kind);
  }
})"""


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
        drawn(tab)
        assert tab.evaluate(SIDEWAYS) == 0, width
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
