"""What attention by blocks must not leave to the type it works in.

Values that could spoil a sum are found before it, by the range of the values and the
norms of the keys. Queries whose scores could be too large are found after it, and
worked out again by the plain formula, a few at a time.
"""

import numpy as np

from .core import plain_attention
from .masks import causal_mask

ROWS_RECOMPUTED = 32  # queries at a time where the plain formula is needed
# With scores of at most MAX_LOG2_SCORE bits either way, and values that are 0 or in
# range, between 1 / MAX_IN_RANGE and MAX_IN_RANGE, no sum of weighted values can
# overflow or underflow.
MAX_LOG2_SCORE = 48
MAX_IN_RANGE = 2.0**40


def sanitize_values(key, value):
    """Make values safe to multiply with a weight of 0, and measure the keys.

    -> the values, zeros where one is not finite or close to overflow; the keys'
    norms, (..., n_keys, 1), infinite there; and the same, infinite also where a
    value is not in range.
    """
    size = np.abs(value)
    if (least := size.min(initial=1)) == 0:
        np.copyto(size, 1, where=size == 0)
        least = size.min(initial=1)
    limit = np.finfo(value.dtype).max / (2 * max(value.shape[-2], 1))
    with np.errstate(all="ignore"):
        key_norm, infinity = norm(key), value.dtype.type(np.inf)
    if least >= 1 / MAX_IN_RANGE and size.max(initial=1) <= min(MAX_IN_RANGE, limit):
        return value, key_norm, key_norm
    largest = size.max(axis=-1, keepdims=True, initial=1)
    smallest = size.min(axis=-1, keepdims=True, initial=1)
    finite = largest <= limit  # not so if one is NaN
    in_range = (largest <= MAX_IN_RANGE) & (smallest >= 1 / MAX_IN_RANGE)
    key_norm = np.where(finite, key_norm, infinity)
    if not finite.all():
        value = np.where(finite, value, 0)
    return value, key_norm, np.where(in_range, key_norm, infinity)


def max_key_norm(key_norm, head, tiles=None):
    """Find the largest norm of a key that each query sees: (n_tiles, tile, 1).

    Without tiles, that of all keys.
    """
    if head.causal_block is not None and tiles is not None and len(key_norm):
        so_far = np.maximum.accumulate(key_norm)
        seen = tiles.of(np.arange(len(head.query)))
        return so_far[np.minimum(seen, len(key_norm) - 1)]
    if head.mask is not None and tiles is not None:
        seen = tiles.of(head.mask)
        seen = seen if seen.dtype == bool else seen != -np.inf
        return np.where(seen, key_norm.T, 0).max(axis=-1, keepdims=True, initial=0)
    return key_norm.max(initial=0)


def find_unsafe(head, tiles, query_norm, maximum, total):
    """Say which queries the working type could spoil: (n_tiles, tile, 1); or None."""
    max_exact = 2.0**-8 / np.finfo(maximum.dtype).eps  # a score's error is below 1/256
    unsafe = ~(query_norm * max_key_norm(head.key_norm, head) <= max_exact)
    if unsafe.any():
        unsafe = ~(query_norm * max_key_norm(head.key_norm, head, tiles) <= max_exact)
    seen = total != 0
    if head.mask is not None and head.mask.dtype != bool:
        seen |= (tiles.of(head.mask) != -np.inf).any(axis=-1, keepdims=True)
    unsafe |= seen & ~(abs(maximum) <= max_exact)
    return unsafe if unsafe.any() else None


def recompute(output, unsafe, head, tiles):
    """Work out the unsafe queries of some tiles by the plain formula."""
    starts = range(tiles.start, tiles.stop, tiles.step * tiles.tile)
    for start, tile, unsafe_rows in zip(starts, output, unsafe, strict=True):
        for first in range(0, tiles.tile, ROWS_RECOMPUTED):
            chunk = slice(first, min(first + ROWS_RECOMPUTED, tiles.tile))
            if not unsafe_rows[chunk].any():
                continue
            rows = slice(start + chunk.start, start + chunk.stop)
            mask = head.mask
            if head.causal_block is not None:
                mask = causal_mask(rows.stop - rows.start, len(head.key), rows.start)
            elif mask is not None:
                mask = mask[rows]
            arrays = head.query[rows], head.key, head.value
            plain = plain_attention(*arrays, mask, scale=head.scale)
            np.copyto(tile[chunk], plain, where=unsafe_rows[chunk], casting="same_kind")


def norm(x):
    """Compute norms: (..., d) -> (..., 1), with no second array of that size."""
    return np.sqrt(np.einsum("...d,...d->...", x, x))[..., None]
