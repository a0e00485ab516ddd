"""The gradient of attention agrees with complex steps, which know nothing of its formula."""

import numpy as np
import pytest

from attention import (
    attention_backward,
    attention_weights,
    causal_mask,
    gradient,
    scaled_dot_product_attention,
)


def loss(grad_output, query, key, value, bias, scale):
    """The sum of the outputs times grad_output, for complex numbers too."""
    powers = np.exp(query @ key.swapaxes(-1, -2) * scale + bias)
    powers = np.where(np.isinf(bias), 0, powers)
    total = powers.sum(axis=-1, keepdims=True)
    output = powers / np.where(total == 0, 1, total) @ value
    return (output * grad_output).sum()


def complex_steps(grad_output, arrays, bias, scale, h=1e-30):
    """The derivative by each number: the imaginary part after a step of i h, over h."""
    gradients = []
    for array in arrays:
        changed = [a.astype(complex) for a in arrays]
        (place,) = (i for i, a in enumerate(arrays) if a is array)
        result = np.empty(array.shape)
        for index in np.ndindex(array.shape):
            changed[place][index] += 1j * h
            result[index] = loss(grad_output, *changed, bias, scale).imag / h
            changed[place][index] -= 1j * h
        gradients.append(result)
    return gradients


def drawn(rng, query=(3, 4), key=(5, 4), value=(5, 2)):
    arrays = [rng.standard_normal(shape) for shape in (query, key, value)]
    return rng.standard_normal(scaled_dot_product_attention(*arrays).shape), arrays


SHAPES = {
    "one head": {},
    "one query": {"query": (1, 4)},
    "batch and heads": {"query": (2, 3, 3, 4), "key": (2, 3, 5, 4), "value": (2, 3, 5, 2)},
    "keys for all": {"query": (2, 3, 4)},
    "shared heads": {"query": (2, 3, 3, 4), "key": (2, 1, 5, 4), "value": (2, 1, 5, 2)},
    "values of many": {"value": (3, 5, 2)},
}
MASKS = ["none", "causal", "boolean", "float", "float that hides", "hidden rows"]


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_it_agrees_with_complex_steps(shapes, kind):
    rng = np.random.default_rng(0)
    for scale in (None, 0.3, -2.0):
        grad_output, arrays = drawn(rng, **SHAPES[shapes])
        n_queries, bias, options = arrays[0].shape[-2], np.zeros((1, 1)), {}
        keep = rng.random((n_queries, 5)) < 0.6
        keep[0] = kind != "hidden rows"
        if kind == "causal":
            options, bias = {"is_causal": True}, np.where(causal_mask(n_queries, 5), 0, -np.inf)
        elif kind in ("boolean", "hidden rows"):
            options, bias = {"attn_mask": keep}, np.where(keep, 0, -np.inf)
        elif kind != "none":
            bias = rng.standard_normal(keep.shape)
            bias = np.where(keep, bias, -np.inf) if "hides" in kind else bias
            options = {"attn_mask": bias}
        given = attention_backward(grad_output, *arrays, **options, scale=scale)
        factor = 0.5 if scale is None else scale
        right = complex_steps(grad_output, arrays, bias, factor)
        for ours, theirs, array in zip(given, right, arrays, strict=True):
            assert ours.shape == array.shape
            assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-13)
            if shapes != "one query" or kind == "none":
                assert ours.any()


def test_the_example_by_hand():
    query, key, value = [[1.0, 0]], np.eye(2), [[1.0], [3.0]]
    assert scaled_dot_product_attention(query, key, value).round(4) == 1.6605
    given = attention_backward([[1.0]], query, key, value)
    assert given.query.round(4).tolist() == [[-0.3128, 0.3128]]
    weights = attention_weights(query, key)
    assert np.allclose(given.value, weights.T, rtol=1e-15)
    assert given.key.round(4).tolist() == [[-0.3128, 0], [0.3128, 0]]
    # Values that are equal leave the query nothing to gain.
    assert not attention_backward([[1.0]], query, key, [[2.0], [2.0]]).query.any()


