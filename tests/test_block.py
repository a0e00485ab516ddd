"""The parts of a block do what their papers say, and the block puts them together so."""

import math

import numpy as np
import pytest

from attention import (
    KeyValueCache,
    gelu,
    layer_norm,
    multi_head_attention,
    rms_norm,
    rotary_embedding,
    scaled_dot_product_attention,
    silu,
    split_heads,
    transformer_block,
)

# Norms


def test_the_published_figures_of_both_norms():
    one = [1.0, 0, 0, 0]
    assert layer_norm(one, eps=0)[0].round(4) == 1.7321
    assert (np.array(one) - 0.25)[0] / np.std(one, ddof=1) == pytest.approx(1.5)
    small = 1e-3 * np.array([1.0, 2, 3, 6])
    assert layer_norm(small)[-1].round(4) == 0.8165
    outside = (small - small.mean()) / (small.std() + 1e-5)
    assert outside[-1].round(3) == 1.595


def test_a_shift_counts_for_one_norm_only_and_without_the_mean_they_are_one():
    x = np.random.default_rng(0).standard_normal((4, 16))
    assert np.allclose(layer_norm(x + 7), layer_norm(x), rtol=0, atol=1e-14)
    assert abs(rms_norm(x + 7) - rms_norm(x)).max() > 0.4
    centred = x - x.mean(axis=-1, keepdims=True)
    assert np.array_equal(rms_norm(centred, eps=1e-5), layer_norm(x, eps=1e-5))


def test_norms_are_their_formulas_number_by_number_and_write_to_nothing():
    rng = np.random.default_rng(1)
    x, (weight, bias) = rng.standard_normal((2, 3, 5)), rng.standard_normal((2, 5))
    before = x.copy()
    for index in np.ndindex(2, 3):
        row = x[index].tolist()
        mean = math.fsum(row) / 5
        variance = math.fsum((v - mean) ** 2 for v in row) / 5
        square = math.fsum(v * v for v in row) / 5
        layer = [(v - mean) / math.sqrt(variance + 0.1) for v in row] * weight + bias
        rms = [v / math.sqrt(square + 0.1) for v in row] * weight
        assert np.allclose(layer_norm(x, weight, bias, 0.1)[index], layer, rtol=1e-14)
        assert np.allclose(rms_norm(x, weight, 0.1)[index], rms, rtol=1e-14)
    assert np.array_equal(x, before)
    assert not np.shares_memory(layer_norm(x), x)


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_a_norm_keeps_the_type_and_rounds_once(norm):
    x = np.random.default_rng(2).standard_normal((3, 8))
    for dtype in ("float16", "float32"):
        narrow = x.astype(dtype)
        assert norm(narrow).dtype == dtype
        assert np.array_equal(norm(narrow), norm(narrow.astype(float)).astype(dtype))
    large = np.full((1, 4), 60000, "float16")  # whose square is no float16
    assert np.isfinite(norm(large)).all()
    assert norm([[1, 2]]).dtype == float


# Nonlinearities


def test_gelu_and_its_approximation():
    x = np.linspace(-6, 6, 240001)
    off = abs(gelu(x) - gelu(x, "tanh"))
    assert 4.73e-4 < off.max() < 4.74e-4
    assert abs(x[off.argmax()]).round(3) == 2.699
    assert gelu([0.0, 1.0]).round(12).tolist() == [0.0, 0.841344746069]
    # Far below 0 the usual 1 + erf would be exactly 0.
    assert gelu(-10.0) == pytest.approx(-10 * math.erfc(10 / math.sqrt(2)) / 2, rel=1e-15)
    assert gelu(-10.0) < -7e-23
    assert gelu([-np.inf, -1e300, 1e300, np.inf]).tolist() == [0, 0, 1e300, np.inf]
    assert gelu([-np.inf, -1e300, 1e300, np.inf], "tanh").tolist() == [0, 0, 1e300, np.inf]
    assert np.isnan(gelu(np.nan))


def test_silu_is_its_formula():
    x = np.linspace(-30, 30, 13)
    assert np.allclose(silu(x), [v / (1 + math.exp(-v)) for v in x], rtol=1e-15)
    assert silu([-np.inf, -1e300, 1e300, np.inf]).tolist() == [0, 0, 1e300, np.inf]


