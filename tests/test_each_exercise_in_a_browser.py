"""Each further exercise works in Chromium: it is solved there, and a mistake gets its name."""

from urllib.parse import urljoin

import pytest
from _lesson.exercise import EXERCISES, YOUR_TURN
from _lesson.exercise.page import ExercisePage
from helpers import drawn, follow, go, importable, need

pytestmark = pytest.mark.ci

FURTHER = {file.stem: ExercisePage(file) for file in EXERCISES if file != YOUR_TURN}
BOX, EDITOR = "[data-kind=check] textarea", "[data-kind=check] .cm-content"
RESULTS = "[data-kind=check] .turn-results"
ENDED = "[data-kind=check] .turn-summary:not(:text-matches('…$|^Not run|^Changed'))"


def checked(tab, code: str) -> str:
    """What the page says of this code."""
    if not tab.locator(EDITOR).count():
        tab.locator(BOX).focus()
    tab.locator(EDITOR).fill(code)
    tab.get_by_role("button", name="Run checks").click()
    tab.locator(ENDED).wait_for(timeout=60_000)
    return tab.locator(RESULTS).inner_text()


@pytest.mark.parametrize("stem", FURTHER)
def test_it_is_solved_a_mistake_is_named_and_each_keeps_its_own_code(stem, browser, address):
    axe = need(importable("axe_playwright_python.sync_playwright"), "axe-playwright-python").Axe()
    exercise = FURTHER[stem].exercise
    context = browser.new_context(viewport={"width": 360, "height": 800})
    tab, faults = context.new_page(), []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    follow(tab)
    go(tab, urljoin(address, f"{stem}/"))
    tab.locator("[data-kind=check] textarea:not([readonly])").wait_for()
    wrong = exercise.wrong[0]
    said = checked(tab, wrong["program"])
    assert f"These are the outputs of: {wrong['name']}" in said
    assert wrong["comes_from"] in said
    drawn(tab)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.evaluate(wide) == 0
    found = axe.run(tab).response["violations"]
    assert [(f["id"], [node["html"] for node in f["nodes"]]) for f in found] == []
    said = checked(tab, exercise.data["solution"])
    assert said.startswith(f"All {len(exercise.cases)} checks passed")
    assert exercise.data["next"]["says"] in said
    tab.get_by_role("button", name="Run the wrong programs").click()
    tab.locator("[data-kind=cases] .turn-summary:text-matches('Your cases catch')").wait_for()
    go(tab, urljoin(address, f"{YOUR_TURN.stem}/"))
    tab.locator("[data-kind=check] textarea:not([readonly])").wait_for()
    assert tab.locator(BOX).input_value() != exercise.data["solution"]
    go(tab, urljoin(address, f"{stem}/"))
    tab.locator("[data-kind=check] textarea:not([readonly])").wait_for()
    assert tab.locator(BOX).input_value() == exercise.data["solution"]
    assert faults == []
    context.close()
