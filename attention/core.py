"""Attention by its formula: scores, softmax, weights, and the weighted sum.

All scores are computed at once, in at least double precision.
"""

import numpy as np

from .arguments import as_doubles, check_doubles, common_shape, default_scale, to_double
from .masks import causal_mask, check_mask


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

    Raises ValueError when the shapes do not fit (quoting them).
    Vaswani et al. 2017, equation 1.
    """
    (query, key), dtype = check_doubles(query=query, key=key)
    return raw_scores(query, key, scale).astype(dtype)


def attention_weights(query, key, attn_mask=None, is_causal=False, scale=None):
    """Tell how much of each value each query takes.

    (..., n_queries, d_k), (..., n_keys, d_k) -> (..., n_queries, n_keys).
    The masks and the scale are those of scaled_dot_product_attention. A row sums to
    one, or is zeros where a query sees no key.

    Raises what scaled_dot_product_attention raises.
    Vaswani et al. 2017, equation 1.
    """
    (query, key), dtype = check_doubles(query=query, key=key)
    scores, visible = masked_scores(query, key, attn_mask, is_causal, scale)
    return softmax(scores, mask=visible).astype(dtype)


def plain_attention(query, key, value, attn_mask, is_causal, scale):
    """Work attention out by its formula, with all scores at once, in doubles."""
    query, key, value = map(to_double, (query, key, value))
    scores, visible = masked_scores(query, key, attn_mask, is_causal, scale)
    weights = softmax(scores, mask=visible)
    return weighted_sum(weights, value, visible)


def raw_scores(query, key, scale):
    """Compute the scores of floats that are known to fit."""
    if scale is None:
        scale = default_scale(query.shape[-1])
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
    scores = raw_scores(query, key, scale)
    mask, shape = check_mask(attn_mask, is_causal, scores.shape)
    visible = mask
    if is_causal:
        visible = causal_mask(*shape[-2:])
    elif mask.dtype != bool:
        visible = mask != -np.inf
        with np.errstate(all="ignore"):
            scores = scores + mask
    scores = np.broadcast_to(scores, shape)
    return scores, visible & (scores != -np.inf)


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
