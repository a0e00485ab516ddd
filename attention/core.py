"""Attention: scores, softmax, masks, the weighted mean, and entropy.

Numbers of any width are worked out in at least double precision and rounded once, at
the end, to the type that came in; integers and booleans give doubles. Only attention
over long inputs is left to blockwise.py, which works in the type that came in.
"""

import operator

import numpy as np

LONG = 2**16  # scores, 256 by 256: from here on blocks are faster, and none is stored


def softmax(z, axis=-1, mask=None):
    """Turn each row of scores into weights that sum to one.

    (..., n) -> (..., n). `mask` broadcasts to it; True means may attend.
    A row with no visible entry gives zeros, and a score of -inf is not visible.
    Scores of +inf share the whole weight equally; a visible NaN makes its row NaN.

    Raises ValueError when the mask does not broadcast to z (quoting both shapes),
    TypeError when it is not boolean.
    Vaswani et al. 2017, equation 1; the largest score is subtracted first, so that
    exp cannot overflow.
    """
    z, dtype = floating(z)
    if mask is not None:
        mask = np.asarray(mask)
        if mask.dtype != bool:
            raise TypeError(f"mask must be boolean, True = may attend: {mask.dtype}")
        if broadcast(z.shape, mask.shape) != z.shape:
            raise ValueError(
                f"mask does not broadcast to z: mask {mask.shape}, z {z.shape}"
            )
        z = np.where(mask, z, -np.inf)
    visible = z != -np.inf
    largest = z.max(axis=axis, keepdims=True, initial=-np.inf)
    with np.errstate(all="ignore"):
        # At the top the distance is 0, also when both are infinite.
        shares = np.exp(np.where(z == largest, 0.0, z - largest))
        weights = shares / shares.sum(axis=axis, keepdims=True)
        return np.where(visible, weights, 0.0).astype(dtype)


def causal_mask(n_queries, n_keys, offset=0):
    """Say which keys each query may see when nobody sees the future.

    -> (n_queries, n_keys) of booleans; True means may attend.
    Query i sees the keys j <= i + offset. With offset 0 the diagonal starts at the
    top left. With n_keys - n_queries it ends at the bottom right: the queries are
    the last positions, as when decoding with that many keys in a cache.

    Raises TypeError when an argument is not an integer, ValueError when a size is
    negative (quoting it).
    Vaswani et al. 2017, section 3.2.3.
    """
    n_queries = whole_number("n_queries", n_queries, at_least=0)
    n_keys = whole_number("n_keys", n_keys, at_least=0)
    offset = whole_number("offset", offset)
    return np.arange(n_keys) <= np.arange(n_queries)[:, None] + offset


def attention_scores(query, key, scale=None):
    """Compare each query with each key: their dot product, times the scale.

    (..., n_queries, d_k), (..., n_keys, d_k) -> (..., n_queries, n_keys).
    `scale` is 1 / sqrt(d_k) unless given. A score too large for a double is NaN,
    because an infinity would hide which of two such scores is the larger.

    Raises ValueError when the shapes do not fit (quoting them).
    Vaswani et al. 2017, equation 1.
    """
    (query, key), dtype = together(query=query, key=key)
    return scores_of(query, key, scale).astype(dtype)


