"""Attention by its formula: scores, softmax, weights, and the weighted sum.

All scores are computed at once, in at least double precision.
"""

import numpy as np

from .arguments import as_doubles, check_attention, common_shape, to_double
from .masks import causal_mask


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
    z, dtype = as_doubles(z)
    if mask is not None:
        mask = np.asarray(mask)
        if mask.dtype != bool:
            raise TypeError(f"mask must be boolean, True = may attend: {mask.dtype}")
        if common_shape(z.shape, mask.shape) != z.shape:
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


def attention_scores(query, key, scale=None):
    """Compare each query with each key: their dot product, times the scale.

    (..., n_queries, d_k), (..., n_keys, d_k) -> (..., n_queries, n_keys).
    `scale` is 1 / sqrt(d_k) unless given. A score too large for a double is NaN,
    because an infinity would hide which of two such scores is the larger.

    Raises ValueError when the shapes do not fit (quoting them), and what
    scaled_dot_product_attention raises about the scale.
    Vaswani et al. 2017, equation 1.
    """
    inputs = check_attention(query, key, None, None, False, scale)
    return raw_scores(inputs).astype(inputs.dtype)


def attention_weights(query, key, attn_mask=None, is_causal=False, scale=None):
    """Tell how much of each value each query takes.

    (..., n_queries, d_k), (..., n_keys, d_k) -> (..., n_queries, n_keys).
    The masks and the scale are those of scaled_dot_product_attention. A row sums to
    one, or is zeros where a query sees no key.

    Raises what scaled_dot_product_attention raises.
    Vaswani et al. 2017, equation 1.
    """
    inputs = check_attention(query, key, None, attn_mask, is_causal, scale)
    scores, visible, _ = masked_scores(inputs)
    return softmax(scores, mask=visible).astype(inputs.dtype)


def plain_attention(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """Work attention out by its formula, in doubles, however long the input is."""
    return by_formula(check_attention(query, key, value, attn_mask, is_causal, scale))


def by_formula(inputs):
    """Work attention out by its formula, with all scores at once, in doubles."""
    scores, visible, _ = masked_scores(inputs)
    weights = softmax(scores, mask=visible)
    return weighted_sum(weights, to_double(inputs.value), visible)


def raw_scores(inputs):
    """Compute the scores in doubles, before any mask."""
    query, key = to_double(inputs.query), to_double(inputs.key)
    with np.errstate(all="ignore"):
        scores = query @ key.swapaxes(-1, -2) * inputs.scale
    if np.isinf(scores).any():
        infinite_query = np.isinf(query).any(axis=-1)[..., :, None]
        infinite_key = np.isinf(key).any(axis=-1)[..., None, :]
        overflowed = np.isinf(scores) & ~(infinite_query | infinite_key)
        scores = np.where(overflowed, np.nan, scores)
    return scores


def masked_scores(inputs):
    """Compute the scores, where they count, and what was taken from each row.

    -> (..., n_queries, n_keys), booleans of that shape, and (..., n_queries, 1). From
    a mask that is added, each row's largest entry is taken first: the weights do not
    depend on it, and a large one would swallow the scores.
    """
    scores, visible, taken = raw_scores(inputs), np.array(True), np.zeros((1, 1))
    if inputs.is_causal:
        visible = causal_mask(*inputs.shape[-2:])
    elif inputs.mask is not None and inputs.mask.dtype == bool:
        visible = inputs.mask
    elif inputs.mask is not None:
        visible, taken = inputs.mask != -np.inf, row_maximum(inputs.mask)
        with np.errstate(all="ignore"):
            scores = scores + (inputs.mask - taken)
    scores = np.broadcast_to(scores, inputs.shape)
    return scores, visible & (scores != -np.inf), taken


def row_maximum(mask):
    """Return the largest entry of each row, 0 where that is not finite."""
    largest = to_double(mask).max(axis=-1, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(largest), largest, 0)


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
