"""Each figure that a reader moves computes, says and refuses what the package does."""

import re

import numpy as np
import pytest
from live import RESULTS

import attention

pytestmark = pytest.mark.ci


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
    drawn = one.settled().results()
    assert "200 of 200" in one.form.inner_text()
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
    assert one.settled().results() == drawn


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


# Two heads


def test_the_heads_answer_as_the_package_does(figure):
    one = figure("heads")
    features = np.array([[1, 0], [0, 0], [0, 1]])  # subject, verb, object: she, saw, him
    reports = {"she": [1, 0], "he": [0, 1], "saw": [0, 0], "him": [0, 1], "her": [1, 0]}
    rng = np.random.default_rng(15)
    for asks in rng.integers(0, 13, size=(8, 2, 2)).tolist():
        outputs = []
        for other, sentence in ((False, "she saw him"), (True, "he saw her")):
            one.fill(other=other)
            values = np.array([reports[word] for word in sentence.split()])
            for name, query in zip("AB", asks, strict=True):
                for i, strength in enumerate(query):
                    one.slide(f"{name}{i}", strength)
                weights = attention.attention_weights(np.array([query]), features)[0]
                shown = one.numbers(*(f"{name}weight{i}" for i in range(3)))
                assert shown == pytest.approx(weights, abs=0.51e-4)
                shown = one.numbers(*(f"{name}output{i}" for i in range(2)))
                assert shown == pytest.approx(weights @ values, abs=0.51e-4)
                outputs.append(weights @ values)
            results = one.results()
            assert " ".join(results[f"word{i}"] for i in range(3)) == sentence
        gap = abs(np.subtract(outputs[:2], outputs[2:])).max()
        assert one.numbers("gap") == pytest.approx([gap], abs=0.51e-4)


# The viewer of the trained model


def test_the_viewer_computes_as_the_package_does(figure):
    one = figure("viewer")
    reads = ("query", "key", "value", "output")
    rng = np.random.default_rng(16)
    for _ in range(6):
        tokens = rng.integers(0, 6, size=rng.integers(3, 16))
        kept = [name for name in reads if rng.random() < 0.7]
        one.fill(letters="".join("ABCDEF"[token] for token in tokens))
        one.fill(**{name: name in kept for name in reads})
        back = int(rng.integers(len(tokens)))
        one.slide("back", back)
        run = attention.run_induction(attention.INDUCTION, tokens, reads=tuple(kept))
        chosen = len(tokens) - 1 - back
        shares = np.sort(attention.softmax(run.logits)[chosen])[::-1]
        assert one.numbers(*(f"share{i}" for i in range(5))) == pytest.approx(
            shares[:5], abs=0.51e-4
        )
        for layer, weights in enumerate(run.patterns):
            shown = one.numbers(*(f"weight{layer}{j}" for j in range(len(tokens))))
            assert shown == pytest.approx(weights[chosen], abs=0.51e-4)


def test_the_viewer_breaks_as_the_model_does_and_refuses_other_letters(figure):
    one = figure("viewer")
    one.fill(letters="QRSTQRSTQRST")
    before = one.settled().results()["score"]
    assert before == "8 of 8"
    one.form.locator("[name=layer0]").select_option("off")
    assert one.settled().results()["score"] != before
    one.fill(letters="ABZ")
    assert "Z" in one.problem()
    assert one.results()["score"] == "–"


# The rotation


def test_the_rotation_turns_as_the_package_does(figure):
    one = figure("rotation")
    rng = np.random.default_rng(13)
    for m, k, shift in rng.integers(0, (13, 13, 101), size=(12, 3)).tolist():
        for name, value in (("query", m), ("key", k), ("shift", shift)):
            one.slide(name, value)
        query, key = (attention.rotary_embedding([1.0, 0.0], p + shift) for p in (m, k))
        assert one.numbers("query0", "query1") == pytest.approx(query, abs=0.51e-4)
        assert one.numbers("key0", "key1") == pytest.approx(key, abs=0.51e-4)
        assert one.numbers("dot") == pytest.approx([query @ key], abs=0.51e-4)
        assert one.numbers("queryposition", "keyposition", "distance") == [
            m + shift, k + shift, abs(m - k)
        ]  # fmt: skip
        tilts = [
            float(re.search(r"rotate\((.*)\)", arrow.get_attribute("transform"))[1])
            for arrow in one.form.locator("[data-arrow]").all()
        ]
        wanted = [-np.degrees(np.arctan2(*turned[::-1])) for turned in (key, query)]
        assert tilts == pytest.approx(wanted, abs=0.051)


def test_moving_both_changes_no_dot_product_and_the_arrow_keys_do(figure):
    one = figure("rotation")
    drawing = one.form.locator("svg")
    before, drawn = one.results(), drawing.get_attribute("aria-label")
    one.slide("shift", 77)
    after = one.results()
    assert (after["dot"], after["distance"]) == (before["dot"], before["distance"])
    assert after["query0"] != before["query0"]
    assert drawing.get_attribute("aria-label") != drawn
    slider = one.form.locator("[name=query]")
    slider.focus()
    one.tab.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == one.results()["query"] == "4"
    assert one.results()["dot"] != before["dot"]
    assert one.said() == f"4 apart, the dot product is {one.results()['dot']}."


def test_the_arrows_stay_where_the_build_drew_them(figure):
    code = "(form) => form.querySelector('svg').outerHTML"
    built = figure("rotation", java_script_enabled=False)
    assert figure("rotation").settled().form.evaluate(code) == built.form.evaluate(code)
    assert built.form.locator("svg").is_visible()


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


def test_the_dials_curve_reaches_as_far_as_its_fields_and_goes_with_the_numbers(figure):
    dial = figure("dial")
    places = []
    for n in ("1", "16", "524288", "1000000", "10000000"):
        dial.fill(n=n)
        places.append(float(dial.form.locator(".now").get_attribute("d").split()[0][1:]))
    assert len(set(places)) == len(places)
    assert places == sorted(places)
    dial.fill(n="nonsense")
    assert dial.form.locator("svg[data-x] *").count() == 0
    dial.fill(n="512")
    assert dial.form.locator("svg[data-x] .line").count() == 2


@pytest.mark.parametrize(("name", "field"), [("dial", "h"), ("worksheet", "k10"), ("lab", "seed")])
def test_what_is_wrong_stands_beside_its_field(name, field, figure):
    one = figure(name, width=390)
    one.fill(**{field: "nonsense"})
    box = one.form.locator(f"[name={field}]").bounding_box()
    said = one.form.locator("[role=alert]").bounding_box()
    assert "nonsense" in one.problem()
    assert 0 <= said["y"] - box["y"] < 200


def test_the_probes_slider_reaches_the_score_at_which_a_weight_is_lost(figure):
    probe = figure("probe")
    slider = probe.form.locator("[data-slider=score]")
    slider.fill(slider.get_attribute("max"))
    assert "no number" in probe.results()["mended"]
    probe.fill(score="300")
    assert float(slider.input_value()) == pytest.approx(27.5)
