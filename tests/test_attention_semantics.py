"""Attention means what its docstrings say, at the edges too."""

import math
import warnings

import numpy as np
import pytest
from helpers import WAYS

from attention import (
    attention_scores,
    attention_weights,
    causal_mask,
    entropy,
    softmax,
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


def by_definition(query, key, value, visible):
    """Work out attention for lists of rows, in plain Python."""
    result = []
    for i, q in enumerate(query):
        seen = [j for j in range(len(key)) if visible[i][j]]
        dots = [sum(a * b for a, b in zip(q, key[j], strict=True)) for j in seen]
        scores = [dot / math.sqrt(len(q)) for dot in dots]
        powers = [math.exp(score - max(scores)) for score in scores]
        result.append(
            [
                math.fsum(
                    power / math.fsum(powers) * value[j][c]
                    for power, j in zip(powers, seen, strict=True)
                )
                for c in range(len(value[0]))
            ]
        )
    return np.array(result)


def identical(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# Against the definition


@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_the_definition(attend, seed):
    query, key, value = draw((4, 3), (6, 3), (6, 2), seed=seed)
    visible = np.random.default_rng(seed).random((4, 6)) < 0.6
    given = attend(query, key, value, visible)
    right = by_definition(query.tolist(), key.tolist(), value.tolist(), visible)
    assert np.allclose(given, right, rtol=1e-13, atol=1e-14)


def test_leading_dimensions_broadcast(attend):
    query, key, value = draw((2, 1, 4, 3), (5, 6, 3), (2, 5, 6, 2))
    mask = np.random.default_rng(1).random((2, 1, 1, 6)) < 0.7
    given = attend(query, key, value, mask)
    assert given.shape == (2, 5, 4, 2)
    for i in range(2):
        for j in range(5):
            visible = np.broadcast_to(mask[i, 0], (4, 6))
            right = by_definition(query[i, 0], key[j], value[i, j], visible)
            assert np.allclose(given[i, j], right, rtol=1e-13, atol=1e-14)


def test_the_mask_may_bring_leading_dimensions(attend):
    query, key, value = draw((4, 3), (6, 3), (6, 2))
    masks = np.random.default_rng(1).random((5, 4, 6)) < 0.7
    given = attend(query, key, value, masks)
    for mask, result in zip(masks, given, strict=True):
        alone = attend(query, key, value, mask)
        assert np.allclose(result, alone, rtol=1e-14, atol=1e-15)


def test_the_output_is_the_weights_times_the_values(attend):
    query, key, value = draw((4, 3), (6, 3), (6, 2))
    weights = attention_weights(query, key, is_causal=True)
    given = attend(query, key, value, is_causal=True)
    assert np.allclose(given, weights @ value, rtol=1e-14, atol=1e-15)
    if attend is WAYS["plain"]:
        assert np.array_equal(given, weights @ value)


def test_the_scale():
    query, key = draw((4, 16), (6, 16))
    assert np.allclose(attention_scores(query, key), query @ key.T / 4)
    assert np.allclose(attention_scores(query, key, scale=-2), query @ key.T * -2)
    assert np.allclose(attention_weights(query, key, scale=0), 1 / 6)


def test_a_mask_of_floats_is_added_to_the_scores():
    query, key, bias = draw((4, 3), (6, 3), (2, 4, 6))
    weights = attention_weights(query, key, bias)
    assert np.allclose(weights, softmax(attention_scores(query, key) + bias))
    assert np.allclose(attention_weights(query, key, np.float32(bias)), weights)


# What is hidden has no influence


@pytest.mark.parametrize("odd", [NAN, INF, -INF, 1e308])
@pytest.mark.parametrize("where", ["key", "value", "both"])
@pytest.mark.parametrize("floating", [False, True])
def test_a_hidden_key_or_value_does_not_leak(attend, odd, where, floating):
    query, key, value = draw((4, 3), (6, 3), (6, 2))
    visible = np.ones((4, 6), dtype=bool)
    visible[:, 2] = visible[:2, 4] = False
    mask = np.where(visible, 0.5, -INF) if floating else visible
    before = attend(query, key, value, mask)
    for j in (2, 4):
        if where != "value":
            key[j] = odd
        if where != "key":
            value[j] = odd
    after = attend(query, key, value, mask)
    assert identical(before[:2], after[:2])
    weights = attention_weights(query, key, mask)
    assert not weights[:, 2].any()
    assert not weights[:2, 4].any()


@pytest.mark.parametrize("odd", [NAN, INF, -INF])
def test_hiding_a_key_is_dropping_it(attend, odd):
    query, key, value = draw((4, 3), (6, 3), (6, 2))
    keep = np.array([True, False, True, True, False, True])
    key[~keep] = value[~keep] = odd
    hidden = attend(query, key, value, keep[None])
    dropped = attend(query, key[keep], value[keep])
    # The sums have the same terms, but another length may add them in another order.
    assert np.allclose(hidden, dropped, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("n", [2, 7, 33])
def test_changing_the_future_moves_nothing_before_it_by_a_bit(attend, n):
    query, key, value = draw((n, 4), (n, 4), (n, 3))
    before = attend(query, key, value, is_causal=True)
    for i in range(1, n):
        for odd in (NAN, INF, 1e308, -7.0):
            q, k, v = query.copy(), key.copy(), value.copy()
            q[i:] = k[i:] = v[i:] = odd
            after = attend(q, k, v, is_causal=True)
            assert identical(before[:i], after[:i])


def test_what_is_visible_and_not_a_number_shows(attend):
    query, key, value = draw((2, 3), (4, 3), (4, 2))
    value[1, 0] = NAN
    output = attend(query, key, value, is_causal=True)
    assert np.isnan(output).tolist() == [[False, False], [True, False]]
    value[1, 0] = -INF
    output = attend(query, key, value, is_causal=True)
    assert (output == -INF).tolist() == [[False, False], [True, False]]
    key[1, 0] = NAN
    weights = attention_weights(query, key, is_causal=True)
    assert np.array_equal(weights[0], [1, 0, 0, 0])
    assert np.isnan(weights[1, :2]).all()
    assert not weights[1, 2:].any()


def test_a_query_that_sees_nothing_gets_zeros(attend):
    query, key, value = draw((3, 2), (4, 2), (4, 5))
    query[1] = value[0] = NAN
    mask = np.ones((3, 4), dtype=bool)
    mask[1] = mask[:, 0] = False
    output = attend(query, key, value, mask)
    assert not output[1].any()
    assert np.isfinite(output).all()
    nothing = np.full((3, 4), -INF)
    assert not attend(query, key, value, nothing).any()


def test_an_infinite_key_takes_everything_or_nothing(attend):
    value = np.array([[NAN], [2.0]])
    for query, key in [([[1.0]], [[-INF], [1.0]]), ([[-INF]], [[1.0], [-1.0]])]:
        assert np.array_equal(attention_weights(query, key), [[0, 1]])
        assert attend(query, key, value) == 2
    weights = attention_weights([[1.0]], [[1.0], [INF], [-INF], [INF]])
    assert np.array_equal(weights, [[0, 0.5, 0, 0.5]])


# Scores that are very large


def test_large_scores_select(attend):
    key, value = np.array([[1.0], [0.999]]), np.array([[1.0], [2.0]])
    weights = attention_weights([[1e6]], key)
    assert np.array_equal(weights, [[1, 0]])
    assert attend([[1e6]], key, value) == 1
    single = attention_weights(np.float32([[1e30]]), np.float32([[1e30], [2e30]]))
    assert np.array_equal(single, np.float32([[0, 1]]))


def test_scores_beyond_a_double_give_nan_and_not_a_wrong_number():
    key = [[1e200], [2e200]]
    assert np.isnan(attention_scores([[1e200]], key)).all()
    assert np.isnan(attention_weights([[1e200]], key)).all()
    assert np.isnan(attention_weights([[-1e200]], key)).all()
    mask = np.array([[True, False]])
    assert np.isnan(attention_weights([[1e200]], key, mask)[0, 0])
    sane = attention_weights([[1e200]], [[1e-200], [1e200]], mask)
    assert np.array_equal(sane, [[1, 0]])


def test_very_small_weights_are_kept():
    weights = softmax([0.0, -740.0, -800.0])
    assert weights[1] == math.exp(-740) > 0
    assert weights[2] == 0


# Types


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_type_of_the_result_is_that_of_the_input(attend, dtype):
    query, key, value = (a.astype(dtype) for a in draw((4, 3), (6, 3), (6, 2)))
    exact = attend(*(a.astype(float) for a in (query, key, value)))
    given = attend(query, key, value)
    assert given.dtype == dtype
    if attend is WAYS["plain"]:
        assert np.array_equal(given, exact.astype(dtype))
    assert np.allclose(given, exact, rtol=0, atol=4 * np.finfo(dtype).eps)
    mask = np.zeros((4, 6))
    assert attend(query, key, value, mask).dtype == dtype
    assert attention_scores(query, key).dtype == dtype
    assert attention_weights(query, key).dtype == dtype
    assert softmax(query).dtype == dtype
    assert entropy(softmax(query)).dtype == dtype


def test_mixed_types_give_the_wider_one(attend):
    (rows,) = draw((2, 2))
    half, single = rows.astype("float16"), rows.astype("float32")
    assert attend(half, single, half).dtype == "float32"


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "bool"])
def test_integers_are_not_truncated(attend, dtype):
    query = np.array([[1, 0], [1, 1]]).astype(dtype)
    value = np.array([[100, 0], [0, 1]]).astype(dtype)
    given = attend(query, query, value)
    right = attend(*(a.astype(float) for a in (query, query, value)))
    assert given.dtype == float
    assert np.array_equal(given, right)
    assert softmax(query).dtype == float


def test_integers_do_not_wrap_around():
    assert attention_scores(np.int8([[100]]), np.int8([[100]]), scale=1) == 10_000


@pytest.mark.parametrize("odd", [[["a"]], [[1j]], [[None]]])
def test_what_is_no_real_number_is_refused(attend, odd):
    with pytest.raises(TypeError, match="real numbers"):
        attend(odd, odd, odd)


def test_inputs_are_left_alone_and_results_may_be_written_to(attend):
    arrays = draw((2, 3), (4, 3), (4, 2))
    for array in arrays:
        array.setflags(write=False)
    output = attend(*arrays, is_causal=True)
    output += 1
    weights = softmax(arrays[0], mask=np.array([True, True, False]))
    weights += 1


# Sizes


def test_no_keys_give_zeros_and_no_queries_an_empty_result(attend):
    value = np.ones((4, 5))
    none = attend(np.ones((3, 2)), np.ones((0, 2)), value[:0])
    assert np.array_equal(none, np.zeros((3, 5)))
    empty = attend(np.ones((0, 2)), np.ones((4, 2)), value)
    assert empty.shape == (0, 5)
    assert softmax(np.ones((3, 0))).shape == (3, 0)
    assert np.array_equal(entropy(np.ones((3, 0))), np.zeros(3))


def test_width_zero_gives_the_mean(attend):
    (value,) = draw((4, 5))
    for scale in (None, 3):
        mean = attend(np.ones((2, 0)), np.ones((4, 0)), value, scale=scale)
        assert np.allclose(mean, value.mean(axis=0))


@pytest.mark.parametrize(
    ("query", "key", "value", "words"),
    [
        ((4, 3), (6, 2), (6, 5), "width"),
        ((4, 3), (6, 3), (5, 5), "number"),
        ((2, 4, 3), (3, 6, 3), (6, 5), "broadcast"),
        ((2, 4, 3), (2, 6, 3), (3, 6, 5), "broadcast"),
        ((3,), (6, 3), (6, 5), "two dimensions"),
        ((4, 3), (6, 3), (6,), "two dimensions"),
    ],
)
def test_shapes_that_do_not_fit_are_quoted(attend, query, key, value, words):
    with pytest.raises(ValueError, match=words) as error:
        attend(np.ones(query), np.ones(key), np.ones(value))
    message = f"query {query}, key {key}, value {value}"
    assert str(error.value).endswith(message)


@pytest.mark.parametrize("shape", [(4, 5), (3, 6), (5,), (2, 4, 5), (2, 1, 1, 7)])
@pytest.mark.parametrize("dtype", [bool, float])
def test_a_mask_that_does_not_fit_is_quoted(shape, dtype):
    rows, keys = np.ones((4, 3)), np.ones((6, 3))
    with pytest.raises(ValueError, match="broadcast") as error:
        attention_weights(rows, keys, np.ones(shape, dtype))
    assert str(error.value).endswith(f"attn_mask {shape}, scores (4, 6)")


def test_a_mask_cannot_make_more_queries_or_keys():
    row, mask = np.ones((1, 3)), np.ones((2, 2), dtype=bool)
    with pytest.raises(ValueError, match="broadcast"):
        attention_weights(row, row, mask)


def test_both_masks_at_once_are_refused(attend):
    rows = np.ones((2, 2))
    with pytest.raises(ValueError, match="exclude one another"):
        attend(rows, rows, rows, np.ones((2, 2), bool), True)


def test_a_mask_of_integers_is_refused():
    rows = np.ones((2, 2))
    with pytest.raises(TypeError, match=r"boolean, .* or floating, to be added: int64"):
        attention_weights(rows, rows, np.ones((2, 2), "int64"))
    with pytest.raises(TypeError, match="boolean, True = may attend: int64"):
        softmax(rows, mask=np.ones((2, 2), "int64"))


# Softmax


def test_softmax_along_another_axis():
    (z,) = draw((3, 4, 5))
    for axis in (0, 1, -2, (1, 2)):
        weights = softmax(z, axis=axis)
        raised = np.exp(z)
        assert np.allclose(weights, raised / raised.sum(axis=axis, keepdims=True))


def test_softmax_of_what_is_not_finite():
    assert np.array_equal(softmax([0.0, -INF, 0.0]), [0.5, 0, 0.5])
    assert np.array_equal(softmax([-INF, -INF]), [0, 0])
    assert np.array_equal(softmax([1.0, INF, -INF, INF]), [0, 0.5, 0, 0.5])
    assert np.isnan(softmax([1.0, NAN])).all()
    assert np.isnan(softmax([INF, NAN])).all()
    assert np.array_equal(softmax([1.0, NAN], mask=np.array([True, False])), [1, 0])
    assert np.array_equal(softmax([NAN, INF], mask=np.array([False, False])), [0, 0])


def test_softmax_does_not_take_a_mask_that_enlarges_it():
    with pytest.raises(ValueError, match=r"mask \(2, 3\), z \(3,\)"):
        softmax(np.ones(3), mask=np.ones((2, 3), dtype=bool))


# The causal mask


@pytest.mark.parametrize("n_queries", [0, 1, 2, 5])
@pytest.mark.parametrize("n_keys", [0, 1, 3, 5])
@pytest.mark.parametrize("offset", [-6, -1, 0, 2, 10**6])
def test_the_causal_mask_is_its_definition(n_queries, n_keys, offset):
    mask = causal_mask(n_queries, n_keys, offset)
    assert mask.shape == (n_queries, n_keys)
    assert mask.dtype == bool
    for i in range(n_queries):
        for j in range(n_keys):
            assert mask[i, j] == (j <= i + offset)


def test_decoding_with_a_cache_gives_what_the_whole_gives(attend):
    query, key, value = draw((6, 4), (6, 4), (6, 3))
    whole = attend(query, key, value, is_causal=True)
    for cached in range(6):
        mask = causal_mask(6 - cached, 6, offset=cached)
        part = attend(query[cached:], key, value, mask)
        assert np.allclose(part, whole[cached:], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("size", [-1, -5])
def test_a_negative_size_is_quoted(size):
    with pytest.raises(ValueError, match=f"n_queries must be at least 0: {size}"):
        causal_mask(size, 3)
    with pytest.raises(ValueError, match=f"n_keys must be at least 0: {size}"):
        causal_mask(3, size)


@pytest.mark.parametrize("size", [2.0, "2", None])
def test_a_size_that_is_no_integer_is_quoted(size):
    for arguments in [(size, 3), (3, size), (3, 3, size)]:
        with pytest.raises(TypeError, match=f"must be an integer: {size!r}"):
            causal_mask(*arguments)


# Entropy


def test_entropy_of_known_rows():
    assert entropy([0.25] * 4) == 2
    assert entropy([0.5, 0.25, 0.25]) == 1.5
    assert entropy([0.5, 0.5, 0.0]) == 1
    assert np.array_equal(entropy([[1.0, 0.0], [0.5, 0.5]]), [0, 1])


@pytest.mark.parametrize("row", [[1.0, 0.0], [0.0, 0.0], [1 + 1e-12, 0.0], [1.0]])
def test_entropy_of_a_certainty_is_zero_and_not_negative_zero(row):
    assert entropy(row) == 0
    assert not np.signbit(entropy(row))


def test_entropy_refuses_what_are_no_weights():
    with pytest.raises(ValueError, match=r"negative: -0\.5"):
        entropy([1.5, -0.5])
    with pytest.raises(ValueError, match=r"sum to 1 .*: 0\.4551"):
        entropy([[1.0, 0.0], [0.4551, 0.0]])
    with pytest.raises(ValueError, match=r"sum to 1 .*: inf"):
        entropy([INF, 0.0])
    assert np.isnan(entropy([NAN, 0.5]))
    assert entropy([0.3369, 0.3019, 0.3611]) == pytest.approx(1.5811, abs=1e-3)
