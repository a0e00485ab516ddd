"""Every figure that a reader moves: awake, shared by its address, and usable by all."""

import re
from urllib.parse import urljoin

import pytest
from helpers import SIDEWAYS, importable, lesson, need, pages, settle
from live import FIGURES, LAYER, ONE, SLIDERS, Figure

pytestmark = pytest.mark.ci

every_figure = pytest.mark.parametrize("name", FIGURES)


@every_figure
def test_the_script_computes_what_the_build_wrote(name, figure):
    """So the first picture is the last: waking a figure changes no number on it."""
    with_script = figure(name).settled()
    built = figure(name, java_script_enabled=False)
    written = {
        cell.get_attribute("data-out"): cell.text_content()
        for cell in built.form.locator("[data-out]").all()
    }
    assert len(written) > 5
    assert with_script.results() == written
    assert with_script.tab.faults == []


@every_figure
def test_without_javascript_the_numbers_stand_and_no_dead_control_shows(name, figure):
    built = figure(name, java_script_enabled=False)
    assert built.form.locator("table").last.is_visible()
    shown = [c for c in built.form.locator("input, select, button").all() if c.is_visible()]
    assert shown == []
    assert "JavaScript" in built.form.inner_text()


@every_figure
def test_every_control_has_a_name_and_can_be_reached_by_tab(name, figure):
    one = figure(name)
    if name == "worksheet":
        one.fill(steps=True)
    controls = "input, select, button"
    unnamed = one.form.evaluate(
        f"""(form) => [...form.querySelectorAll('{controls}')].filter(c =>
          !c.labels?.length && !c.ariaLabel && !c.textContent.trim()).map(c => c.outerHTML)"""
    )
    assert unnamed == []
    one.form.evaluate(
        """(form) => {
          window.met = new Set();
          const first = form.querySelector('input, select, button');
          first.focus();
          met.add(first);
        }"""
    )
    for _ in range(60):
        one.tab.keyboard.press("Tab")
        one.tab.evaluate("met.add(document.activeElement)")
    missed = one.form.evaluate(
        f"(form) => [...form.querySelectorAll('{controls}')].filter(c => c.checkVisibility() "
        "&& !c.disabled && !met.has(c)).map(c => c.outerHTML)"
    )
    assert missed == []


CHANGES = {
    "worksheet": {"q0": "1/3", "k11": ".5", "v20": "-1e3"},
    "sharpness": {"d_k": "8", "times": "2", "temperature": "-1"},
    "lab": {"seed": "7", "trials": "20"},
    "probe": {"score": "10"},
    "heads": {"A1": "4", "other": True},
    "viewer": {"letters": "abcabca", "back": "2", "moment": "3", "key": False},
    "rotation": {"query": "5", "shift": "40"},
    "dial": {"n": "4,096", "h": "16"},
    "detective": {"D": "768", "gated": True},
}


@every_figure
def test_a_state_is_shared_by_its_address_and_reset(name, figure):
    one = figure(name)
    before, address = one.results(), one.tab.url
    one.fill(**CHANGES[name])
    said = one.said()
    changed, shared = one.results(), one.tab.url
    assert changed != before
    assert f"#{name}?" in shared
    assert said
    other = figure(name, "#" + shared.partition("#")[2])
    assert other.settled().results() == changed
    assert other.form.evaluate("form => form.getBoundingClientRect().top < innerHeight")
    other.form.locator("button[type=reset]").click()
    assert other.settled().results() == before
    assert other.tab.url == address
    assert one.tab.faults + other.tab.faults == []


GO_TO = """(hash) => new Promise(done => {
  addEventListener("hashchange", done, { once: true });
  location.hash = hash;
})"""
MANGLED = (
    "?",
    "?no=1",
    "?%E0%A4%A=%E0%A4%A",
    "?pair=9,9&target=9&seed=x&q0=&n=&D=",
    "x?q0=1",
)


@every_figure
def test_a_mangled_address_breaks_nothing(name, figure):
    one = figure(name, f"#{name}{MANGLED[0]}").settled()
    before = one.results()
    for fragment in MANGLED[1:]:
        one.tab.evaluate(GO_TO, f"#{name}{fragment}")
        one.settled()
        assert one.form.locator("fieldset").is_enabled()
    assert one.tab.faults == []
    one.form.locator("button[type=reset]").click()
    assert one.settled().results() == before


