"""What holds for any input, against a definition of attention in plain Python."""

import math

import numpy as np
import pytest
from helpers import IN_CI, WAYS
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attention import (
    attention_weights,
    causal_mask,
    entropy,
    softmax,
)

# The same inputs in each run; fewer where a reader waits for them.
TRIES = 100 if IN_CI else 20
settings.register_profile("lesson", derandomize=True, max_examples=TRIES, deadline=None)
settings.load_profile("lesson")

DTYPES = ["float16", "float32", "float64", "int8", "int64", "bool"]
DIGITS = {"float16": 2.0**-10, "float32": 2.0**-23}  # the step of a type narrower than a double
SIZES = st.integers(1, 5)


def numbers(dtype, largest):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    if kind == "i":
        return st.integers(-min(largest, 100), min(largest, 100))
    largest = float(np.dtype(dtype).type(min(largest, 1e4 if dtype == "float16" else largest)))
    bits = {"float16": 16, "float32": 32, "float64": 64}[dtype]
    return st.floats(-largest, largest, width=bits, allow_subnormal=False)


@st.composite
def attentions(draw, largest=10, dtypes=DTYPES):
    """A query, its keys and values, of ragged shapes, and what each query may see."""
    n_queries, n_keys, d_k, d_v = (draw(SIZES) for _ in range(4))
    dtype = draw(st.sampled_from(dtypes))
    shapes = (n_queries, d_k), (n_keys, d_k), (n_keys, d_v)
    matrices = [
        draw(arrays.arrays(dtype, shape, elements=numbers(dtype, largest))) for shape in shapes
    ]
    visible = draw(arrays.arrays(bool, (n_queries, n_keys)))
    return *matrices, visible


def definition(query, key, value, visible, bias=None, scale=None):
    """Attention for one query at a time, without numpy: weights, and the mean by them."""
    query, key, value = (a.astype(float).tolist() for a in (query, key, value))
    all_weights, outputs = [], []
    for i, q in enumerate(query):
        factor = 1 / math.sqrt(len(q)) if scale is None else scale
        scores = {
            j: math.fsum(a * b for a, b in zip(q, k, strict=True)) * factor
            for j, k in enumerate(key)
            if visible[i][j]
        }
        if bias is not None:
            scores = {j: score + float(bias[i][j]) for j, score in scores.items()}
        top = max(scores.values(), default=0.0)
        powers = {j: math.exp(score - top) for j, score in scores.items()}
        total = math.fsum(powers.values())
        weights = [powers[j] / total if j in powers else 0.0 for j in range(len(key))]
        all_weights.append(weights)
        outputs.append(
            [
                math.fsum(w * v[c] for w, v in zip(weights, value, strict=True))
                for c in range(len(value[0]))
            ]
        )
    return np.array(all_weights), np.array(outputs)


def near(given, right, size=1.0, error=1e-12, attend=WAYS["plain"]):
    """Within a few roundings of numbers up to `size`, in the type that was given.

    Block by block a score is rounded in that type too: it may be 224 in these tests, and
    an error of its 2**-23rd part moves the weights by as much.
    """
    roundings = 2 if attend is WAYS["plain"] else 2 * 224
    step = max(error, roundings * DIGITS.get(given.dtype.name, 0.0))
    return np.abs(given.astype(float) - right).max() <= step * size


@given(attentions())
def test_it_agrees_with_the_definition(attend, case):
    query, key, value, visible = case
    weights, output = definition(*case)
    assert near(attention_weights(query, key, visible), weights)
    size = max(1.0, float(np.abs(value.astype(float)).max()))
    assert near(attend(query, key, value, visible), output, size, attend=attend)


@given(attentions(dtypes=["float64"]), st.floats(-3, 3), st.data())
def test_it_agrees_with_the_definition_under_a_bias_and_a_scale(attend, case, scale, data):
    query, key, value, visible = case
    bias = data.draw(arrays.arrays(float, visible.shape, elements=st.floats(-20, 20)))
    _, output = definition(*case, bias, scale)
    mask = np.where(visible, bias, -np.inf)
    given = attend(query, key, value, mask, scale=scale)
    assert near(given, output, size=10.0)


@given(attentions(largest=1e150, dtypes=["float64"]))
def test_a_row_sums_to_one_or_sees_nothing_however_large_the_numbers(attend, case):
    query, key, value, visible = case
    weights = attention_weights(query, key, visible)
    assert (weights >= 0).all()
    assert not weights[~visible].any()
    sums = weights.sum(axis=-1)
    assert np.allclose(sums, visible.any(axis=-1), rtol=0, atol=1e-12)
    output = attend(query, key, value, visible)
    for row, seen in zip(output, visible, strict=True):
        values = value[seen] if seen.any() else np.zeros((1, value.shape[1]))
        slack = 1e-12 * np.abs(values).max(axis=0)
        assert (row >= values.min(axis=0) - slack).all()
        assert (row <= values.max(axis=0) + slack).all()


