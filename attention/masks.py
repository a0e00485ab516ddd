"""Masks: which keys a query may see."""

import numpy as np

from .arguments import check_number, common_shape


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
    n_queries = check_number("n_queries", n_queries, at_least=0)
    n_keys = check_number("n_keys", n_keys, at_least=0)
    offset = check_number("offset", offset)
    return np.arange(n_keys) <= np.arange(n_queries)[:, None] + offset


def check_mask(attn_mask, is_causal, shape):
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
    full = common_shape(shape, mask.shape)
    if full is None or full[-2:] != shape[-2:]:
        raise ValueError(
            "attn_mask does not broadcast to the scores: "
            f"attn_mask {mask.shape}, scores {shape}"
        )
    return mask, full
