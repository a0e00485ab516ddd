"""Attention over parts of the keys merges, in any order, into attention over all of them."""

import itertools
import warnings

import numpy as np
import pytest

from attention import (
    Partial,
    causal_mask,
    merge_partials,
    partial_attention,
    scaled_dot_product_attention,
)

NAN, INF = np.nan, np.inf


@pytest.fixture(autouse=True)
def _nothing_is_complained_about():
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        yield


def draw(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def in_parts(query, key, value, mask, cuts):
    """The Partials over the keys between the cuts."""
    return [
        partial_attention(query, key[..., a:b, :], value[..., a:b, :], mask[..., a:b])
        for a, b in itertools.pairwise([0, *cuts, key.shape[-2]])
    ]


@pytest.mark.parametrize("scale", [1, 30])
def test_any_order_and_any_grouping_give_the_whole(scale):
    query, key, value = draw((2, 5, 4), (2, 9, 4), (2, 9, 3))
    query *= scale
    mask = np.random.default_rng(1).random((5, 9)) < 0.5
    mask[0], mask[1, :3] = False, False
    whole = scaled_dot_product_attention(query, key, value, mask)
    parts = in_parts(query, key, value, mask, [3, 3, 7])
    for order in itertools.permutations(parts):
        assert np.allclose(merge_partials(order).output, whole, rtol=1e-13, atol=1e-14)
        first = merge_partials([merge_partials(order[:2]), merge_partials(order[2:])])
        assert np.allclose(first.output, whole, rtol=1e-13, atol=1e-14)


def test_a_single_part_is_the_whole_to_the_last_bit():
    query, key, value = draw((5, 4), (9, 4), (9, 3))
    part = partial_attention(query, key, value, is_causal=True)
    whole = scaled_dot_product_attention(query, key, value, is_causal=True)
    assert part.output.tobytes() == whole.tobytes()


def test_a_partial_holds_what_it_says():
    scores = np.array([[1.0], [3.0], [2.0]])
    part = partial_attention([[1.0]], scores, scores, scale=1)
    assert part.maximum == 3
    assert np.allclose(part.sum, 1 + np.exp(-1) + np.exp(-2))


def test_what_is_hidden_stays_hidden_in_every_part():
    query, key, value = draw((3, 4), (6, 4), (6, 2))
    mask = causal_mask(3, 6)
    before = merge_partials(in_parts(query, key, value, mask, [2, 4]))
    key[3:], value[3:] = NAN, INF
    after = merge_partials(in_parts(query, key, value, mask, [2, 4]))
    assert before.output.tobytes() == after.output.tobytes()


def test_scores_that_are_infinite_or_no_numbers_are_what_they_are_in_the_whole():
    query, value = np.array([[1.0]]), np.arange(4.0)[:, None]
    for odd in ([0, INF, -INF, INF], [0, -INF, -INF, 1], [0, NAN, 1, 2], [-INF] * 4):
        key = np.array(odd)[:, None]
        whole = scaled_dot_product_attention(query, key, value)
        parts = in_parts(query, key, value, np.ones((1, 4), bool), [2])
        assert np.array_equal(merge_partials(parts).output, whole, equal_nan=True), odd


@pytest.mark.parametrize("odd", [INF, -INF, np.nan])
def test_a_value_that_is_seen_counts_where_no_weight_is_left_for_it(odd):
    query, key, value = [[1.0]], [[2000.0], [0.0]], [[1.0], [odd]]
    parts = [partial_attention(query, key[i : i + 1], value[i : i + 1], scale=1) for i in (0, 1)]
    whole = scaled_dot_product_attention(query, key, value, scale=1)
    assert np.array_equal(merge_partials(parts).output, whole, equal_nan=True)
    assert np.isnan(whole)


def test_parts_that_do_not_fit_are_quoted():
    query, key, value = draw((3, 4), (6, 4), (6, 2))
    part = partial_attention(query, key, value)
    with pytest.raises(ValueError, match=r"one shape: \[\(2, 2\), \(3, 2\)\]"):
        merge_partials([part, Partial(*(array[:2] for array in part))])
    with pytest.raises(ValueError, match=r"one shape: \[\]"):
        merge_partials([])
