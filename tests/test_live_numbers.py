"""The live figures compute what the package computes: each script function, in Chromium, against
the Python it repeats, on inputs made here."""

import math
from urllib.parse import urljoin

import numpy as np
import pytest

import attention

pytestmark = pytest.mark.ci

NAN, INF = math.nan, math.inf
TOLERANCE = 1e-12
CASES = 300
# Scores that have gone wrong somewhere: none, hidden, endless, tied, far apart, no number.
EDGES = [
    [],
    [0.0],
    [-INF],
    [-INF, -INF],
    [INF],
    [INF, INF, 1.0],
    [INF, -INF],
    [NAN, 1.0],
    [NAN, -INF],
    [-INF, 2.0, NAN],
    [1.0, 1.0, 1.0],
    [0.0, -0.0],
    [1100.0, 1099.0],
    [-1100.0, -1099.0],
    [1e308, -1e308],
    [5e-324, 0.0],
    [0.0, -745.0, -746.0],
]


@pytest.fixture(scope="module")
def js(browser, address):
    """`js(name, argument lists)`: what that function of numbers.js gives for each of them."""
    tab = browser.new_context().new_page()
    tab.goto(urljoin(address, "404.html"))
    tab.evaluate(f"import('{urljoin(address, 'assets/live/numbers.js')}').then(m => window.m = m)")

    def call(name: str, cases: list, code: str = "m[name](...args)"):
        run = f"([name, cases]) => cases.map(args => {code})"
        return tab.evaluate(run, [name, cases])

    yield call
    tab.context.close()