@pytest.mark.parametrize("function", [gelu, silu, lambda x: gelu(x, "tanh")])
def test_a_nonlinearity_keeps_type_and_shape(function):
    for shape in ((), (0,), (2, 3)):
        for dtype in ("float16", "float32", "float64"):
            given = function(np.ones(shape, dtype))
            assert (given.shape, given.dtype) == (shape, dtype)
    assert function(np.ones(2, int)).dtype == float
    assert isinstance(function(1.0), float)


# The block


def drawn(rng, D=8, h=4, kv=2, H=12, gated=False, bias=True, qk_norm=False):
    d_k = D // h
    shapes = {"q": (D, D), "k": (D, kv * d_k), "v": (D, kv * d_k), "o": (D, D)}
    shapes |= {"up": (D, H), "down": (H, D), "norm_1": (D,), "norm_2": (D,)}
    if gated:
        shapes["gate"] = (D, H)
    if qk_norm:
        shapes |= {"q_norm": (d_k,), "k_norm": (d_k,)}
    parameters = {f"w_{name}": rng.standard_normal(shape) for name, shape in shapes.items()}
    if bias:
        parameters |= {f"b_{n}": rng.standard_normal(s[-1]) for n, s in shapes.items()}
    return parameters


def test_pre_norm_and_post_norm_are_put_together_as_published():
    rng = np.random.default_rng(3)
    x, p = rng.standard_normal((5, 8)), drawn(rng, bias=False)
    matrices = [p[f"w_{name}"] for name in "qkvo"]

    def attend(x):
        return multi_head_attention(x, *matrices, 4, 2, is_causal=True)

    def feed_forward(x):
        return gelu(x @ p["w_up"]) @ p["w_down"]

    pre = x + attend(rms_norm(x, p["w_norm_1"]))
    pre = pre + feed_forward(rms_norm(pre, p["w_norm_2"]))
    assert np.allclose(transformer_block(x, p, 4, is_causal=True), pre, rtol=1e-13)
    post = rms_norm(x + attend(x), p["w_norm_1"])
    post = rms_norm(post + feed_forward(post), p["w_norm_2"])
    assert np.allclose(transformer_block(x, p, 4, False, True), post, rtol=1e-13)


