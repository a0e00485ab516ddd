"""Attention over some of the keys, and how such parts become the whole."""

from typing import NamedTuple

import numpy as np

from .arguments import check_attention, check_number, to_double
from .blockwise import broadcast_heads, by_blocks
from .core import masked_scores, softmax, weighted_sum
from .masks import causal_mask
from .sdpa import BLOCKWISE_MIN_SCORES
from .tiles import Rows

FORMULA_SCORES = 2**16  # at a time, where many keys are not left to the blocks


class Partial(NamedTuple):
    """Attention over some of the keys, with what it takes to merge it with others.

    For each query: the score that its exponentials are relative to, its largest there
    or, from many keys, another that is safe, (..., n_queries); the sum of these
    exponentials, of the same shape; and the output over these keys alone,
    (..., n_queries, d_v). In doubles, so that merging spoils nothing. A query that
    sees none of the keys has -inf, 0 and zeros. `keys` says which keys these are of
    the whole: pairs (start, stop), in order and apart.
    """

    maximum: np.ndarray
    sum: np.ndarray
    output: np.ndarray
    keys: tuple = ()


def partial_attention(
    query, key, value, attn_mask=None, is_causal=False, scale=None, first_key=0
):
    """Compute attention over these keys as a Partial, to be merged with others.

    The arguments are those of scaled_dot_product_attention; a mask says what is
    visible of these keys. `first_key` is the number of the first of them among all
    keys. So `is_causal` hides key j of these from query i when first_key + j > i.

    Raises what scaled_dot_product_attention raises; TypeError or ValueError when
    first_key is no integer or negative.
    Rabe and Staats 2021; Dao et al. 2022.
    """
    first = check_number("first_key", first_key, at_least=0)
    inputs = check_attention(query, key, value, attn_mask, is_causal, scale)
    n_queries, n_keys = inputs.shape[-2:]
    if inputs.is_causal and first:
        mask = causal_mask(n_queries, n_keys, -first)
        inputs = inputs._replace(mask=mask, is_causal=False)
    if n_queries * n_keys >= BLOCKWISE_MIN_SCORES:
        part = partial_by_blocks(inputs)
    else:
        part = partial_by_formula(inputs)
    return part._replace(keys=join_keys([[(first, first + n_keys)]]))


def partial_by_formula(inputs):
    """Compute a Partial with all scores at once, in doubles."""
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


def partial_by_blocks(inputs):
    """Compute a Partial block by block; what that could spoil, by the formula."""
    *leading, n_queries, n_keys = inputs.shape
    rows = Rows(*(np.zeros(inputs.shape[:-1], kind) for kind in (float, float, bool)))
    output = by_blocks(inputs, rows=rows)
    part = Partial(rows.maximum, rows.sum, to_double(output))
    arrays = [broadcast_heads(array, tuple(leading)) for array in inputs[:3]]
    mask = causal_mask(n_queries, n_keys) if inputs.is_causal else inputs.mask
    if mask is not None:
        mask = np.broadcast_to(mask, inputs.shape)
    at_once = max(FORMULA_SCORES // n_keys, 1)
    for head in np.ndindex(*leading):
        unsafe = np.flatnonzero(rows.unsafe[head])
        for start in range(0, len(unsafe), at_once):
            some = unsafe[start : start + at_once]
            query, key, value = (array[head] for array in arrays)
            own = None if mask is None else mask[head][some]
            again = check_attention(query[some], key, value, own, False, inputs.scale)
            for array, exact in zip(part, partial_by_formula(again), strict=False):
                if len(array):
                    array[head][some] = exact
    return part


def merge_partials(partials, n_keys=None):
    """Merge attention over parts of the keys into attention over all of them.

    The parts are Partials of the same queries, in any order; so is the result,
    which may be merged again. Its `output` is the answer. The order may change the
    last bits, and nothing else. `n_keys` says how many keys the whole has: then each
    of them must be in a part.

    Raises ValueError when there is no part, or their shapes differ (quoting them);
    when a key is in two parts, or beyond n_keys, or in none (saying which).
    Milakov and Gimelshein 2018, section 3.
    """
    partials = list(partials)
    shapes = sorted({partial.output.shape for partial in partials})
    if len(shapes) != 1:
        raise ValueError(
            f"parts of the same queries are needed, of one shape: {shapes}"
        )
    maxima, sums, outputs, keys = zip(*partials, strict=True)
    keys = join_keys(keys)
    if n_keys is not None:
        check_whole(keys, check_number("n_keys", n_keys, at_least=0))
    maxima, sums = np.stack(maxima), np.stack(sums)
    maximum = maxima.max(axis=0)
    output = np.zeros(shapes[0], np.result_type(sums, *outputs))
    with np.errstate(all="ignore"):
        shares = sums * shifted_exp(maxima, maximum)
        total = shares.sum(axis=0)
        for part, share, own in zip(outputs, shares, sums, strict=True):
            # A part of which a query sees nothing is left out. One that it sees
            # counts, however small its share, as its keys do in the whole.
            output += np.where(own[..., None] == 0, 0, share[..., None] * part)
        output /= np.where(total == 0, 1, total)[..., None]
    return Partial(maximum, total, output, keys)


def join_keys(parts):
    """Join the keys of parts, each pairs (start, stop), into one such tuple.

    Raises ValueError when a key is in two of them (saying which).
    """
    joined = []
    for start, stop in sorted(pair for keys in parts for pair in keys):
        last = joined[-1][1] if joined else -1
        if start == stop:
            continue
        if start < last:
            raise ValueError(f"in two parts: {named(start, min(stop, last))}")
        if start == last:
            start = joined.pop()[0]
        joined.append((start, stop))
    return tuple(joined)


def check_whole(keys, n_keys):
    """Raise ValueError unless these are the keys from 0 to n_keys (saying which)."""
    places = [0, *(place for pair in keys for place in pair), n_keys]
    for start, stop in zip(places[::2], places[1::2], strict=True):
        if start < stop:
            raise ValueError(f"in no part: {named(start, stop)}")
        if start > stop:
            raise ValueError(f"beyond the whole, {n_keys}: {named(stop, start)}")


def named(start, stop):
    """Name the keys of a range."""
    return f"key {start}" if stop == start + 1 else f"keys {start} to {stop - 1}"


def shifted_exp(scores, largest):
    """Raise e to how far scores lie below the largest; at it, also if infinite, 1."""
    with np.errstate(all="ignore"):
        below = np.exp(np.where(scores == largest, 0.0, scores - largest))
    return np.where(scores == -np.inf, 0.0, below)
