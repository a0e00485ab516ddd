"""Scaled dot-product attention, computed in the way that suits its input."""

from .arguments import check_attention
from .blockwise import by_blocks
from .core import by_formula

# From so many scores on, 256 by 256, blocks are faster, and no score is stored.
BLOCKWISE_MIN_SCORES = 2**16


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
    Where n_queries * n_keys is BLOCKWISE_MIN_SCORES or more, blockwise_attention gives
    the answer: single precision then stays single throughout.

    Raises ValueError when the shapes do not fit (quoting them), when both masks are
    given or when the scale is not finite; TypeError when the mask is neither boolean
    nor floating, is_causal is no bool, the scale is no number, or an array is one of
    numpy's masked arrays.
    Vaswani et al. 2017, equation 1; the arguments are named as in PyTorch.
    """
    inputs = check_attention(query, key, value, attn_mask, is_causal, scale)
    if inputs.shape[-2] * inputs.shape[-1] >= BLOCKWISE_MIN_SCORES:
        return by_blocks(inputs)
    return by_formula(inputs).astype(inputs.dtype)