def attention_weights(query, key, attn_mask=None, is_causal=False, scale=None):
    """Tell how much of each value each query takes.

    (..., n_queries, d_k), (..., n_keys, d_k) -> (..., n_queries, n_keys).
    The masks and the scale are those of scaled_dot_product_attention. A row sums to
    one, or is zeros where a query sees no key.

    Raises what scaled_dot_product_attention raises.
    Vaswani et al. 2017, equation 1.
    """
    (query, key), dtype = together(query=query, key=key)
    scores, visible = masked_scores(query, key, attn_mask, is_causal, scale)
    return softmax(scores, mask=visible).astype(dtype)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, is_causal=False, scale=None
):
    """Give each query the mean of the values, weighted by how its keys score.

    (..., n_queries, d_k), (..., n_keys, d_k), (..., n_keys, d_v)
    -> (..., n_queries, d_v); the leading dimensions broadcast.
    `attn_mask` broadcasts to (..., n_queries, n_keys): booleans, True means may
    attend, or floats to add to the scores, where -inf hides. `is_causal` hides key j
    from query i when j > i (top left); for another alignment pass a causal_mask.
    `scale` is 1 / sqrt(d_k) unless given.
    What is hidden has no influence at all, be it NaN or infinite. A query that sees
    no key gets zeros.
    Where n_queries * n_keys is LONG or more, blockwise_attention gives the answer:
    single precision then stays single throughout.

    Raises ValueError when the shapes do not fit (quoting them) or when both masks
    are given, TypeError when the mask is neither boolean nor floating.
    Vaswani et al. 2017, equation 1; the arguments are named as in PyTorch.
    """
    (query, key, value), dtype = fitting(query=query, key=key, value=value)
    if query.shape[-2] * key.shape[-2] >= LONG:
        from .blockwise import blockwise_attention

        return blockwise_attention(query, key, value, attn_mask, is_causal, scale)
    return plain_attention(query, key, value, attn_mask, is_causal, scale).astype(dtype)


def plain_attention(query, key, value, attn_mask, is_causal, scale):
    """Work attention out by its formula, with all scores at once, in doubles."""
    query, key, value = map(in_doubles, (query, key, value))
    scores, visible = masked_scores(query, key, attn_mask, is_causal, scale)
    weights = softmax(scores, mask=visible)
    return weighted_sum(weights, value, visible)


def entropy(p):
    """Measure in bits how widely each row of weights is spread.

    (..., n) -> (...). From 0, all on one, to log2(n), all equal; 0 log 0 counts as
    0. A row of zeros, which chose nothing, gives 0; a row with NaN gives NaN.

    Raises ValueError when an entry is negative or a row sums to something other
    than 1 or 0 (quoting it; a thousandth of rounding is allowed).
    Shannon 1948, section 6.
    """
    p, dtype = floating(p)
    if (p < 0).any():
        raise ValueError(f"a weight cannot be negative: {p[p < 0].flat[0]}")
    total = np.asarray(p.sum(axis=-1))
    wrong = (total != 0) & (abs(total - 1) > 0.001)
    if wrong.any():
        raise ValueError(f"weights must sum to 1 (or all be 0): {total[wrong].flat[0]}")
    logs = np.log2(p, where=p > 0, out=np.zeros_like(p))
    bits = -(p * logs).sum(axis=-1)
    # Rounding may leave the entropy of a certainty a hair below 0, or at -0.0.
    return np.where(bits <= 0, 0.0, bits).astype(dtype)[()]


