"""The figures that a reader moves, used in Chromium as a reader would."""

import re
import time
from urllib.parse import urljoin

import numpy as np
import pytest
from helpers import importable, lesson, need, pages, settle

import attention

pytestmark = pytest.mark.ci

ONE, SCALE = "one-query/", "why-scale/"
MASK, LAYER = "the-causal-mask/", "a-layer-counted/"
FIGURES = {
    "worksheet": ONE,
    "sharpness": SCALE,
    "lab": SCALE,
    "probe": MASK,
    "dial": LAYER,
    "detective": LAYER,
}
RESULTS = """(id) => Object.fromEntries([...document.querySelectorAll(`#${id} [data-out]`)]
  .map(cell => [cell.dataset.out, cell.textContent]))"""
SETTLED = 450  # ms: the address and the spoken summary follow a change by 300


class Figure:
    """One live figure on an open page."""

    def __init__(self, tab, name: str):
        self.tab, self.name = tab, name
        self.form = tab.locator(f"#{name}")

    def fill(self, **texts) -> None:
        for name, text in texts.items():
            field = self.form.locator(f"[name={name}]")
            field.fill(text) if isinstance(text, str) else field.set_checked(text)

    def slide(self, name: str, value: float) -> None:
        self.form.locator(f"input[type=range]:is([name={name}], [data-slider={name}])").fill(
            str(value)
        )

    def results(self) -> dict[str, str]:
        return self.tab.evaluate(RESULTS, self.name)

    def numbers(self, *names: str) -> list[float]:
        results = self.results()
        return [float(results[name].replace(",", "")) for name in names]

    def settles(self, wanted: dict[str, str]) -> None:
        """It shows these results, if not at once."""
        end = time.monotonic() + 10
        while self.results() != wanted and time.monotonic() < end:
            self.tab.wait_for_timeout(50)
        assert self.results() == wanted

    def problem(self) -> str:
        return self.form.locator("[role=alert]").text_content()

    def said(self) -> str:
        self.tab.wait_for_timeout(SETTLED)
        return self.form.locator("[role=status]").text_content()


@pytest.fixture
def figure(visit):
    """`figure("lab")`: that figure, on a page just opened; more words go to `visit`."""

    def open_figure(name: str, fragment: str = "", **options) -> Figure:
        return Figure(visit(FIGURES[name] + fragment, **options), name)

    return open_figure


every_figure = pytest.mark.parametrize("name", FIGURES)


# What holds for each of them


@every_figure
def test_the_script_computes_what_the_build_wrote(name, figure):
    """So the first picture is the last: waking a figure changes no number on it."""
    with_script = figure(name)
    assert with_script.form.locator("fieldset").is_enabled()
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
    "dial": {"n": "4,096", "h": "16"},
    "detective": {"D": "768", "gated": True},
}


@every_figure
def test_a_state_is_shared_by_its_address_and_reset(name, figure):
    one = figure(name)
    before, address = one.results(), one.tab.url
    one.fill(**CHANGES[name])
    said = one.said()
    one.tab.wait_for_timeout(1500 if name == "lab" else 0)
    changed, shared = one.results(), one.tab.url
    assert changed != before
    assert f"#{name}?" in shared
    if name != "lab":  # which speaks when all is drawn
        assert said
    other = figure(name, "#" + shared.partition("#")[2])
    other.settles(changed)
    assert other.form.evaluate("form => form.getBoundingClientRect().top < innerHeight")
    other.form.locator("button[type=reset]").click()
    other.said()
    other.settles(before)
    assert other.tab.url == address
    assert one.tab.faults + other.tab.faults == []


MANGLED = (
    "?",
    "?no=1",
    "?%E0%A4%A=%E0%A4%A",
    "?pair=9,9&target=9&seed=x&q0=&n=&D=",
    "x?q0=1",
)


