"""Several heads are split, attend and are joined as defined, with every kind of mask and input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import (
    KeyValueCache,
    causal_mask,
    merge_heads,
    multi_head_attention,
    rotary_embedding,
    scaled_dot_product_attention,
    split_heads,
)


def drawn(rng, n=5, D=8, h=2, kv=None, d_k=4, d_v=3, n_keys=None, D_memory=None):
    """Tokens, the memory if there is one, and the four matrices, each of its own sizes."""
    kv, D_memory = kv or h, D_memory or D
    shapes = (D, h * d_k), (D_memory, kv * d_k), (D_memory, kv * d_v), (h * d_v, D + 1)
    memory = None if n_keys is None else rng.standard_normal((n_keys, D_memory))
    return rng.standard_normal((n, D)), memory, [rng.standard_normal(shape) for shape in shapes]


def definition(x, memory, matrices, h, kv, visible=None, bias=0.0):
    """Several heads by one sum for each step, without a reshape: heads are columns counted off."""
    w_q, w_k, w_v, w_o = matrices
    source = x if memory is None else memory
    d_k, d_v = w_q.shape[1] // h, w_v.shape[1] // kv
    output = np.zeros((len(x), w_o.shape[1]))
    for i in range(h):
        j = i // (h // kv)
        q = w_q[:, [i * d_k + c for c in range(d_k)]]
        k = w_k[:, [j * d_k + c for c in range(d_k)]]
        v = w_v[:, [j * d_v + c for c in range(d_v)]]
        scores = np.einsum("nD,Dd,md,->nm", x, q, np.einsum("mD,Dd->md", source, k), d_k**-0.5)
        powers = np.exp(scores + np.broadcast_to(bias, (h, *scores.shape))[i])
        if visible is not None:
            powers = powers * np.broadcast_to(visible, (h, *scores.shape))[i]
        weights = powers / np.maximum(powers.sum(axis=1, keepdims=True), 1e-300)
        o = w_o[[i * d_v + c for c in range(d_v)]]
        output += np.einsum("nm,mD,Dd,de->ne", weights, source, v, o)
    return output


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.data())
def test_it_agrees_with_the_definition(data):
    n, D, d_k, d_v, kv, group = (data.draw(st.integers(1, 4)) for _ in range(6))
    n_keys, D_memory = data.draw(st.sampled_from([(None, None), (1, 3), (6, 5)]))
    h, kind = kv * group, data.draw(st.sampled_from(["none", "causal", "boolean", "float"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x, memory, matrices = drawn(rng, n, D, h, kv, d_k, d_v, n_keys, D_memory)
    heads = data.draw(st.sampled_from([(), (1,), (h,)]))
    shape = (*heads, n, n if memory is None else n_keys)
    options, visible, bias = {}, None, 0.0
    if kind == "causal":
        options, visible = {"is_causal": True}, causal_mask(*shape[-2:])
    elif kind == "boolean":
        visible = rng.random(shape) < 0.6
        options = {"attn_mask": visible}
    elif kind == "float":
        bias = rng.standard_normal(shape)
        options = {"attn_mask": bias}
    ours = multi_head_attention(x, *matrices, h, kv, memory=memory, **options)
    right = definition(x, memory, matrices, h, kv, visible, bias)
    assert ours.shape == right.shape
    assert np.allclose(ours, right, rtol=1e-10, atol=1e-10)


def test_splitting_keeps_tokens_apart_and_joining_undoes_it():
    x = np.arange(24.0).reshape(3, 8)
    assert split_heads(x, 2)[1].tolist() == x[:, 4:].tolist()
    for shape, h in (((3, 8), 2), ((2, 5, 6), 3), ((2, 1, 4, 4), 1), ((0, 4), 2)):
        x = np.random.default_rng(0).standard_normal(shape)
        assert split_heads(x, h).shape == (*shape[:-2], h, shape[-2], shape[-1] // h)
        assert np.array_equal(merge_heads(split_heads(x, h)), x)


def test_one_head_mixes_two_requests_and_two_heads_keep_them_apart():
    """Asked for the tokens with a 1 in the first and in the second place at once."""
    x = np.array([[40.0, 0.0], [0.0, 40.0]])
    one_query = np.array([[40.0, 40.0]])
    swapped = [scaled_dot_product_attention(one_query, x, v) for v in (np.eye(2), np.eye(2)[::-1])]
    assert swapped[0].tolist() == [[0.5, 0.5]]
    assert swapped[0].tobytes() == swapped[1].tobytes()
    matrices = np.ones((1, 2)), np.eye(2), np.eye(2), np.eye(2)
    two = [multi_head_attention([[40.0]], *matrices, 2, memory=m) for m in (x, x[::-1])]
    assert two[0].tolist() == [[40.0, 40.0]]
    # With values of two numbers a head, who said what is told apart.
    w_v = np.tile(np.eye(2), 2)
    apart = multi_head_attention([[40.0]], *matrices[:2], w_v, np.eye(4), 2, memory=x)
    assert apart.tolist() == [[40.0, 0.0, 0.0, 40.0]]


def test_heads_add_up_and_their_order_does_not_count():
    rng = np.random.default_rng(0)
    x, _, (w_q, w_k, w_v, w_o) = drawn(rng, h=3)
    whole = multi_head_attention(x, w_q, w_k, w_v, w_o, 3)
    parts = [(w_q[:, i : i + 4], w_k[:, i : i + 4]) for i in (0, 4, 8)]
    ends = [(w_v[:, i : i + 3], w_o[i : i + 3]) for i in (0, 3, 6)]
    alone = [multi_head_attention(x, *a, *b, 1) for a, b in zip(parts, ends, strict=True)]
    assert np.allclose(sum(alone), whole, rtol=0, atol=1e-13)
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    turned = [merge_heads(split_heads(w, 3) @ turn) for w in (w_q, w_k)]
    again = multi_head_attention(x, *turned, w_v, w_o, 3)
    assert np.allclose(again, whole, rtol=0, atol=1e-12)


def test_a_batch_gives_what_each_of_its_items_gives():
    rng = np.random.default_rng(1)
    x, _, matrices = drawn(rng, h=4, kv=2)
    batch = np.stack([x, x[::-1], 2 * x])
    masks = rng.random((3, 1, 5, 5)) < 0.7
    whole = multi_head_attention(batch, *matrices, 4, 2, attn_mask=masks)
    alone = [
        multi_head_attention(b, *matrices, 4, 2, attn_mask=m)
        for b, m in zip(batch, masks, strict=True)
    ]
    assert np.allclose(whole, alone, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_type_stays_and_narrow_ones_are_near(dtype):
    x, _, matrices = drawn(np.random.default_rng(2))
    narrow = [a.astype(dtype) for a in (x, *matrices)]
    given = multi_head_attention(*narrow, 2, is_causal=True)
    assert given.dtype == dtype
    wide = multi_head_attention(*(a.astype(float) for a in narrow), 2, is_causal=True)
    assert abs(given - wide).max() <= 30 * np.finfo(dtype).eps * abs(wide).max()
    assert multi_head_attention(*(a.astype(int) for a in (x, *matrices)), 2).dtype == float


def test_a_long_input_goes_by_blocks_and_agrees_with_its_rows():
    rng = np.random.default_rng(3)
    x, _, matrices = drawn(rng, n=600, h=4, kv=2, d_k=8)
    whole = multi_head_attention(x, *matrices, 4, 2, is_causal=True)
    for row in (0, 1, 300, 599):
        short = x[: row + 1]
        alone = multi_head_attention(x[[row]], *matrices, 4, 2, memory=short)
        assert np.allclose(whole[[row]], alone, rtol=0, atol=1e-12)


def test_what_is_hidden_has_no_influence():
    x, _, matrices = drawn(np.random.default_rng(4))
    before = multi_head_attention(x, *matrices, 2, is_causal=True)
    x[3:] = np.nan
    after = multi_head_attention(x, *matrices, 2, is_causal=True)
    assert before[:3].tobytes() == after[:3].tobytes()
    assert np.isnan(after[3:]).all()


def test_a_cache_holds_what_came_and_takes_only_more_of_the_same():
    rng = np.random.default_rng(5)
    query, key, value = rng.standard_normal((3, 2, 6, 4))
    places = np.arange(6)
    whole = scaled_dot_product_attention(
        rotary_embedding(query, places), rotary_embedding(key, places), value, is_causal=True
    )
    cache = KeyValueCache()
    for i in range(6):
        q, k = (rotary_embedding(a[:, [i]], places[[i]]) for a in (query, key))
        so_far = cache.extend(k, value[:, [i]])
        assert len(cache) == i + 1
        alone = scaled_dot_product_attention(q, *so_far)
        assert np.allclose(alone, whole[:, [i]], rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match=r"key \(3, 1, 4\), in the cache \(2, 6, 4\)"):
        cache.extend(np.ones((3, 1, 4)), np.ones((3, 1, 4)))
    assert len(cache) == 6


SQUARE = np.eye(4)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: split_heads(np.ones((3, 8)), 3), ValueError, r"num_heads 3, x \(3, 8\)"),
        (lambda: split_heads(np.ones(8), 2), ValueError, r"two dimensions.*x \(8,\)"),
        (lambda: split_heads(np.ones((3, 8)), 0), ValueError, "num_heads must be at least 1: 0"),
        (lambda: split_heads(np.ones((3, 8)), 2.0), TypeError, "num_heads must be an integer"),
        (lambda: merge_heads(np.ones((3, 8))), ValueError, r"three dimensions.*x \(3, 8\)"),
        (
            lambda: multi_head_attention(np.ones((3, 4)), np.ones((6, 4)), *[SQUARE] * 3, 2),
            ValueError,
            r"x \(3, 4\), w_q \(6, 4\); does it come from a library\? Then pass w_q\.T",
        ),
        (
            lambda: multi_head_attention(np.ones((3, 4)), *[SQUARE] * 3, np.ones((5, 4)), 2),
            ValueError,
            r"x \(3, 4\), w_o \(5, 4\)",
        ),
        (
            lambda: multi_head_attention(np.ones((3, 4)), *[SQUARE] * 4, 4, 3),
            ValueError,
            r"num_heads 3, x \(3, 4\)",
        ),
        (
            lambda: multi_head_attention(np.ones((3, 4)), *[SQUARE] * 4, 2, 4),
            ValueError,
            r"must divide those of queries: query \(2, 3, 2\), key \(4, 3, 1\)",
        ),
        (
            lambda: multi_head_attention(np.ones((3, 4)), *[SQUARE] * 4, 4, 2),
            ValueError,
            r"query \(4, 3, 1\), key \(2, 3, 2\)",
        ),
        (
            lambda: multi_head_attention(
                np.ones((2, 3, 4)), *[SQUARE] * 4, 2, attn_mask=np.ones((3, 3, 3), bool)
            ),
            ValueError,
            r"attn_mask \(3, 3, 3\), scores \(2, 2, 3, 3\)",
        ),
        (
            lambda: multi_head_attention(np.ones((3, 4)) * 1j, *[SQUARE] * 4, 2),
            TypeError,
            "expected real numbers: complex128",
        ),
    ],
)
def test_an_error_says_what_was_given(call, error, words):
    with pytest.raises(error, match=words):
        call()