NASTY = ["", "abc", "1e999", "-1e308", "1e308", "1/0", "0", "-0", "nan", "1,000", "1e-320", "∞"]
# Type each text into each field; give what is wrong with how the figure takes it.
TYPE_ALL = """async (form, texts) => {
  const faults = [];
  for (const field of form.querySelectorAll("input[type=text]")) {
    for (const text of texts) {
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      const fault = (what) => faults.push(`${field.name} of ${text}: ${what}`);
      const bare = form.innerText.match(/NaN|Infinity|undefined|null/);
      if (bare) fault(`shows ${bare}`);
      const problem = form.querySelector("[role=alert]").textContent;
      const wrong = field.getAttribute("aria-invalid") === "true";
      if (wrong !== Boolean(problem)) fault(`marked ${wrong}, said "${problem}"`);
      if (wrong && !problem.includes(field.dataset.name)) fault(`not named in "${problem}"`);
      const left = [...form.querySelectorAll("[data-out]")].filter(e => e.textContent !== "–");
      if (wrong && left.length && form.id !== "lab") fault(`still says ${left[0].textContent}`);
    }
    form.querySelector("button[type=reset]").click();
    await new Promise(done => setTimeout(done));
    const problem = form.querySelector("[role=alert]").textContent;
    if (problem) faults.push(`${field.name} after a reset: ${problem}`);
  }
  return faults;
}"""


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in SLIDERS])
def test_no_text_that_is_typed_gives_nan_without_a_word(name, figure):
    """A wrong field is named, marked and explained, and no result is left standing."""
    one = figure(name)
    assert one.form.locator("input[type=text]").count() > 0
    assert one.form.evaluate(TYPE_ALL, NASTY) == []
    assert one.tab.faults == []


@pytest.mark.parametrize("page", [page for page in pages() if page != "code/attention/"])
def test_scripts_load_only_where_a_figure_is(page, visit):
    loaded = [r.url for r in visit(page).responses if "/assets/live/" in r.url]
    assert len(loaded) == len(set(loaded)) == (3 if page in FIGURES.values() else 0)


def test_figures_wake_after_instant_navigation(visit):
    """Onward by the links at the foot, and back: each figure is awake, its state as it was."""
    tab = visit(ONE)
    tab.evaluate("window.stayed = true")
    Figure(tab, "worksheet").fill(q0="2")
    left = Figure(tab, "worksheet").settled().results()
    way = lesson()[: lesson().index(LAYER) + 1]
    for page in way[1:]:
        tab.locator("a.md-footer__link--next").click()
        tab.wait_for_url(f"**/{page}")
        settle(tab)
        for name, where in FIGURES.items():
            if where == page:
                Figure(tab, name).settled()
    one = Figure(tab, "detective")
    one.fill(D="768")
    assert one.numbers("yours-embeddings") == [768 * 50_000]
    for page in reversed(way[:-1]):
        tab.go_back()
        tab.wait_for_url(re.compile(f"/{page}(#.*)?$"))
        settle(tab)
    worksheet = Figure(tab, "worksheet").settled()
    assert tab.url.endswith("#worksheet?q0=2")
    assert tab.locator("#worksheet [name=q0]").input_value() == "2"
    assert worksheet.results() == left
    assert tab.evaluate("window.stayed") is True
    assert tab.faults == []


# How far things on the page have moved; that they did is told after the frame which shows it.
SHIFT = """async () => {
  let shift = 0;
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  for (let frames = 0; frames < 3; frames += 1) await new Promise(requestAnimationFrame);
  await new Promise(requestIdleCallback);
  return shift;
}"""


@pytest.mark.parametrize("width", [360, 1280])
@every_figure
def test_nothing_moves_while_a_figure_wakes(name, width, figure):
    assert figure(name, f"#{name}", width=width).settled().tab.evaluate(SHIFT) < 0.02


@every_figure
def test_at_200_percent_zoom_nothing_is_cut_off(name, figure):
    """A window of 1280 pixels, at twice the size, is one of 640."""
    one = figure(name, width=640, device_scale_factor=2)
    assert one.tab.evaluate(SIDEWAYS) == 0
    cut = one.form.evaluate(
        """(form) => [...form.querySelectorAll("input, select, button, p")].filter(e => {
          const box = e.getBoundingClientRect(), frame = form.getBoundingClientRect();
          const inside = box.left > frame.left - 1 && box.right < frame.right + 1;
          return box.width && !inside && !e.matches("[role=status]");
        }).map(e => e.outerHTML)"""
    )
    assert cut == []
    one.fill(**CHANGES[name])
    assert one.tab.evaluate(SIDEWAYS) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@every_figure
def test_a_figure_in_use_is_accessible(name, scheme, figure):
    """No finding of axe with everything shown, nor with a field that is wrong."""
    axe = need(importable("axe_playwright_python.sync_playwright"), "axe-playwright-python").Axe()
    one = figure(name, scheme=scheme)
    if name == "worksheet":
        one.fill(steps=True)
    if name == "detective":
        one.fill(compare=True)
    if name == "probe":
        one.fill(score="10")
    findings = []
    for _ in range(2):
        ran = axe.run(one.tab, f"#{name}", options={"resultTypes": ["violations"]})
        findings += [v["id"] for v in ran.response["violations"]]
        if name not in SLIDERS:
            one.form.locator("input[type=text]").first.fill("abc")
    assert findings == []


def test_a_question_of_one_page_leaves_the_address_of_another_alone(visit, address):
    """A fragment that belongs to a heading stays until a figure is changed."""
    tab = visit(f"{ONE}#try-it")
    Figure(tab, "worksheet").settled()
    assert tab.url == urljoin(address, f"{ONE}#try-it")
