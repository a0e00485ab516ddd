"""Attention over some of the keys, and how such parts become the whole."""

from typing import NamedTuple

import numpy as np

from .arguments import check_attention, to_double
from .core import masked_scores, softmax, weighted_sum


class Partial(NamedTuple):
    """Attention over some of the keys, with what it takes to merge it with others.

    For each query: its largest score there, (..., n_queries); the sum of the
    exponentials of its scores, each less that largest one, of the same shape; and
    the output over these keys alone, (..., n_queries, d_v). In doubles, so that
    merging spoils nothing. A query that sees none of the keys has -inf, 0 and zeros.
    """

    maximum: np.ndarray
    sum: np.ndarray
    output: np.ndarray


def partial_attention(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """Compute attention over these keys as a Partial, to be merged with others.

    The arguments are those of scaled_dot_product_attention; a mask says what is
    visible of these keys.

    Raises what scaled_dot_product_attention raises.
    Rabe and Staats 2021; Dao et al. 2022.
    """
    inputs = check_attention(query, key, value, attn_mask, is_causal, scale)
    scores, visible, taken = masked_scores(inputs)
    weights = softmax(scores, mask=visible)
    output = weighted_sum(weights, to_double(inputs.value), visible)
    seen = np.where(visible, scores, -np.inf)
    maximum = seen.max(axis=-1, initial=-np.inf)
    total = shifted_exp(seen, maximum[..., None]).sum(axis=-1)
    maximum = maximum + taken[..., 0]
    shape = output.shape[:-1]
    return Partial(
        np.broadcast_to(maximum, shape), np.broadcast_to(total, shape), output
    )


def merge_partials(partials):
    """Merge attention over parts of the keys into attention over all of them.

    The parts are Partials of the same queries, in any order; so is the result,
    which may be merged again. Its `output` is the answer. The order may change the
    last bits, and nothing else.

    Raises ValueError when there is no part, or their shapes differ (quoting them).
    Milakov and Gimelshein 2018, section 3.
    """
    partials = list(partials)
    shapes = sorted({partial.output.shape for partial in partials})
    if len(shapes) != 1:
        raise ValueError(
            f"parts of the same queries are needed, of one shape: {shapes}"
        )
    maxima, sums, outputs = map(np.stack, zip(*partials, strict=True))
    maximum = maxima.max(axis=0)
    with np.errstate(all="ignore"):
        shares = sums * shifted_exp(maxima, maximum)
        total = shares.sum(axis=0)
        # A part of which a query sees nothing is left out. One that it sees counts,
        # however small its share, as its keys do in attention over all of them.
        parts = np.where(sums[..., None] == 0, 0, shares[..., None] * outputs)
        output = parts.sum(axis=0) / np.where(total == 0, 1, total)[..., None]
    return Partial(maximum, total, output)


def shifted_exp(scores, largest):
    """Raise e to how far scores lie below the largest; at it, also if infinite, 1."""
    with np.errstate(all="ignore"):
        below = np.exp(np.where(scores == largest, 0.0, scores - largest))
    return np.where(scores == -np.inf, 0.0, below)
