"""Long inputs get the same answers as short ones, and their scores are never stored."""

import itertools
import threading
import tracemalloc
import warnings

import numpy as np
import pytest

from attention import (
    blockwise,
    blockwise_attention,
    causal_mask,
    scaled_dot_product_attention,
)
from attention.core import plain_attention
from attention.sdpa import BLOCKWISE_MIN_SCORES

NAN, INF = np.nan, np.inf


@pytest.fixture(autouse=True)
def _nothing_is_complained_about():
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        yield


def draw(*shapes, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def identical(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def masks(kind, n_queries, n_keys):
    rng = np.random.default_rng(5)
    keep = rng.random((n_queries, n_keys)) < 0.5
    keep[0] = keep[-1] = False
    if kind == "causal":
        return {"is_causal": True}
    return {
        "none": {},
        "offset": {"attn_mask": causal_mask(n_queries, n_keys, n_keys - n_queries)},
        "boolean": {"attn_mask": keep},
        "float": {"attn_mask": np.where(keep, 3 * rng.standard_normal(keep.shape), -INF)},
        "a row": {"attn_mask": keep[:1] | (np.arange(n_keys) % 3 > 0)},
    }[kind]


@pytest.mark.parametrize("kind", ["none", "causal", "offset", "boolean", "float", "a row"])
@pytest.mark.parametrize("sizes", [(600, 600), (530, 1100), (1100, 300)], ids=str)
@pytest.mark.parametrize(("dtype", "near"), [("float64", 1e-13), ("float32", 2e-5)])
def test_the_answer_is_that_of_the_formula(kind, sizes, dtype, near):
    n_queries, n_keys = sizes
    query, key, value = draw((2, n_queries, 8), (1, n_keys, 8), (2, n_keys, 3), dtype=dtype)
    query[1] *= 10  # sharp
    options = {"attn_mask": None, "is_causal": False, "scale": None}
    options |= masks(kind, n_queries, n_keys)
    right = plain_attention(query, key, value, **options)
    given = scaled_dot_product_attention(query, key, value, **options)
    assert given.dtype == dtype
    assert np.abs(given - right).max() < near
    for settings in ({"block": 100}, {"threads": 2}):
        other = blockwise_attention(query, key, value, **options, **settings)
        assert np.abs(other - right).max() < near


def test_the_formula_serves_until_the_scores_are_many():
    n = int(BLOCKWISE_MIN_SCORES**0.5)
    query, key, value = draw((n, 8), (n, 8), (n, 8))
    shorter = scaled_dot_product_attention(query[:-1], key, value)
    assert identical(shorter, plain_attention(query[:-1], key, value, None, False, None))
    given = scaled_dot_product_attention(query, key, value)
    assert identical(given, blockwise_attention(query, key, value))
    assert not identical(given, plain_attention(query, key, value, None, False, None))


@pytest.mark.parametrize("causal", [False, True])
def test_memory_does_not_grow_with_the_square(causal):
    def peak(n):
        arrays = draw((n, 16), (n, 16), (n, 16), dtype="float32")
        tracemalloc.start()
        scaled_dot_product_attention(*arrays, is_causal=causal)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(8192) < 2.5 * peak(4096) < 10 * 2**20 < 4096**2 * 4


@pytest.mark.parametrize("shape", [(3, 1200, 8), (2048, 8), (1, 2060, 8), (2, 3050, 8)])
@pytest.mark.parametrize("is_causal", [False, True])
def test_the_number_of_threads_does_not_change_a_bit(is_causal, shape):
    query, key, value = draw(shape, shape, shape, dtype="float32")
    query[..., ::500, :] *= 1e6  # which needs the plain formula
    one = blockwise_attention(query, key, value, is_causal=is_causal)
    for threads in (2, 5, 6):
        more = blockwise_attention(query, key, value, is_causal=is_causal, threads=threads)
        assert identical(one, more)


@pytest.mark.parametrize("heads", [(), (2,)])
@pytest.mark.parametrize("n_queries", [20, 150, 170, 200, 230])
def test_threads_and_blocks_of_any_size_change_no_bit(n_queries, heads):
    arrays = draw((*heads, n_queries, 4), (*heads, 210, 4), (*heads, 210, 4))
    for block in (50, 100):
        one, *more = (
            blockwise_attention(*arrays, is_causal=True, block=block, threads=threads)
            for threads in (1, 2, 3, 4)
        )
        assert all(identical(one, other) for other in more)


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    met = threading.Barrier(2)

    def attend(*_):
        met.wait()
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError("in a thread")

    monkeypatch.setattr(blockwise, "attend", attend)
    with pytest.raises(MemoryError, match="in a thread"):
        blockwise_attention(*draw((2048, 8), (2048, 8), (2048, 8)), threads=2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("odd", [NAN, 1e30, 1e-30])
@pytest.mark.parametrize("way", ["causal", "offset", "boolean", "float"])
def test_the_future_moves_no_bit_of_what_is_before_it_in_any_block(dtype, odd, way):
    n = 600
    query, key, value = draw((n, 8), (n, 8), (n, 3), dtype=dtype)
    mask = causal_mask(n, n)
    options = {
        "causal": {"is_causal": True},
        "offset": {"attn_mask": mask},
        "boolean": {"attn_mask": mask & (np.arange(n) != 5)},
        "float": {"attn_mask": np.where(mask, 0.5, -INF)},
    }[way]
    before = scaled_dot_product_attention(query, key, value, **options)
    for now in (1, 32, 256, 511, 590):
        k, v = key.copy(), value.copy()
        k[now:] = v[now:] = odd
        after = scaled_dot_product_attention(query, k, v, **options)
        assert identical(before[:now], after[:now])
        right = plain_attention(query, k, v, *parts(**options), None)
        assert np.allclose(after, right, rtol=1e-4, atol=1e-6, equal_nan=True)


def parts(attn_mask=None, is_causal=False):
    return attn_mask, is_causal


# What the working type could spoil


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("of_query", "of_key", "of_value"),
    [
        (1e6, 1, 1),  # selects
        (1e15, 1e15, 1),
        (1e30, 1e30, 1),  # overflows single precision
        (1e-30, 1e30, 1),
        (1e25, 1e-25, 1),
        (1, 1, 1e38),  # the values add up beyond single precision
        (1, 1, 1e-33),
        (30, 1, 1e-33),
        (0, 1, 1),
    ],
)
def test_very_large_and_very_small_numbers(dtype, of_query, of_key, of_value):
    query, key, value = draw((300, 8), (300, 8), (300, 3), dtype=dtype)
    query, key, value = query * dtype_of(dtype, of_query), key * dtype_of(dtype, of_key), value
    value = np.clip(value, -3, 3) * dtype_of(dtype, of_value)
    for is_causal in (False, True):
        right = plain_attention(query, key, value, None, is_causal, None)
        given = scaled_dot_product_attention(query, key, value, is_causal=is_causal)
        assert np.isfinite(given).all()
        size = float(np.abs(value).max())
        assert np.abs(given.astype(float) - right).max() < 2e-5 * size


def dtype_of(dtype, number):
    return np.dtype(dtype).type(number)


def test_columns_of_very_different_size_keep_their_digits():
    query, key, value = draw((300, 8), (300, 8), (300, 3), dtype="float32")
    value *= np.float32([1, 1e-30, 1e30])
    given = scaled_dot_product_attention(query, key, value)
    right = plain_attention(query, key, value, None, False, None)
    for column in range(3):
        size = float(np.abs(value[:, column]).max())
        assert np.abs(given.astype(float) - right)[:, column].max() < 1e-6 * size


def test_values_next_to_nothing_are_not_lost_where_all_scores_are_low():
    value = draw((300, 1), dtype="float32")[0] * np.float32(1e-30)
    key = np.ones((300, 1), dtype="float32")
    given = blockwise_attention(np.float32([[-30.0]]), key, value, scale=1)
    assert np.allclose(given, value.mean(), rtol=1e-4, atol=0)


@pytest.mark.parametrize("order", [1, -1], ids=["rising", "falling"])
def test_scores_that_rise_or_fall_over_many_blocks(order):
    key = np.linspace(-1, 1, 900, dtype="float32")[::order, None]
    query, value = np.float32([[500.0], [-500.0]]), np.arange(900, dtype="float32")[:, None]
    given = blockwise_attention(query, key, value, scale=1)
    right = plain_attention(query, key, value, None, False, 1)
    assert np.allclose(given, right, rtol=1e-5, atol=1e-3)


def test_a_mask_of_very_low_numbers_is_not_taken_for_minus_infinity():
    query, key, value = draw((300, 8), (300, 8), (300, 3), dtype="float32")
    for low in (-1e9, float(np.finfo("float32").min), -1e300):
        mask = np.where(np.random.default_rng(1).random((300, 300)) < 0.5, 0.0, low)
        mask[3], mask[4], mask[5, :-1] = low, -INF, -INF
        given = scaled_dot_product_attention(query, key, value, mask)
        right = plain_attention(query, key, value, mask, False, None)
        assert np.allclose(given, right, rtol=0, atol=1e-5), low
        assert not given[4].any()


def test_what_is_visible_and_not_finite_shows_where_it_is_seen():
    query, key, value = draw((600, 8), (600, 8), (600, 3), dtype="float32")
    for array, column in itertools.product((query, key, value), (NAN, INF, -INF)):
        kept = array[400].copy()
        array[400, 1] = column
        given = scaled_dot_product_attention(query, key, value, is_causal=True)
        right = plain_attention(query, key, value, None, True, None)
        assert np.allclose(given, right, rtol=1e-4, atol=1e-5, equal_nan=True)
        assert np.isfinite(given[:400]).all()
        array[400] = kept


def test_weights_too_small_for_the_type_are_nothing():
    key = np.zeros((300, 1), "float32")
    key[0] = 1
    value = np.zeros((300, 1), "float32")
    value[1:] = 1e30
    given = blockwise_attention(np.float32([[400.0]]), key, value, scale=1)
    assert given == 0


@pytest.mark.parametrize("name", ["block", "threads"])
def test_a_size_that_cannot_be_is_quoted(name):
    rows = np.ones((3, 2))
    with pytest.raises(ValueError, match=f"{name} must be at least 1: 0"):
        blockwise_attention(rows, rows, rows, **{name: 0})
    with pytest.raises(TypeError, match=f"{name} must be an integer: 2.5"):
        blockwise_attention(rows, rows, rows, **{name: 2.5})