def test_finite_differences_have_a_valley():
    grad_output, arrays = drawn(np.random.default_rng(1))
    right = attention_backward(grad_output, *arrays).query[0, 0]
    off = {}
    for h in (1e-2, 1e-5, 1e-10):
        sums = []
        for step in (h, -h):
            query = arrays[0].copy()
            query[0, 0] += step
            sums.append((scaled_dot_product_attention(query, *arrays[1:]) * grad_output).sum())
        off[h] = abs((sums[0] - sums[1]) / (2 * h) - right)
    assert 1e-8 < off[1e-2] < 1e-3
    assert off[1e-5] < 1e-9
    assert 1e-9 < off[1e-10] < 1e-4


def test_rows_of_scores_pull_in_no_direction_together():
    """A shift of all keys by one vector changes no weight: their gradients add up to 0."""
    grad_output, arrays = drawn(np.random.default_rng(2))
    given = attention_backward(grad_output, *arrays)
    assert np.allclose(given.key.sum(axis=0), 0, atol=1e-14)
    assert np.allclose(given.value.sum(axis=0), grad_output.sum(axis=0), atol=1e-14)


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": True}], ids=str)
def test_a_few_queries_at_a_time_give_what_all_at_once_give(options, monkeypatch):
    rng = np.random.default_rng(3)
    grad_output, arrays = drawn(rng, (2, 17, 4), (2, 23, 4), (2, 23, 3))
    if "attn_mask" in options:
        options = {"attn_mask": rng.random((17, 23)) < 0.5}
    whole = attention_backward(grad_output, *arrays, **options)
    monkeypatch.setattr(gradient, "MAX_SCORES", 100)
    for few, all_ in zip(attention_backward(grad_output, *arrays, **options), whole, strict=True):
        assert np.allclose(few, all_, rtol=0, atol=1e-13)


def test_what_is_hidden_has_no_influence_and_no_gradient():
    grad_output, (query, key, value) = drawn(np.random.default_rng(4), query=(5, 4))
    before = attention_backward(grad_output, query, key, value, is_causal=True)
    grad_output[4] = key[4] = value[4] = query[4] = np.nan
    after = attention_backward(grad_output, query, key, value, is_causal=True)
    assert np.array_equal(before.query[:4], after.query[:4])
    visible = np.ones((5, 5), bool)
    visible[:, 4] = visible[4] = False
    given = attention_backward(grad_output, query, key, value, visible)
    clean = [a[:4] for a in (grad_output, query, key, value)]
    for hidden, right in zip(given, attention_backward(*clean), strict=True):
        assert np.allclose(hidden[:4], right, rtol=0, atol=1e-15)
        assert not hidden[4].any()


def test_the_type_stays_and_is_rounded_once():
    grad_output, arrays = drawn(np.random.default_rng(5))
    for dtype in ("float16", "float32"):
        narrow = [a.astype(dtype) for a in (grad_output, *arrays)]
        wide = attention_backward(*(a.astype(float) for a in narrow))
        for given, right in zip(attention_backward(*narrow), wide, strict=True):
            assert given.dtype == dtype
            assert np.array_equal(given, right.astype(dtype))


def test_nothing_to_see_gives_zeros():
    given = attention_backward(np.ones((2, 4)), np.ones((2, 3)), np.ones((0, 3)), np.ones((0, 4)))
    assert [g.shape for g in given] == [(2, 3), (0, 3), (0, 4)]
    assert not given.query.any()
    given = attention_backward(np.ones((0, 4)), np.ones((0, 3)), np.ones((2, 3)), np.ones((2, 4)))
    assert [g.shape for g in given] == [(0, 3), (2, 3), (2, 4)]
    assert not given.key.any()


def test_an_error_says_what_was_given():
    _, arrays = drawn(np.random.default_rng(6))
    with pytest.raises(ValueError, match=r"grad_output \(2,\), output \(3, 2\)"):
        attention_backward(np.ones(2), *arrays)
    with pytest.raises(ValueError, match=r"differ in number: query \(3, 4\), key \(5, 4\)"):
        attention_backward(np.ones((3, 2)), *arrays[:2], np.ones((4, 2)))
    with pytest.raises(ValueError, match="exclude one another"):
        attention_backward(np.ones((3, 2)), *arrays, np.ones((3, 5), bool), True)
    with pytest.raises(TypeError, match="expected real numbers"):
        attention_backward(np.ones((3, 2)) * 1j, *arrays)
