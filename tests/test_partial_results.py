"""Attention over parts of the keys merges, in any order, into attention over all of them."""

import itertools
import tracemalloc
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
from attention.arguments import check_attention
from attention.partials import partial_by_formula

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
        partial_attention(query, key[..., a:b, :], value[..., a:b, :], mask[..., a:b], first_key=a)
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
    parts = [
        partial_attention(query, key[i : i + 1], value[i : i + 1], scale=1, first_key=i)
        for i in (0, 1)
    ]
    whole = scaled_dot_product_attention(query, key, value, scale=1)
    assert np.array_equal(merge_partials(parts).output, whole, equal_nan=True)
    assert np.isnan(whole)


def test_parts_that_do_not_fit_are_quoted():
    query, key, value = draw((3, 4), (6, 4), (6, 2))
    part = partial_attention(query, key, value)
    with pytest.raises(ValueError, match=r"one shape: \[\(2, 2\), \(3, 2\)\]"):
        merge_partials([part, Partial(*(array[:2] for array in part[:3]))])
    with pytest.raises(ValueError, match=r"one shape: \[\]"):
        merge_partials([])


def test_a_double_or_a_gap_is_refused_and_named():
    query, key, value = draw((3, 4), (9, 4), (9, 2))
    every = np.ones((3, 9), bool)
    a, b, c, d = in_parts(query, key, value, every, [2, 3, 7])
    assert [part.keys for part in (a, b, c, d)] == [((0, 2),), ((2, 3),), ((3, 7),), ((7, 9),)]
    assert merge_partials([d, a, b]).keys == ((0, 3), (7, 9))
    assert merge_partials([merge_partials([d, b]), c, a], 9).keys == ((0, 9),)
    for parts, n_keys, said in (
        ([a, b, c, d, c], 9, "in two parts: keys 3 to 6"),
        ([merge_partials([b, c]), merge_partials([a, b])], None, "in two parts: key 2"),
        ([a, c, d], 9, "in no part: key 2"),
        ([b, c, d], 9, "in no part: keys 0 to 1"),
        ([a, b, c], 9, "in no part: keys 7 to 8"),
        ([a, b, c, d], 8, "beyond the whole, 8: key 8"),
        ([a, b, c, d], 5, "beyond the whole, 5: keys 5 to 8"),
    ):
        with pytest.raises(ValueError, match=f"^{said}$"):
            merge_partials(parts, n_keys)


def test_a_part_knows_its_place_under_a_causal_mask():
    for n in (6, 300):
        query, key, value = draw((n, 4), (n, 4), (n, 2))
        cuts = [0, n // 3, n // 2, n]
        parts = [
            partial_attention(query, key[a:b], value[a:b], is_causal=True, first_key=a)
            for a, b in itertools.pairwise(cuts)
        ]
        whole = scaled_dot_product_attention(query, key, value, is_causal=True)
        assert np.allclose(merge_partials(parts, n).output, whole, rtol=1e-13, atol=1e-14)


def test_a_long_part_is_what_the_formula_makes_of_it():
    query, key, value, bias = draw((300, 8), (400, 8), (400, 2), (300, 400))
    bias += 1000 * np.arange(300)[:, None]
    bias[7], key[3, 0], value[5] = -INF, INF, NAN
    for mask in (bias, bias > -INF, None):
        for arrays in ((query, key, value), (query, key[10:], value[10:])):
            own = None if mask is None else mask[:, -len(arrays[1]) :]
            inputs = check_attention(*arrays, own, False, None)
            long, short = partial_attention(*arrays, own), partial_by_formula(inputs)
            with np.errstate(all="ignore"):
                found, right = (part.maximum + np.log(part.sum) for part in (long, short))
            assert np.allclose(found, right, rtol=1e-12, equal_nan=True)
            assert np.allclose(long.output, short.output, rtol=1e-9, equal_nan=True)
            assert np.array_equal(long.sum == 0, short.sum == 0)
            assert np.array_equal(long.maximum == -INF, short.maximum == -INF)


def test_a_long_part_needs_no_memory_for_its_scores():
    query, key, value = draw((1000, 8), (8000, 8), (8000, 8))
    value[5], key[7] = INF, INF  # which the formula has to work out, for each query
    tracemalloc.start()
    partial_attention(query, key, value)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1000 * 8000 * 8 / 4