def test_every_part_that_may_be_there_is_used():
    """Biases, a gate, norms of queries and keys, rotary positions: by hand, in one block."""
    rng = np.random.default_rng(4)
    x, p = rng.standard_normal((5, 16)), drawn(rng, D=16, gated=True, qk_norm=True)
    places = np.arange(3, 8)

    def to(x, name):
        return x @ p[f"w_{name}"] + p[f"b_{name}"]

    def norm(x, name):
        return layer_norm(x, p[f"w_{name}"], p[f"b_{name}"])

    y = norm(x, "norm_1")
    query, key, value = (
        split_heads(to(y, name), h) for name, h in zip("qkv", (4, 2, 2), strict=True)
    )
    query, key = norm(query, "q_norm"), norm(key, "k_norm")
    query, key = (rotary_embedding(heads, places) for heads in (query, key))
    heads = [scaled_dot_product_attention(query[i], key[i // 2], value[i // 2]) for i in range(4)]
    stream = x + to(np.concatenate(heads, axis=-1), "o")
    y = norm(stream, "norm_2")
    stream = stream + to(silu(to(y, "gate")) * to(y, "up"), "down")
    assert np.allclose(transformer_block(x, p, 4, positions=places), stream, rtol=1e-12)
    for name in p:
        other = p | {name: p[name] + rng.standard_normal(p[name].shape)}
        moved = transformer_block(x, other, 4, positions=places) - stream
        assert abs(moved).max() > 1e-3, name


@pytest.mark.parametrize("norm_first", [True, False])
def test_with_a_cache_each_token_gets_what_it_gets_at_once(norm_first):
    rng = np.random.default_rng(5)
    x, p, places = rng.standard_normal((2, 7, 8)), drawn(rng), np.arange(7)
    whole = transformer_block(x, p, 4, norm_first, True, positions=places)
    for cuts in ([1, 2, 3, 4, 5, 6], [3, 4], [5], []):
        cache = KeyValueCache()
        parts = [
            transformer_block(
                x[:, part], p, 4, norm_first, True, positions=places[part], cache=cache
            )
            for part in np.split(places, cuts)
        ]
        assert np.allclose(np.concatenate(parts, axis=1), whole, rtol=0, atol=1e-12)
        assert len(cache) == 7


def test_single_precision_stays_and_long_inputs_go_by_blocks():
    rng = np.random.default_rng(6)
    x, p = rng.standard_normal((300, 8)).astype("float32"), drawn(rng)
    narrow = {name: array.astype("float32") for name, array in p.items()}
    given = transformer_block(x, narrow, 4, is_causal=True)
    wide = {name: array.astype(float) for name, array in narrow.items()}
    assert given.dtype == "float32"
    right = transformer_block(x.astype(float), wide, 4, is_causal=True)
    assert abs(given - right).max() <= 1e-5 * abs(right).max()


def test_attention_alone_makes_all_tokens_one():
    rng = np.random.default_rng(7)
    x = alone = rng.standard_normal((6, 16))
    for _ in range(12):
        matrices = rng.standard_normal((4, 16, 16)) / 4
        alone = rms_norm(multi_head_attention(alone, *matrices, 2))
        x = x + multi_head_attention(rms_norm(x), *matrices, 2)
    assert abs(alone - alone.mean(axis=0)).max() < 1e-6
    assert abs(rms_norm(x) - rms_norm(x).mean(axis=0)).max() > 0.5


X, P = np.ones((3, 8)), drawn(np.random.default_rng(8))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: layer_norm(np.ones((3, 0))), ValueError, r"last dimension: x \(3, 0\)"),
        (lambda: rms_norm(2.0), ValueError, r"last dimension: x \(\)"),
        (
            lambda: layer_norm(X, np.ones(3)),
            ValueError,
            r"weight \(3,\), x \(3, 8\)",
        ),
        (lambda: layer_norm(X, None, np.ones(1)), ValueError, r"bias \(1,\), x \(3, 8\)"),
        (lambda: layer_norm(X, eps=-1), ValueError, "eps must not be negative: -1"),
        (lambda: rms_norm(X, eps=np.nan), ValueError, "eps must not be negative: nan"),
        (lambda: gelu(X, True), ValueError, 'must be "none" or "tanh": True'),
        (
            lambda: transformer_block(X, {k: v for k, v in P.items() if k != "w_o"}, 4),
            ValueError,
            "missing: w_o",
        ),
        (
            lambda: transformer_block(X, P | {"w_query": P["w_q"], "b_gate": 0}, 4),
            ValueError,
            "without a use: b_gate, w_query",
        ),
        (
            lambda: transformer_block(X, P | {"w_k": np.ones((8, 3)), "b_k": np.ones(3)}, 4),
            ValueError,
            r"heads of 2 numbers wide.*w_q \(8, 8\), w_k \(8, 3\)",
        ),
        (
            lambda: transformer_block(X, P | {"w_up": np.ones((12, 8))}, 4),
            ValueError,
            r"x \(3, 8\), w_up \(12, 8\); .* w_up\.T",
        ),
        (lambda: transformer_block(X, P | {"b_o": np.ones(3)}, 4), ValueError, r"\(3,\), x"),
        (lambda: transformer_block(X, P, 3), ValueError, r"num_heads 3, x \(3, 8\)"),
        (lambda: transformer_block(X, P, 4, "post"), TypeError, "norm_first must be True"),
        (
            lambda: transformer_block(X, P, 4, is_causal=1),
            TypeError,
            "is_causal must be True or False: 1",
        ),
        (
            lambda: transformer_block(X, P, 4, True, True, np.ones((3, 3), bool)),
            ValueError,
            "exclude one another",
        ),
        (
            lambda: transformer_block(X, P, 4, positions=np.arange(4)),
            ValueError,
            r"positions \(1, 4\), x \(4, 3, 2\)",
        ),
        (
            lambda: transformer_block(X, P, 4, positions=3),
            ValueError,
            r"positions \(1, 1\), x \(4, 3, 2\)",
        ),
        (
            lambda: transformer_block(X, P | {"w_q": np.ones((8, 0)), "b_q": np.ones(0)}, 4),
            ValueError,
            r"heads of 0 numbers wide",
        ),
    ],
)
def test_an_error_says_what_was_given(call, error, words):
    with pytest.raises(error, match=words):
        call()
