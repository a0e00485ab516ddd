"""Positions: each way to tell them does what the lesson says of it."""

import math

import numpy as np
import pytest

from attention import (
    alibi_slopes,
    attention_scores,
    attention_weights,
    rotary_embedding,
    scaled_dot_product_attention,
    sinusoidal_positions,
)

LAYOUTS = [False, True]


def test_attention_does_not_see_the_order():
    rng = np.random.default_rng(0)
    x, order = rng.standard_normal((6, 4)), rng.permutation(6)
    plain = scaled_dot_product_attention(x, x, x)
    assert np.allclose(scaled_dot_product_attention(*[x[order]] * 3), plain[order], atol=1e-15)
    shares = attention_weights(np.ones((4, 2)), np.ones((4, 2)), is_causal=True)[:, 0]
    assert np.allclose(shares, [1, 1 / 2, 1 / 3, 1 / 4], rtol=0, atol=1e-16)


def test_the_published_vector_turns_in_both_layouts():
    x = [1.0, 2.0, 3.0, 4.0]
    assert rotary_embedding(x, 1).round(4).tolist() == [-1.9841, 1.9599, 2.4624, 4.0198]
    neighbours = rotary_embedding(x, 1, interleaved=True)
    assert neighbours.round(4).tolist() == [-1.1426, 1.9221, 2.9599, 4.0298]


