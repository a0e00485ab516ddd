"""The viewer of the trained model does what the package does, and shows it to everybody."""

import gzip
import re
from urllib.parse import urljoin

import numpy as np
import pytest
from live import TRAINED

from attention import (
    INDUCTION,
    causal_mask,
    exact_induction,
    induction,
    induction_by_hand,
    repeated_sequences,
    run_induction,
    softmax,
    train_induction,
)

pytestmark = pytest.mark.ci

READS = [list(induction.READS), ["key"], ["query", "value", "output"], []]
WAYS = {
    "off": lambda tokens: np.zeros((len(tokens),) * 2),
    "back1": lambda tokens: np.eye(len(tokens))[np.maximum(np.arange(len(tokens)) - 1, 0)],
    "back2": lambda tokens: np.eye(len(tokens))[np.maximum(np.arange(len(tokens)) - 2, 0)],
    "alike": lambda tokens: softmax(
        np.zeros((len(tokens),) * 2), mask=causal_mask(len(tokens), len(tokens))
    ),
    "induction": exact_induction,
}


@pytest.fixture(scope="module")
def js(browser, address):
    """`js(code, cases)`: what an expression of the script's exports `m` gives for each case."""
    tab = browser.new_context().new_page()
    tab.goto(urljoin(address, "404.html"))
    script = urljoin(address, "assets/live/induction.js")
    tab.evaluate(f"import('{script}').then(m => window.m = m)")
    yield lambda code, cases: tab.evaluate(f"(cases) => cases.map(one => {code})", cases)
    tab.context.close()


def sequences() -> list[list[int]]:
    drawn = repeated_sequences(np.random.default_rng(5), 12).tokens
    lengths = [1, 2, 3, 7, 15, 24]
    others = np.random.default_rng(6).integers(0, 20, (6, 24))  # with letters that come anyhow
    cut = [row[: lengths[i % 6]] for i, row in enumerate([*drawn, *others])]
    return [row.tolist() for row in cut]


def square(rows) -> np.ndarray:
    """A pattern as the package has it: the script leaves out what is hidden."""
    return np.array([row + [0] * (len(rows) - len(row)) for row in rows])


@pytest.mark.parametrize("model", ["shipped", "in training", "by hand"])
def test_the_script_runs_a_model_as_the_package_does(model, js):
    models = {"shipped": lambda: INDUCTION, "in training": lambda: train_induction(steps=30)}
    model = models.get(model, lambda: induction_by_hand(sharpness=3.0))()
    given = {name: part.tolist() for name, part in zip(model._fields, model, strict=True)}
    cases = []
    for tokens in sequences():
        for reads in READS:
            for ways in ([None, None], ["back1", None], [None, "induction"], ["alike", "off"]):
                cases.append({"tokens": tokens, "reads": reads, "ways": ways})
    code = """(() => {
      const patterns = one.ways.map(way => m.WAYS[way]?.(one.tokens));
      const run = m.runInduction(window.model ??= %s, one.tokens, patterns, one.reads);
      return [run.logits, run.patterns];
    })()"""
    js("delete window.model", [None])
    for case, (logits, patterns) in zip(cases, js(code % given, cases), strict=True):
        tokens = case["tokens"]
        replaced = [way and WAYS[way](tokens) for way in case["ways"]]
        run = run_induction(model, tokens, replaced, case["reads"])
        scale = max(1, abs(run.logits).max())
        assert np.allclose(logits, run.logits, rtol=0, atol=1e-12 * scale), case
        for mine, pattern in zip(patterns, run.patterns, strict=True):
            assert np.allclose(square(mine), pattern, rtol=0, atol=1e-12), case


def test_the_script_reads_the_bytes_that_the_package_writes(js):
    shapes = [part.shape for part in INDUCTION]
    text = induction.model_to_text(INDUCTION)
    (read,) = js("m.readModel(...one)", [[text, shapes]])
    for name, part in zip(INDUCTION._fields, INDUCTION, strict=True):
        assert np.array_equal(read[name], part)


def test_what_followed_is_what_the_package_says(js):
    for tokens in sequences():
        same = induction.follows_the_same(tokens)
        found = js(f"m.followers({tokens}, one)", list(range(len(tokens))))
        for row, known in zip(same, found, strict=True):
            assert {tokens[j] for j in np.flatnonzero(row)} == set(known)


