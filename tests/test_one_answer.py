"""Attention has one answer, whichever way it is computed: by formula, by blocks, in parts."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import (
    blockwise_attention,
    causal_mask,
    merge_partials,
    partial_attention,
    scaled_dot_product_attention,
)
from attention.core import plain_attention

SMALL = [(1, 1), (2, 3), (3, 2), (5, 4), (0, 3), (3, 0), (7, 9)]
AT_THE_SWITCH = [(255, 256), (256, 256), (2, 33000), (33000, 2)]
TOLERANCE = {"float64": 1e-9, "float32": 2e-4, "float16": 4e-3, "int64": 1e-9}
ODD = [np.nan, np.inf, -np.inf, 1e30, 0.0]


@st.composite
def inputs(draw, sizes):
    """Query, key and value, and the other arguments, of any kind that is allowed."""
    n_queries, n_keys = draw(st.sampled_from(sizes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    small = n_queries * n_keys < 1000
    heads = draw(st.sampled_from([(), (2,), (2, 3)])) if small else ()
    leading = [
        tuple(1 if draw(st.booleans()) else n for n in heads[draw(st.integers(0, len(heads))) :])
        for _ in range(3)
    ]
    d_k, d_v = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    shapes = [(n_queries, d_k), (n_keys, d_k), (n_keys, d_v)]
    dtype = draw(st.sampled_from(sorted(TOLERANCE)))
    arrays = [
        (3 * rng.standard_normal((*before, *shape))).astype(dtype)
        for before, shape in zip(leading, shapes, strict=True)
    ]
    for array in arrays:
        if array.size and dtype != "int64" and draw(st.integers(0, 3)) == 0:
            with np.errstate(over="ignore"):
                array.flat[draw(st.integers(0, array.size - 1))] = draw(st.sampled_from(ODD))
    options = {"scale": draw(st.sampled_from([None, 0, 0.5, -1.0, np.float32(0.25)]))}
    kind = draw(st.sampled_from(["none", "causal", "boolean", "added"]))
    if kind == "causal":
        options["is_causal"] = draw(st.sampled_from([True, np.True_]))
    elif kind != "none":
        options["attn_mask"] = mask(draw, rng, kind, (*heads, n_queries, n_keys))
    return arrays, options


def mask(draw, rng, kind, whole):
    """A mask of any rank, each of whose dimensions is whole or shared."""
    shape = [1 if draw(st.booleans()) else n for n in whole[draw(st.integers(0, len(whole))) :]]
    keep = rng.random(shape) < draw(st.sampled_from([0.0, 0.5, 0.9]))
    if kind == "boolean":
        return keep if keep.ndim else np.bool_(keep)
    bias = np.where(keep, rng.standard_normal(shape), -np.inf)
    bias = bias + draw(st.sampled_from([0.0, 7.0, -300.0]))
    if bias.size and draw(st.integers(0, 5)) == 0:
        bias.flat[draw(st.integers(0, bias.size - 1))] = draw(st.sampled_from([np.nan, np.inf]))
    return bias.astype(draw(st.sampled_from(["float64", "float32"])))


def in_parts(arrays, options, cuts):
    """Attention over the keys in parts, merged."""
    query, key, value = arrays
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    options = dict(options)
    given = options.pop("attn_mask", None)
    if options.pop("is_causal", False):
        given = causal_mask(n_queries, n_keys)
    places = sorted({0, n_keys, *(min(cut, n_keys) for cut in cuts)})
    ends = list(itertools.pairwise(places)) or [(0, 0)]
    parts = []
    for start, end in ends:
        own = given
        if given is not None and np.ndim(given) and np.shape(given)[-1] == n_keys != 1:
            own = given[..., start:end]
        part = key[..., start:end, :], value[..., start:end, :]
        parts.append(partial_attention(query, *part, own, **options, first_key=start))
    return merge_partials(parts, n_keys).output


def agree(x, y, dtype):
    limit = TOLERANCE[dtype]
    with np.errstate(all="ignore"):
        return np.allclose(x, y, rtol=limit, atol=limit, equal_nan=True)


WAYS = {
    "cuts": st.sets(st.integers(1, 8), max_size=3),
    "block": st.integers(1, 300),
    "threads": st.integers(1, 3),
}


@settings(max_examples=300, deadline=None)
@given(given_inputs=inputs(SMALL), **WAYS)
def test_formula_blocks_and_parts_agree(given_inputs, cuts, block, threads):
    compare(given_inputs, cuts, block, threads)


@settings(max_examples=10, deadline=None)
@given(given_inputs=inputs(AT_THE_SWITCH), **WAYS)
def test_they_agree_on_both_sides_of_the_switch(given_inputs, cuts, block, threads):
    compare(given_inputs, cuts, block, threads)


def compare(given_inputs, cuts, block, threads):
    arrays, options = given_inputs
    dtype = str(arrays[0].dtype)
    with warnings.catch_warnings(action="error"):
        right = plain_attention(*arrays, **options)
        either = scaled_dot_product_attention(*arrays, **options)
        blocks = blockwise_attention(*arrays, **options, block=block, threads=threads)
        merged = in_parts(arrays, options, cuts)
    assert either.shape == blocks.shape == right.shape == merged.shape
    assert either.dtype == blocks.dtype
    with np.errstate(over="ignore"):
        right = right.astype(either.dtype)
        merged = merged.astype(either.dtype)
    assert agree(either, right, dtype)
    assert agree(blocks, right, dtype)
    assert agree(merged, right, dtype)


WRONG = {
    "a mask of too many keys": ({"attn_mask": np.ones((4, 5), bool)}, ValueError),
    "a mask of other heads": ({"attn_mask": np.ones((5, 4, 4), bool)}, ValueError),
    "a mask of integers": ({"attn_mask": np.ones((4, 4), int)}, TypeError),
    "a masked mask": ({"attn_mask": np.ma.array(np.ones((4, 4)))}, TypeError),
    "two masks": ({"attn_mask": np.True_, "is_causal": True}, ValueError),
    "is_causal in words": ({"is_causal": "no"}, TypeError),
    "is_causal as a number": ({"is_causal": 1}, TypeError),
    "a scale in words": ({"scale": "0.5"}, TypeError),
    "a scale a head": ({"scale": np.ones((3, 1, 1))}, TypeError),
    "a true scale": ({"scale": True}, TypeError),
    "an infinite scale": ({"scale": np.inf}, ValueError),
    "no number as scale": ({"scale": np.nan}, ValueError),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("repeated", [1, 64])
def test_what_is_wrong_is_refused_alike_on_each_way(name, repeated):
    options, error = WRONG[name]
    if repeated > 1 and np.ndim(options.get("attn_mask")) > 1:
        options = {"attn_mask": np.tile(options["attn_mask"], (repeated, repeated))}
    query, key = np.ones((2, 4 * repeated, 2))
    value = np.ones((3, 4 * repeated, 2))
    said = set()
    for way in (scaled_dot_product_attention, blockwise_attention, partial_attention):
        with pytest.raises(error) as raised:
            way(query, key, value, **options)
        said.add(str(raised.value))
    assert len(said) == 1


@pytest.mark.parametrize("n", [4, 256])
@pytest.mark.parametrize("place", range(3))
def test_masked_arrays_are_refused(n, place):
    arrays = [np.ones((n, 2)), np.ones((n, 2)), np.ones((n, 2))]
    arrays[place] = np.ma.array(arrays[place], mask=False)
    with pytest.raises(TypeError, match="masked array"):
        scaled_dot_product_attention(*arrays)


@pytest.mark.parametrize("n", [4, 255, 256, 300])
@pytest.mark.parametrize("hidden", [False, np.False_, -np.inf])
def test_one_mask_for_all_hides_all(n, hidden):
    query, key, value = np.random.default_rng(0).standard_normal((3, n, 4))
    for way in (scaled_dot_product_attention, blockwise_attention):
        assert not way(query, key, value, hidden).any()
        assert np.isnan(way(query, key, value, np.nan)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [4, 300])
@pytest.mark.parametrize("constant", [-20000.0, -3.4e38, -1e17, 5e30])
def test_a_constant_that_is_added_to_a_row_changes_nothing(n, constant, dtype):
    query, key, value = np.random.default_rng(0).standard_normal((3, n, 8)).astype(dtype)
    bias = np.full((n, n), constant, np.float64)
    for way in (scaled_dot_product_attention, blockwise_attention):
        assert np.array_equal(way(query, key, value, bias), way(query, key, value, 0 * bias))