def agree(got, wanted, case=None) -> None:
    """Equal to 1e-12, or both no number, or both the same infinity; shapes equal too."""
    got, wanted = np.asarray(got, float), np.asarray(wanted, float)
    assert got.shape == wanted.shape, case
    with np.errstate(invalid="ignore"):
        near = abs(got - wanted) <= TOLERANCE * np.maximum(1, abs(wanted))
    same = near | (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    assert same.all(), (case, got, wanted)


def rows(seed: int) -> list[list[float]]:
    """Random scores: of many lengths and sizes, some tied, some hidden."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(CASES):
        row = rng.normal(size=rng.integers(1, 12)) * 10.0 ** rng.integers(-3, 4)
        row[rng.random(len(row)) < 0.15] = -INF
        if rng.random() < 0.3:
            row = row.round()
        made.append(row.tolist())
    return made


def test_softmax(js):
    cases = EDGES + rows(1)
    for case, got in zip(cases, js("softmax", [[c] for c in cases]), strict=True):
        agree(got, attention.softmax(np.array(case, float)), case)


def test_softmax_with_a_mask(js):
    rng = np.random.default_rng(2)
    cases = [[c, (rng.random(len(c)) < 0.6).tolist()] for c in EDGES + rows(2)]
    for (z, mask), got in zip(cases, js("softmax", cases), strict=True):
        agree(got, attention.softmax(np.array(z, float), mask=np.array(mask, bool)), (z, mask))


def test_entropy(js):
    cases = [attention.softmax(np.array(c, float)).tolist() for c in EDGES + rows(3)]
    cases += [[1.0], [0.0, 0.0], [1.0, 0.0], [0.5, 0.5, 0.0], [NAN, 0.5]]
    for case, got in zip(cases, js("entropy", [[c] for c in cases]), strict=True):
        agree(got, attention.entropy(np.array(case, float)), case)


@pytest.mark.parametrize("weights", [[-0.1, 1.1], [0.5, 0.6], [0.2], [INF, 0.0]])
def test_entropy_refuses_what_are_no_weights(js, weights):
    with pytest.raises(ValueError, match="weight") as refused:
        attention.entropy(np.array(weights))
    assert (
        js("entropy", [[weights]], TRY)[0].partition(":")[0] == str(refused.value).partition(":")[0]
    )


def vectors(seed: int) -> list:
    """Queries with keys and values of many widths, now and then with a NaN or an infinity."""
    rng = np.random.default_rng(seed)
    cases = []
    for number in range(CASES):
        n, d_k, d_v = rng.integers(1, 6, size=3)
        q, K, V = rng.normal(size=d_k), rng.normal(size=(n, d_k)), rng.normal(size=(n, d_v))
        if number % 5 == 0:
            odd = (NAN, INF, -INF, 1e200, 1e308)[number // 5 % 5]
            for array in (q, K, V):
                array[(rng.random(array.shape) < 0.2)] = odd
        mask = rng.random(n) < 0.7
        cases.append((q, K, V, mask))
    return cases


def test_attention_from_end_to_end(js):
    """Scores, weights and output; a hidden NaN has no influence, and a score too large is NaN."""
    code = """(() => {
      const [q, K, V, mask] = args, scores = m.attentionScores(q, K);
      const seen = mask.map((see, i) => see && scores[i] !== -Infinity);
      const weights = m.softmax(scores, seen);
      return [scores, weights, m.weightedSum(weights, V, seen)];
    })()"""
    cases = vectors(4)
    given = [[x.tolist() for x in case] for case in cases]
    for (q, K, V, mask), got in zip(cases, js("", given, code), strict=True):
        scores = attention.attention_scores(q[None], K)[0]
        weights = attention.attention_weights(q[None], K, attn_mask=mask[None])[0]
        output = attention.scaled_dot_product_attention(q[None], K, V, attn_mask=mask[None])[0]
        for one, other in zip(got, (scores, weights, output), strict=True):
            agree(one, other, (q, K, V, mask))


def test_causal_mask(js):
    cases = [[a, b, o] for a in range(4) for b in range(4) for o in (-1, 0, 2)]
    for case, got in zip(cases, js("causalMask", cases), strict=True):
        assert np.array_equal(np.array(got, bool).reshape(case[:2]), attention.causal_mask(*case))


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_positions(js, interleaved):
    rng = np.random.default_rng(11)
    cases = []
    for _ in range(CASES):
        x = rng.normal(size=2 * rng.integers(1, 9))
        position, base = int(rng.integers(0, 500)), float(rng.choice([10000, 100, 500000]))
        cases.append([x.tolist(), position, base, interleaved])
    for case, got in zip(cases, js("rotaryEmbedding", cases), strict=True):
        agree(got, attention.rotary_embedding(*case), case)


def test_statistics(js):
    """Mean, median, standard error and the Jacobian's norm, by numpy's definitions."""
    rng = np.random.default_rng(5)
    lists = [rng.normal(size=rng.integers(2, 40)).tolist() for _ in range(CASES)]
    lists += [[3.0, 1.0], [2.0, 2.0, 2.0], [10.0, 9.0, -1.0], [NAN, 1.0, 2.0]]
    for name, wanted in {
        "mean": np.mean,
        "median": np.median,
        "standardError": lambda x: np.std(x, ddof=1) / np.sqrt(len(x)),
    }.items():
        for case, got in zip(lists, js(name, [[c] for c in lists]), strict=True):
            agree(got, wanted(np.array(case)), (name, case))
    for case, got in zip(rows(6), js("jacobianNorm", [[weights(c)] for c in rows(6)]), strict=True):
        p = np.array(weights(case))
        agree(got, np.linalg.norm(np.diag(p) - np.outer(p, p)), case)


def weights(scores) -> list[float]:
    return attention.softmax(np.array(scores, float)).tolist()


@pytest.mark.parametrize("d_k", attention.SCALE.widths)
def test_a_trial_of_the_lab(js, d_k):
    """The same draws give the same entropies and norms, raw and scaled."""
    query, key = attention.draw_trials(np.random.default_rng(7), d_k, trials=20)
    given = [[q[0].tolist(), K.tolist()] for q, K in zip(query, key, strict=True)]
    for (q, K), got in zip(given, js("trial", given), strict=True):
        raw = attention.softmax(np.array(K) @ q)
        scaled = attention.softmax(np.array(K) @ q / np.sqrt(d_k))
        norms = [np.linalg.norm(np.diag(p) - np.outer(p, p)) for p in (raw, scaled)]
        agree(got, [attention.entropy(raw), attention.entropy(scaled), *norms])


def test_the_labs_random_numbers_are_normal_and_return_with_their_seed(js):
    code = """(() => {
      const draw = m.normals(args[0]), x = m.range(200000).map(draw);
      return [1, 2, 3, 4].map(power => m.mean(x.map(v => v ** power)))
        .concat(m.mean(x.slice(1).map((v, i) => v * x[i])), x.slice(0, 3));
    })()"""
    seeds = [[seed] for seed in (0, 1, 2, 12345, 2**31, 2**32 + 1, 2**40)]
    found = js("", seeds, code)
    assert found == js("", seeds, code)
    assert len({tuple(one) for one in found}) == len(seeds)
    moments = 0, 1, 0, 3, 0
    for one in found:
        # Moments 1 to 4 and the lag, five standard errors wide.
        for value, wanted, sd in zip(one, moments, (1, 2**0.5, 15**0.5, 96**0.5, 1), strict=False):
            assert abs(value - wanted) < 5 * sd / 200000**0.5


# Counts are exact: BigInts, compared as text.

EXACT = """(() => {
  const each = (values, f) => Object.fromEntries(Object.entries(values).map(([k, v]) => [k, f(v)]));
  const big = (v) => typeof v === "number" ? BigInt(v) : v;
  const result = m[name](...args.map(a => typeof a === "object" ? each(a, big) : big(a)));
  return typeof result === "object" ? each(result, String) : String(result);
})()"""


def test_parameters_of_hundreds_of_models(js):
    rng = np.random.default_rng(8)
    models = [entry.model for entry in attention.PUBLISHED]
    for _ in range(CASES):
        kv, group, width = (int(x) for x in rng.integers(1, 9, size=3))
        flags = [bool(x) for x in rng.integers(0, 2, size=8)]
        extra = [int(x) for x in rng.integers(0, 3000, size=3)]
        h = kv * group
        models.append(
            attention.Transformer(
                vocabulary=int(rng.integers(1, 300_000)),
                D=h * width * int(rng.integers(1, 200)),
                L=int(rng.integers(1, 200)),
                h=h,
                H=int(rng.integers(1, 60_000)),
                d_k=[None, int(rng.integers(1, 300))][int(rng.integers(0, 2))],
                kv_heads=[None, kv][int(rng.integers(0, 2))],
                attention_bias=flags[0],
                feed_forward_bias=flags[1],
                gated=flags[2],
                norm_bias=flags[3],
                positions=extra[0],
                token_types=extra[1],
                outer_norms=extra[2],
                pooler=flags[4],
                untied_head=flags[5],
                qkv_bias=flags[6],
                qk_norm=flags[7],
            )
        )
    for model, got in zip(
        models, js("countParameters", [[x._asdict()] for x in models], EXACT), strict=True
    ):
        wanted = {part: str(count) for part, count in attention.count_parameters(model).items()}
        assert got == wanted, model


def test_scores_memory_work_and_crossover(js):
    rng = np.random.default_rng(9)
    sizes = [[int(10 ** rng.uniform(0, 7)) for _ in range(4)] for _ in range(CASES)]
    for name, function, pick in (
        ("scoreEntries", attention.score_entries, lambda n, D, H, h: [n, h]),
        ("scoreBytes", attention.score_bytes, lambda n, D, H, h: [n, h]),
        ("matrixFlops", attention.matrix_flops, lambda n, D, H, h: [n, D, H]),
        ("attentionFlops", attention.attention_flops, lambda n, D, H, h: [n, D]),
        ("layerFlops", attention.layer_flops, lambda n, D, H, h: [n, D, H]),
        ("crossoverLength", attention.crossover_length, lambda n, D, H, h: [D, H]),
        ("matrixFlops", attention.matrix_flops, lambda n, D, H, h: [n, D]),
        ("crossoverLength", attention.crossover_length, lambda n, D, H, h: [D]),
    ):
        cases = [pick(*size) for size in sizes]
        for case, got in zip(cases, js(name, cases, EXACT), strict=True):
            assert got == str(function(*case)), (name, case)


# What people type

TRY = "(() => { try { return m[name](...args); } catch (e) { return e.message; } })()"
WHOLE = "(() => { try { return String(m[name](...args)); } catch (e) { return e.message; } })()"


def test_numbers_as_people_type_them(js):
    typed = {
        ".5": 0.5,
        "5.": 5.0,
        "-1e3": -1000.0,
        "+2": 2.0,
        "1/3": 1 / 3,
        " 1 / 3 ": 1 / 3,
        "-.5/2": -0.25,
        "0,5": 0.5,
        "-3,25": -3.25,
        "0,125": 0.125,
        "−2": -2.0,
        "1E-2": 0.01,
        "007": 7.0,
        "1e308": 1e308,
    }
    assert js("parseNumber", [[text] for text in typed], TRY) == list(typed.values())


def test_what_is_no_number_is_said(js):
    typed = {
        "": "is empty",
        "   ": "is empty",
        "abc": "is no number",
        "nan": "is no number",
        "inf": "is no number",
        "1 2": "is no number",
        "--1": "is no number",
        "1.2.3": "is no number",
        "1,2,3": "is no number",
        "0x10": "is no number",
        "1/": "is no number",
        "1/2/3": "more than one /",
        "1/0": "divides by zero",
        "1e999": "too large",
        "1e300/1e-300": "too large",
        "1e-999": "too small",
        "1,000": "a thousand or a fraction",
    }
    for (text, wanted), got in zip(
        typed.items(), js("parseNumber", [[text] for text in typed], TRY), strict=True
    ):
        assert wanted in str(got), text


def test_whole_numbers_as_people_type_them(js):
    good = {"512": "512", "50,257": "50257", "50 257": "50257", "1e6": "1000000", "8.0": "8"}
    assert js("parseWhole", [[text] for text in good], WHOLE) == list(good.values())
    bad = {"1,5": "whole", "0.5": "whole", "-3": "less than 1", "0": "less than 1", "1e15": "more"}
    for (text, wanted), got in zip(
        bad.items(), js("parseWhole", [[text] for text in bad], WHOLE), strict=True
    ):
        assert wanted in got, text


def test_numbers_are_written_as_the_lesson_writes_them(js):
    """And what is no number has a word."""
    rng = np.random.default_rng(10)
    values = (rng.normal(size=CASES) * 10.0 ** rng.integers(-6, 4, size=CASES)).tolist()
    assert js("fixed", [[v] for v in values]) == [f"{v:z.4f}" for v in values]
    assert js("fixed", [[NAN], [INF], [-INF]]) == ["no number", "infinite", "−infinite"]
    assert js("shown", [[3e-6], [0.0], [-0.0], [0.5]]) == ["3.0e-06", "0.0000", "0.0000", "0.5000"]
    assert js("", [[1234567]], "m.shownWhole(BigInt(args[0]))") == ["1,234,567"]