def test_waking_redraws_what_the_build_has_drawn(figure):
    code = """form => [...form.querySelectorAll("svg")].map(svg =>
      [svg.innerHTML, svg.getAttribute("viewBox"), svg.ariaLabel])"""
    built = figure("viewer", java_script_enabled=False).form.evaluate(code)
    assert len(built) == 3
    awake = figure("viewer").settled()
    assert awake.form.evaluate(code) == built


def test_it_shows_what_the_package_computes_for_letters_that_are_typed(figure):
    one = figure("viewer")
    one.fill(letters="m a b c d a b")
    tokens = ["ABCDEFGHIJKLMNOPQRST".index(letter) for letter in "MABCDAB"]
    run = run_induction(INDUCTION, tokens)
    shares = softmax(run.logits[-1])
    results = one.settled().results()
    assert results["looks"] == "B at place 6"
    assert results["next0"] == "C"
    assert float(results["share0"]) == pytest.approx(shares.max(), abs=0.51e-4)
    for layer, pattern in enumerate(run.patterns):
        got = one.numbers(*(f"weight{layer}{j}" for j in range(7)))
        assert got == pytest.approx(pattern[-1], abs=0.51e-4)
    assert "then came C. The model says C" in one.said()


def test_what_is_taken_away_breaks_the_answers(figure):
    one = figure("viewer")
    assert one.results()["score"] == "4 of 4"
    broken = {}
    for layer in ("layer0", "layer1"):
        one.form.locator(f"[name={layer}]").select_option("off")
        broken[layer] = one.results()["score"]
        assert f"Layer {layer[-1]} looks at nothing" in one.said()
        one.form.locator(f"[name={layer}]").select_option("")
    one.fill(key=False)
    broken["key"] = one.results()["score"]
    one.fill(key=True, query=False, value=False, output=False)
    assert one.results()["score"] == "4 of 4"
    one.form.locator("button[type=reset]").click()
    one.settled().slide("moment", 0)
    broken["untrained"] = one.settled().results()["score"]
    for what, score in broken.items():
        assert int(score.split()[0]) <= 1, (what, score)


def test_a_letter_is_chosen_by_hover_by_tap_and_by_keyboard(figure):
    one = figure("viewer")
    one.form.locator("[data-place='12']").hover()
    assert one.results()["looks"] == "A at place 12"
    back = one.form.locator("[name=back]")
    back.focus()
    one.tab.keyboard.press("ArrowLeft")
    assert one.results()["looks"] == "H at place 11"
    assert back.get_attribute("aria-valuetext") == "H at place 11"
    assert one.said().startswith("H at place 11. Layer 0 looks most at L at place 10")
    touched = figure("viewer", has_touch=True, width=390)
    touched.form.locator("[data-place='9']").tap()
    assert touched.results()["looks"] == "N at place 9"


def test_the_last_letter_stays_the_last_as_one_types(figure):
    one = figure("viewer")
    one.fill(letters="ABCABCABCABCABCABCABCABC")
    assert one.results()["looks"] == "C at place 23"
    one.fill(letters="AB")
    assert one.results()["looks"] == "B at place 1"
    one.fill(letters="ABC" * 8 + "A")
    assert "25 letters: the model takes 24" in one.problem()
    one.fill(letters="ABU")
    assert "has U: the model knows A to T alone" in one.problem()


@pytest.mark.parametrize("width", [360, 1280])
def test_the_longest_sequence_scrolls_in_its_own_frame(width, figure):
    one = figure("viewer", width=width)
    one.fill(letters="ABCDEFGHIJKL" * 2)
    assert one.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    reach = one.form.locator(".viewer-row").get_attribute("tabindex")
    assert reach == ("0" if width == 360 else None)


def test_it_is_light(site):
    """Script, markup and the weights of five moments, as they travel."""
    page = (site / TRAINED / "index.html").read_text("utf-8")
    figure = re.search(r'<form id="viewer".*?</form>', page, re.S)[0]
    script = (site / "assets/live/induction.js").read_bytes()
    size = len(gzip.compress(figure.encode(), 6)) + len(gzip.compress(script, 6))
    assert size < 25_000, size