def whole_number(name, value, at_least=None):
    """Return an integer argument, or raise an error that repeats it.

    Raises TypeError when it is not an integer, ValueError when it is below
    `at_least`.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer: {value!r}") from None
    if at_least is not None and number < at_least:
        raise ValueError(f"{name} must be at least {at_least}: {value!r}")
    return number


def floating(x):
    """Return x in at least double precision, and the type its result should have.

    Raises TypeError when x does not hold real numbers.
    """
    x, dtype = real(x)
    return in_doubles(x), dtype


def real(x):
    """Return x as an array, and the type its result should have.

    Raises TypeError when x does not hold real numbers.
    """
    x = np.asarray(x)
    if x.dtype.kind not in "biuf":
        raise TypeError(f"expected real numbers: {x.dtype}")
    return x, x.dtype if x.dtype.kind == "f" else np.dtype(float)


def in_doubles(x):
    """Return an array in at least double precision."""
    return x.astype(np.result_type(x.dtype, float), copy=False)


def together(**arrays):
    """Return query, key and perhaps value in doubles, and the type of their result.

    Raises ValueError when their shapes do not fit (quoting them).
    """
    arrays, dtype = fitting(**arrays)
    return [in_doubles(array) for array in arrays], dtype


def fitting(**arrays):
    """Return query, key and perhaps value as arrays, and the type of their result.

    Raises ValueError when their shapes do not fit (quoting them).
    """
    pairs = [real(array) for array in arrays.values()]
    dtype = np.result_type(*(dtype for _, dtype in pairs))
    shapes = [array.shape for array, _ in pairs]
    given = ", ".join(f"{name} {np.shape(array)}" for name, array in arrays.items())
    if min(map(len, shapes)) < 2:
        raise ValueError(f"each needs two dimensions, a row a position: {given}")
    query, key, *value = shapes
    if query[-1] != key[-1]:
        raise ValueError(f"query and key differ in width: {given}")
    if value and key[-2] != value[0][-2]:
        raise ValueError(f"key and value differ in number: {given}")
    if broadcast(*(shape[:-2] for shape in shapes)) is None:
        raise ValueError(f"leading dimensions do not broadcast: {given}")
    return [array for array, _ in pairs], dtype


def broadcast(*shapes):
    """Return the shape that these broadcast to, or None when they do not."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def scores_of(query, key, scale):
    """Compute the scores of floats that are known to fit."""
    if scale is None:
        scale = 1 / np.sqrt(max(query.shape[-1], 1))
    with np.errstate(all="ignore"):
        scores = query @ key.swapaxes(-1, -2) * scale
    if np.isinf(scores).any():
        infinite_query = np.isinf(query).any(axis=-1)[..., :, None]
        infinite_key = np.isinf(key).any(axis=-1)[..., None, :]
        overflowed = np.isinf(scores) & ~(infinite_query | infinite_key)
        scores = np.where(overflowed, np.nan, scores)
    return scores


def masked_scores(query, key, attn_mask, is_causal, scale):
    """Compute the scores, and where they count.

    -> two arrays of shape (..., n_queries, n_keys), the second of booleans.
    """
    scores = scores_of(query, key, scale)
    mask, shape = checked_mask(attn_mask, is_causal, scores.shape)
    visible = mask
    if is_causal:
        visible = causal_mask(*shape[-2:])
    elif mask.dtype != bool:
        visible = mask != -np.inf
        with np.errstate(all="ignore"):
            scores = scores + mask
    scores = np.broadcast_to(scores, shape)
    return scores, visible & (scores != -np.inf)


def checked_mask(attn_mask, is_causal, shape):
    """Return the mask as an array, True where there is none, and the scores' shape.

    Raises what scaled_dot_product_attention raises about masks.
    """
    if attn_mask is None:
        return np.array(True), shape
    if is_causal:
        raise ValueError(
            "attn_mask and is_causal exclude one another: "
            "pass attn_mask & causal_mask(n_queries, n_keys)"
        )
    mask = np.asarray(attn_mask)
    if mask.dtype != bool and mask.dtype.kind != "f":
        raise TypeError(
            "attn_mask must be boolean, True = may attend, or floating, "
            f"to be added: {mask.dtype}"
        )
    full = broadcast(shape, mask.shape)
    if full is None or full[-2:] != shape[-2:]:
        raise ValueError(
            "attn_mask does not broadcast to the scores: "
            f"attn_mask {mask.shape}, scores {shape}"
        )
    return mask, full


def weighted_sum(weights, value, visible):
    """Add up the values by weight, leaving out for good what is not visible.

    A weight of zero does not hide: zero times NaN or infinity is NaN. So those
    values are added apart from the rest, and only where they are visible.
    """
    finite = np.isfinite(value)
    with np.errstate(all="ignore"):
        total = weights @ np.where(finite, value, 0.0)
        if not finite.all():
            others = np.where(finite, 0.0, value)[..., None, :, :]
            shares = weights[..., None] * others
            total = total + np.where(visible[..., None], shares, 0.0).sum(axis=-2)
    return total