@pytest.mark.parametrize("interleaved", LAYOUTS)
def test_rotation_is_complex_multiplication(interleaved):
    """Each pair is a complex number, times e^(i p / base^(2i / d)): number by number."""
    rng = np.random.default_rng(1)
    for d, base in ((2, 10000.0), (6, 10000.0), (8, 500.0)):
        x, places = rng.standard_normal((2, 3, 5, d)), rng.integers(0, 50, (2, 1, 5))
        given = rotary_embedding(x, places, base, interleaved)
        for index in np.ndindex(2, 3, 5):
            for i in range(d // 2):
                pair = [2 * i, 2 * i + 1] if interleaved else [i, i + d // 2]
                angle = places[index[0], 0, index[2]] / base ** (2 * i / d)
                turned = complex(*x[index][pair]) * complex(math.cos(angle), math.sin(angle))
                assert np.allclose(given[index][pair], [turned.real, turned.imag], atol=1e-14)


@pytest.mark.parametrize("interleaved", LAYOUTS)
def test_scores_see_the_distance_alone(interleaved):
    query, key = np.random.default_rng(2).standard_normal((2, 7, 8))

    def scores(first):
        places = np.arange(first, first + 7)
        return attention_scores(
            *(rotary_embedding(a, places, interleaved=interleaved) for a in (query, key))
        )

    assert np.allclose(scores(100), scores(0), rtol=0, atol=1e-13)
    assert np.allclose(scores(0.5), scores(0), rtol=0, atol=1e-13)
    assert abs(scores(0) - attention_scores(query, key)).max() > 0.1


def test_the_layouts_differ_by_an_order_of_columns_and_agree_at_place_0():
    x = np.random.default_rng(3).standard_normal((5, 8))
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    halves = rotary_embedding(x[:, order], np.arange(5))
    neighbours = rotary_embedding(x, np.arange(5), interleaved=True)
    assert np.array_equal(halves, neighbours[:, order])
    other = rotary_embedding(x, np.arange(5))
    assert np.array_equal(other[0], neighbours[0])
    assert (abs(other - neighbours).max(axis=1)[1:] > 0.1).all()


def test_far_places_and_narrow_types_lose_no_more_than_one_rounding():
    x = np.random.default_rng(4).standard_normal((3, 8)).astype("float32")
    far = np.array([10**6, 10**6 + 1, 10**7])
    narrow, wide = rotary_embedding(x, far), rotary_embedding(x.astype(float), far)
    assert narrow.dtype == "float32"
    assert np.array_equal(narrow, wide.astype("float32"))
    assert np.array_equal(narrow, rotary_embedding(x, far.astype("float32")))
    assert rotary_embedding(x.astype("float16"), far).dtype == "float16"
    assert rotary_embedding(x.astype(int), far).dtype == float


def test_the_sinusoidal_codes_are_the_formula_s():
    table = sinusoidal_positions(50, 6)
    for p in range(50):
        for i in range(3):
            angle = p / 10000 ** (2 * i / 6)
            right = [math.sin(angle), math.cos(angle)]
            assert np.allclose(table[p, 2 * i : 2 * i + 2], right, rtol=0, atol=1e-15)
    assert sinusoidal_positions(0, 4).shape == (0, 4)
    assert np.array_equal(sinusoidal_positions(9, 4, 100)[:, :2], sinusoidal_positions(9, 2))


def test_the_product_of_two_codes_depends_on_the_distance_but_not_through_weights():
    codes = sinusoidal_positions(100, 64)
    products = codes @ codes.T
    for distance in (0, 1, 7, 50):
        assert np.ptp(np.diagonal(products, distance)) < 1e-12
    w_q, w_k = np.random.default_rng(5).standard_normal((2, 64, 64)) / 8
    assert np.ptp(np.diagonal(codes @ w_q @ (codes @ w_k).T, 1)) > 1


def test_slopes_are_those_of_the_authors_code():
    def published(n):
        """As in the authors' repository, in other words: powers of 2, then every other one."""
        power = 2 ** math.floor(math.log2(n))
        slopes = [2 ** (-8 * i / power) for i in range(1, power + 1)]
        return slopes if power == n else slopes + published(2 * power)[0::2][: n - power]

    for heads in range(1, 70):
        assert np.allclose(alibi_slopes(heads), published(heads), rtol=1e-15, atol=0)
    twelve = alibi_slopes(12).round(4).tolist()
    assert twelve[:3] == [0.5, 0.25, 0.125]
    assert twelve[8:10] == [0.7071, 0.3536]
    formula = 2.0 ** (-8 * np.arange(1, 13) / 12)
    assert formula[:2].round(3).tolist() == [0.63, 0.397]


def test_alibi_is_a_floating_mask():
    query, key = np.random.default_rng(6).standard_normal((2, 4, 5, 8))
    distance = np.arange(5)[:, None] - np.arange(5)
    bias = np.where(distance >= 0, -alibi_slopes(4)[:, None, None] * distance, -np.inf)
    weights = attention_weights(np.zeros_like(query), key, bias)
    for head, slope in enumerate(alibi_slopes(4)):
        ratios = weights[head, 4, 1:] / weights[head, 4, :-1]
        assert np.allclose(ratios, math.exp(slope), rtol=1e-13)
    assert not np.triu(weights, 1).any()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: rotary_embedding(np.ones((3, 5)), range(3)), ValueError, "must be even: 5"),
        (
            lambda: rotary_embedding(np.ones((2, 3, 4)), np.arange(2)),
            ValueError,
            r"one for each token: positions \(2,\), x \(2, 3, 4\)",
        ),
        (lambda: rotary_embedding(np.ones((3, 4)), 7), ValueError, r"positions \(\), x \(3, 4\)"),
        (
            lambda: rotary_embedding(np.ones((3, 4)), np.ones((2, 3))),
            ValueError,
            r"positions \(2, 3\), x \(3, 4\)",
        ),
        (lambda: rotary_embedding(1.0, 1), ValueError, r"needs a dimension to turn: x \(\)"),
        (lambda: rotary_embedding([1, 2], 1, base=0), ValueError, "base must be .*: 0"),
        (lambda: rotary_embedding([1, 2], 1, 1e4, "no"), TypeError, "interleaved must be True"),
        (lambda: rotary_embedding([1, 2], "1"), TypeError, "expected real numbers"),
        (lambda: sinusoidal_positions(3, 5), ValueError, "must be even: 5"),
        (lambda: sinusoidal_positions(-1, 4), ValueError, "n must be at least 0: -1"),
        (lambda: sinusoidal_positions(3, 0), ValueError, "d must be at least 2: 0"),
        (lambda: alibi_slopes(0), ValueError, "num_heads must be at least 1: 0"),
        (lambda: alibi_slopes(2.5), TypeError, "num_heads must be an integer: 2.5"),
    ],
)
def test_an_error_says_what_was_given(call, error, words):
    with pytest.raises(error, match=words):
        call()