@given(attentions(), st.randoms(use_true_random=False))
def test_the_order_of_queries_and_of_keys_does_not_count(attend, case, random):
    query, key, value, visible = case
    plain = attend(query, key, value, visible)
    rows, columns = ([*range(n)] for n in visible.shape)
    random.shuffle(rows)
    random.shuffle(columns)
    moved = attend(query[rows], key[columns], value[columns], visible[rows][:, columns])
    assert near(moved, plain[rows].astype(float), size=100.0, attend=attend)


@given(attentions(dtypes=["float64"]), st.data())
def test_a_shift_of_all_the_scores_of_a_query_does_not_count(attend, case, data):
    query, key, value, visible = case
    shift = data.draw(arrays.arrays(float, (len(query), 1), elements=st.floats(-1e3, 1e3)))
    plain = attend(query, key, value, visible)
    bias = np.where(visible, shift, -np.inf)
    shifted = attend(query, key, value, bias)
    assert near(shifted, plain, size=10.0, error=1e-10)
    assert near(softmax(query + shift), softmax(query), error=1e-10)


@given(attentions(), st.integers(-6, 6))
def test_the_causal_masks_are_those_of_the_definition(attend, case, offset):
    query, key, value, _ = case
    plain = [[j <= i + offset for j in range(len(key))] for i in range(len(query))]
    assert causal_mask(len(query), len(key), offset).tolist() == plain
    top_left = np.tril(np.ones((len(query), len(key)), bool))
    _, output = definition(query, key, value, top_left)
    size = max(1.0, float(np.abs(value.astype(float)).max()))
    assert near(attend(query, key, value, is_causal=True), output, size, attend=attend)


ODD = st.one_of(st.floats(), st.sampled_from([np.nan, np.inf, -np.inf, 1e308, 0.0]))


@given(attentions(dtypes=["float32", "float64"]), st.integers(-2, 6), st.data())
def test_nothing_before_a_change_of_the_future_moves_by_a_bit(attend, case, offset, data):
    query, key, value, _ = case
    mask = causal_mask(len(query), len(key), offset)
    before = attend(query, key, value, mask)
    now = data.draw(st.integers(0, len(key) - 1))
    key, value = key.copy(), value.copy()
    with np.errstate(over="ignore"):
        key[now:] = data.draw(arrays.arrays(float, key[now:].shape, elements=ODD))
        value[now:] = data.draw(arrays.arrays(float, value[now:].shape, elements=ODD))
    after = attend(query, key, value, mask)
    blind = ~mask[:, now:].any(axis=1)
    assert before[blind].tobytes() == after[blind].tobytes()


@given(attentions(dtypes=["float32", "float64"]), st.data())
def test_what_no_mask_shows_moves_nothing_by_a_bit(attend, case, data):
    query, key, value, visible = case
    before = attend(query, key, value, visible)
    hidden = ~visible.any(axis=0)
    assume(hidden.any())
    key, value = key.copy(), value.copy()
    with np.errstate(over="ignore"):
        key[hidden] = data.draw(arrays.arrays(float, key[hidden].shape, elements=ODD))
        value[hidden] = data.draw(arrays.arrays(float, value[hidden].shape, elements=ODD))
    after = attend(query, key, value, visible)
    assert before.tobytes() == after.tobytes()


@given(attentions())
def test_integers_and_narrow_floats_give_what_doubles_give(attend, case):
    query, key, value, visible = case
    wide = attend(*(a.astype(float) for a in case[:3]), visible)
    given = attend(query, key, value, visible)
    assert given.dtype == (query.dtype if query.dtype.kind == "f" else float)
    if attend is WAYS["plain"]:
        assert given.tobytes() == wide.astype(given.dtype).tobytes()
    assert near(given, wide, size=100.0, attend=attend)


@given(attentions(dtypes=["float64"]))
def test_entropy_lies_between_none_and_that_of_an_even_choice(case):
    query, key, _, visible = case
    weights = attention_weights(query, key, visible)
    bits = entropy(weights)
    most = np.log2(np.maximum(visible.sum(axis=-1), 1))
    assert ((bits >= 0) & (bits <= most + 1e-12)).all()
    plain = [-math.fsum(w * math.log2(w) for w in row if w) for row in weights.tolist()]
    assert near(bits, plain)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_softmax_takes_any_axis(axis):
    z = np.random.default_rng(0).standard_normal((2, 3, 4))
    moved = np.moveaxis(softmax(np.moveaxis(z, axis, -1)), -1, axis)
    assert np.array_equal(softmax(z, axis), moved)