@every_figure
def test_a_mangled_address_breaks_nothing(name, figure):
    one = figure(name, f"#{name}{MANGLED[0]}")
    before = one.results()
    for fragment in MANGLED[1:]:
        one.tab.evaluate(f"location.hash = '#{name}{fragment}'")
        one.tab.wait_for_timeout(SETTLED)
        assert one.form.locator("fieldset").is_enabled()
    assert one.tab.faults == []
    one.form.locator("button[type=reset]").click()
    one.said()
    assert one.results() == before


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
    await new Promise(done => setTimeout(done, 10));
    const problem = form.querySelector("[role=alert]").textContent;
    if (problem) faults.push(`${field.name} after a reset: ${problem}`);
  }
  return faults;
}"""


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "sharpness"])
def test_no_text_that_is_typed_gives_nan_without_a_word(name, figure):
    """A wrong field is named, marked and explained, and no result is left standing."""
    one = figure(name)
    assert one.form.locator("input[type=text]").count() > 0
    assert one.form.evaluate(TYPE_ALL, NASTY) == []
    assert one.tab.faults == []


@pytest.mark.parametrize("page", [page for page in pages() if page != "code/attention/"])
def test_scripts_load_only_where_a_figure_is(page, visit):
    loaded = {r.url for r in visit(page).responses if "/assets/live/" in r.url}
    assert len(loaded) == (1 if page in FIGURES.values() else 0)


def test_figures_wake_after_instant_navigation(visit):
    """Onward by the links at the foot, and back: each figure is awake, its state as it was."""
    tab = visit(ONE)
    tab.evaluate("window.stayed = true")
    Figure(tab, "worksheet").fill(q0="2")
    tab.wait_for_timeout(SETTLED)
    left = Figure(tab, "worksheet").results()
    way = lesson()[: lesson().index(LAYER) + 1]
    for page in way[1:]:
        tab.locator("a.md-footer__link--next").click()
        tab.wait_for_url(f"**/{page}")
        settle(tab)
        for name, where in FIGURES.items():
            if where == page:
                tab.locator(f"#{name} fieldset:not([disabled])").wait_for()
    one = Figure(tab, "detective")
    one.fill(D="768")
    assert one.numbers("yours-embeddings") == [768 * 50_000]
    for page in reversed(way[:-1]):
        tab.go_back()
        tab.wait_for_url(re.compile(f"/{page}(#.*)?$"))
        settle(tab)
    tab.locator("#worksheet fieldset:not([disabled])").wait_for()
    tab.wait_for_timeout(100)
    assert tab.url.endswith("#worksheet?q0=2")
    assert tab.locator("#worksheet [name=q0]").input_value() == "2"
    assert Figure(tab, "worksheet").results() == left
    assert tab.evaluate("window.stayed") is True
    assert tab.faults == []


SHIFT = """() => new Promise(done => {
  let shift = 0;
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(shift), 300);
})"""


@pytest.mark.parametrize("width", [360, 1280])
@every_figure
def test_nothing_moves_while_a_figure_wakes(name, width, figure):
    assert figure(name, f"#{name}", width=width).tab.evaluate(SHIFT) < 0.02


@every_figure
def test_at_200_percent_zoom_nothing_is_cut_off(name, figure):
    """A window of 1280 pixels, at twice the size, is one of 640."""
    one = figure(name, width=640, device_scale_factor=2)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert one.tab.evaluate(wide) == 0
    cut = one.form.evaluate(
        """(form) => [...form.querySelectorAll("input, select, button, p")].filter(e => {
          const box = e.getBoundingClientRect(), frame = form.getBoundingClientRect();
          const inside = box.left > frame.left - 1 && box.right < frame.right + 1;
          return box.width && !inside && !e.matches("[role=status]");
        }).map(e => e.outerHTML)"""
    )
    assert cut == []
    one.fill(**CHANGES[name])
    assert one.tab.evaluate(wide) == 0


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
        if name != "sharpness":
            one.form.locator("input[type=text]").first.fill("abc")
    assert findings == []


# The worksheet


def test_the_worksheet_follows_every_entry(figure):
    one = figure("worksheet")
    rng = np.random.default_rng(11)
    for _ in range(5):
        q, K, V = (rng.normal(size=shape).round(2) for shape in (3, (3, 3), (3, 3)))
        one.fill(**{f"q{i}": str(x) for i, x in enumerate(q)})
        one.fill(**{f"k{r}{i}": str(x) for r, row in enumerate(K) for i, x in enumerate(row)})
        one.fill(**{f"v{r}{i}": str(x) for r, row in enumerate(V) for i, x in enumerate(row)})
        scores = K @ q
        weights = attention.softmax(scores / np.sqrt(3))
        output = attention.scaled_dot_product_attention(q[None], K, V)[0]
        for kind, wanted in (
            ("score", scores),
            ("scaled", scores / np.sqrt(3)),
            ("exp", np.exp(scores / np.sqrt(3))),
            ("weight", weights),
            ("output", output),
        ):
            got = one.numbers(*(f"{kind}{i}" for i in range(3)))
            assert got == pytest.approx(wanted, abs=0.51e-4), kind
        assert one.numbers("entropy") == pytest.approx([attention.entropy(weights)], abs=0.51e-4)


def test_the_worksheet_shows_one_column_at_a_time_and_judges_the_prediction(figure):
    one = figure("worksheet")
    one.fill(steps=True)
    columns = ["score", "scaled", "exp", "weight", "result"]

    def visible() -> list[str]:
        return [c for c in columns if one.form.locator(f".step-{c}").last.is_visible()]

    assert visible() == []
    one.form.get_by_role("button", name="is", exact=True).click()
    for shown in range(1, 6):
        one.form.get_by_role("button", name="Show the next column").press("Enter")
        assert visible() == columns[:shown]
        verdict = one.form.locator("[data-text=verdict]").text_content()
        assert ("not so" in verdict) == (shown >= 4), verdict
    assert "best, 0.3611" in verdict
    assert "best, 0.3611" in one.said()
    one.form.get_by_role("button", name="best", exact=True).click()
    assert "right" in one.form.locator("[data-text=verdict]").text_content()
    one.fill(steps=False)
    assert visible() == columns


def test_the_worksheet_has_a_word_for_what_overflows(figure):
    one = figure("worksheet")
    one.fill(q0="1e4", k00="1")
    assert one.results()["exp0"] == "infinite"
    assert one.results()["weight0"] == "1.0000"
    assert "too large to be stored" in one.form.inner_text()
    one.fill(q0="1e300", k00="1e300")
    assert one.results()["weight0"] == "no number"
    assert "too large for a number of 64 bits" in one.form.inner_text()


# Width, length, temperature


def test_width_moves_the_raw_weights_alone_and_length_undoes_temperature(figure):
    one = figure("sharpness")
    before = one.results()
    one.slide("d_k", 10)
    wider = one.results()
    assert wider["scaled0"] == before["scaled0"]
    assert float(wider["rawbits"]) < float(before["rawbits"]) / 2
    for i in range(8):
        raw, scaled = (float(wider[f"{kind}score{i}"]) for kind in ("raw", "scaled"))
        assert raw == pytest.approx(32 * scaled, abs=0.17)  # the root of 1024; two decimals shown
    one.slide("times", 2)
    one.slide("temperature", 2)
    after = one.results()
    assert (after["rawbits"], after["scaledbits"]) == (wider["rawbits"], wider["scaledbits"])
    scores = [float(one.results()[f"rawscore{i}"]) for i in range(8)]
    bits = attention.entropy(attention.softmax(np.array(scores)))
    assert float(after["rawbits"]) == pytest.approx(bits, abs=0.01)


def test_a_slider_moves_by_arrow_key_and_says_its_value(figure):
    one = figure("sharpness")
    slider = one.form.locator("[name=d_k]")
    slider.focus()
    one.tab.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == one.results()["d_k"] == "8"
    assert "Entropy raw" in one.said()


# The lab


def test_the_lab_draws_fresh_trials_that_agree_within_their_errors(figure):
    """Other draws, the same means; and a seed gives the same draws again."""
    one = figure("lab")
    page = one.results()
    one.fill(seed="2024")
    one.tab.wait_for_function(
        "document.querySelector('#lab [data-text=progress]').textContent.startsWith('200 of')"
    )
    drawn = one.results()
    for w in range(5):
        assert drawn[f"raw{w}"] != page[f"raw{w}"]
        for kind in ("raw", "scaled"):
            (a, da), (b, db) = (map(float, x[f"{kind}{w}"].split("±")) for x in (page, drawn))
            assert abs(a - b) < 4 * np.hypot(da, db)
            assert 0.5 < da / db < 2
    assert float(drawn["rawmedian4"]) < 0.001 < float(drawn["rawmean4"])
    assert one.form.locator("svg path.error").count() == 10
    one.form.locator("[data-do=draw]").click()
    assert one.form.locator("[name=seed]").input_value() not in ("", "2024")
    one.fill(seed="2024")
    one.settles(drawn)


def test_the_lab_shows_no_error_of_a_single_trial(figure):
    """Where the machine is slow and the reader touches a field when one trial is drawn."""
    one = figure("lab")
    page = one.results()
    progress, shown = one.form.evaluate(
        f"""(form) => {{
          let now = 0;
          performance.now = () => now += 1000;  // as if each trial took a second
          form.elements.seed.value = "7";
          form.elements.seed.dispatchEvent(new Event("input", {{ bubbles: true }}));
          form.elements.seed.dispatchEvent(new Event("input", {{ bubbles: true }}));
          return [form.querySelector("[data-text=progress]").textContent, ({RESULTS})(form.id)];
        }}"""
    )
    assert progress.startswith("1 of")
    assert shown == page
    assert one.tab.faults == []


# The probe


@pytest.mark.parametrize("score", ["10", "-4", "1e3"])
def test_the_probe_marks_what_moved_and_only_with_the_mask_last(score, figure):
    one = figure("probe")
    one.fill(score=score)
    scores = attention.MASK.scores.copy()
    scores[0, 3] = float(score)
    visible = attention.causal_mask(4, 4)
    late = np.where(visible, attention.softmax(scores), 0.0)
    results = one.results()
    for i in range(4):
        for j in range(i + 1):
            shown = results[f"last{i}{j}"]
            value = float(re.sub("[↑↓] ", "", shown))
            assert value == pytest.approx(late[i, j], abs=0.51e-4)
            assert (shown[0] in "↑↓") == (i == 0), shown
    assert not any(shown[0] in "↑↓" for name, shown in results.items() if "first" in name)
    moved = one.form.locator(".moved")
    assert moved.count() == 1
    assert ("0 divided by 0" in results["mended"]) == (score == "1e3")
    assert "no weight moved" in one.said()


def test_the_probe_takes_any_hidden_pair(figure):
    one = figure("probe")
    one.form.locator("select").select_option("1,2")
    assert float(one.form.locator("[name=score]").input_value()) == attention.MASK.scores[1, 2]
    assert one.form.locator(".moved").count() == 0
    one.slide("score", 20)
    assert one.form.locator(".moved").count() == 2
    assert one.form.locator("[name=score]").input_value() == "20"


# Costs and counts


def test_the_dial_counts_as_the_package_does(figure):
    one = figure("dial")
    rng = np.random.default_rng(12)
    for _ in range(20):
        n, H = (int(10 ** rng.uniform(0, 6.9)) for _ in range(2))
        h = int(rng.integers(1, 100))
        D = h * int(rng.integers(1, 1000))
        one.fill(n=str(n), D=f"{D:,}", H=str(H), h=str(h))
        wanted = {
            "scores": attention.score_entries(n),
            "allscores": attention.score_entries(n, h),
            "bytes": attention.score_bytes(n, h),
            "matrices": attention.matrix_flops(n, D, H),
            "quadratic": attention.attention_flops(n, D),
            "layer": attention.layer_flops(n, D, H),
            "crossover": attention.crossover_length(D, H),
        }
        results = one.results()
        assert {name: results[name] for name in wanted} == {k: f"{v:,}" for k, v in wanted.items()}
        share = 100 * wanted["quadratic"] / wanted["layer"]
        assert float(results["share"][:-1]) == pytest.approx(share, abs=0.051)
        side = "above" if n > wanted["crossover"] else "below"
        assert results["side"].startswith(side)
    one.fill(n=str(2 * D + H))
    assert one.results()["side"].startswith("exactly")


def test_the_dial_turns_by_slider_and_refuses_heads_that_do_not_divide(figure):
    one = figure("dial")
    one.slide("n", 13)
    assert one.form.locator("[name=n]").input_value() == "8192"
    assert one.results()["scores"] == "67,108,864"
    one.fill(h="7")
    assert "must divide D" in one.problem()
    assert one.form.locator("[name=h]").get_attribute("aria-invalid") == "true"


@pytest.mark.parametrize("number", range(len(attention.PUBLISHED)))
def test_the_detective_reaches_each_published_total_by_hand(number, figure):
    one = figure("detective")
    entry = attention.PUBLISHED[number]
    one.form.locator("select").select_option(str(number))
    assert "too" in one.results()["verdict"]
    for name, value in entry.model._asdict().items():
        if isinstance(value, bool):
            one.fill(**{name: value})
        else:
            one.fill(**{name: "" if value is None else str(value)})
    results = one.results()
    assert results["yours-total"] == f"{entry.total:,}"
    assert results["verdict"].startswith("Solved")
    assert entry.name in one.said()


def test_the_detective_compares_parts_and_shows_the_answer(figure):
    one = figure("detective")
    assert not one.form.locator(".theirs").last.is_visible()
    one.fill(compare=True)
    theirs = attention.count_parameters(attention.PUBLISHED[0].model)
    assert one.results()["theirs-attention"] == f"{theirs['attention']:,}"
    assert one.form.locator(".theirs").last.is_visible()
    one.form.locator("[data-do=fill]").click()
    assert one.results()["verdict"].startswith("Solved")
    one.fill(kv_heads="5")
    assert "must divide h" in one.problem()


def test_a_question_of_one_page_leaves_the_address_of_another_alone(visit, address):
    """A fragment that belongs to a heading stays until a figure is changed."""
    tab = visit(f"{ONE}#try-it")
    tab.wait_for_timeout(SETTLED)
    assert tab.url == urljoin(address, f"{ONE}#try-it")
