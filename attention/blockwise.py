"""Attention block by block: the same function, with scores that are never stored.

Numbers are worked out in the type that came in, half precision in single. What that
could spoil is left to the plain formula, a few queries at a time.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from .core import (
    broadcast,
    causal_mask,
    checked_mask,
    fitting,
    plain_attention,
    whole_number,
)

QUERIES = 1024  # in a block; with KEYS keys, single precision takes 512 KiB for it
KEYS = 128
TILE = 32  # queries in one product: OpenBLAS has faster ways for small matrices
LINE = 64  # bytes in a line of the cache: vectors that cross its end load half as fast
FEW = 32  # queries at a time where the plain formula is needed
# With scores of at most TAME bits either way, and values that are 0 or between
# 1 / MODEST and MODEST, no sum of weighted values can overflow or underflow.
TAME = 48
MODEST = 2.0**40


class Head(NamedTuple):
    """One head: what `measured` makes of its arrays, and what its queries may see.

    `future` is the block on the diagonal of a causal mask, True where it hides.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    summable: np.ndarray
    length: np.ndarray
    tame_length: np.ndarray
    scale: float
    mask: np.ndarray | None
    future: np.ndarray | None


class Scratch(NamedTuple):
    """The memory that one thread uses again and again, for blocks of full size."""

    query: np.ndarray
    turned: np.ndarray
    value: np.ndarray
    scores: np.ndarray
    product: np.ndarray


def blockwise_attention(
    query,
    key,
    value,
    attn_mask=None,
    is_causal=False,
    scale=None,
    block=None,
    threads=1,
):
    """Compute scaled_dot_product_attention with memory that grows as n, not n^2.

    Shapes, masks, scale, and what is hidden or raised are the same as there. The
    scores of `block` queries for `block` keys are computed, used and overwritten.
    `threads` share the queries; their number does not change a bit of the result.
    Single precision is worked out in single precision: weights below 2^-103 of the
    largest are 0, and the error grows with the scores. A query is left to the plain
    formula, in doubles, where its scores may exceed 2^15 (2^44 in double precision)
    or where it sees numbers that are not finite or close to overflow.

    Raises also ValueError or TypeError when block or threads is no positive integer.
    Milakov and Gimelshein 2018; Rabe and Staats 2021; Dao et al. 2022.
    """
    (query, key, value), dtype = fitting(query=query, key=key, value=value)
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    leading = broadcast(*(array.shape[:-2] for array in (query, key, value)))
    mask, shape = checked_mask(attn_mask, is_causal, (*leading, n_queries, n_keys))
    rows, columns, tile = QUERIES, KEYS, TILE
    if block is not None:
        block = whole_number("block", block, at_least=1)
        rows = columns = tile = max(min(block, max(n_queries, n_keys)), 1)
    rows = max(min(rows, n_queries), 1)
    threads = whole_number("threads", threads, at_least=1)
    if scale is None:
        scale = 1 / np.sqrt(max(query.shape[-1], 1))
    working = np.result_type(dtype, np.float32)
    arrays = [array.astype(working, copy=False) for array in (query, key, value)]
    arrays += measured(*arrays[1:])
    heads = [each_head(array, shape[:-2]) for array in arrays]
    mask = np.broadcast_to(mask, shape) if mask.ndim else None
    future = ~causal_mask(columns, columns) if is_causal else None
    output = np.empty((*shape[:-1], value.shape[-1]), working)

    def work(scratch):
        for index, some in iter(queue.get, None):
            own = None if mask is None else mask[index]
            head = Head(*(a[index] for a in heads), scale, own, future)
            with np.errstate(all="ignore"):
                attend(head, some, tile, columns, scratch, output[(*index, some)])

    # The rest that fills no tile is a part of its own; under a causal mask the last
    # queries have most to do, so they come first.
    cuts = {*range(0, n_queries, rows), n_queries - n_queries % tile, n_queries}
    slices = [slice(*ends) for ends in pairwise(sorted(cuts))][::-1]
    parts = [(index, some) for index in np.ndindex(shape[:-2]) for some in slices]
    threads = max(min(threads, len(parts)), 1)
    queue = SimpleQueue()
    for part in parts + [None] * threads:
        queue.put(part)
    width, d_v = query.shape[-1], value.shape[-1]
    shapes = [(rows, width), (width, columns), (columns, d_v)]
    shapes += [(rows, columns), (rows, d_v)]
    mine, *others = (
        Scratch(*(memory(each, working) for each in shapes)) for _ in range(threads)
    )
    with ThreadPoolExecutor(threads) as pool:  # which starts no thread for one
        busy = [pool.submit(work, scratch) for scratch in others]
        work(mine)
        for thread in busy:
            thread.result()
    with np.errstate(over="ignore"):
        return output.astype(dtype, copy=False)


def attend(head, some, tile, columns, scratch, output):
    """Fill in the output of the queries in the slice `some` of a head: (m, d_v).

    They are cut into tiles, (n_tiles, queries in a tile, ...).
    """
    query = head.query[some]
    factor = query.dtype.type(head.scale * np.log2(np.e))
    query = np.multiply(query, factor, out=scratch.query[: len(query)])
    limits = np.finfo(query.dtype)
    size = norm(query)
    # Scores are in bits: weights are powers of 2, relative to that of the largest
    # score so far. Where norms prove the scores tame, they are relative to 1.
    tame = np.zeros(size.shape, bool)
    if head.mask is None:
        tame = size * longest(head.tame_length, head, some) <= TAME
    all_tame = tame.all()
    # Numbers below the smallest normal one cost a hundred times as much. So powers are
    # raised to a floor, and it is taken off again; no difference can be that small.
    floor = limits.minexp + limits.nmant
    off = np.ldexp(query.dtype.type(1), floor)
    tile = min(tile, len(query))
    query = query.reshape(len(query) // tile, tile, query.shape[-1])
    tame = tame.reshape(-1, tile, 1)
    maximum = np.where(tame, 0, limits.min).astype(query.dtype)
    total = np.zeros(tame.shape, query.dtype)
    output[:] = 0
    tiled = output.reshape(*query.shape[:2], output.shape[-1])
    ones = np.ones((columns, 1), query.dtype)
    n_keys = len(head.key)
    last = n_keys if head.future is None else min(n_keys, some.stop)
    for start in range(0, last, columns):
        keys = slice(start, min(start + columns, n_keys))
        tiles, hidden, bias = visible(head, some, keys, tile)
        if tiles is None:
            continue
        asking, weighed, summed = query[tiles], total[tiles], tiled[tiles]
        width, many = keys.stop - start, len(asking) * tile
        scores = scratch.scores[:many, :width].reshape(-1, tile, width)
        turned, value = scratch.turned[:, :width], scratch.value[:width]
        np.copyto(turned, head.key[keys].T)
        np.copyto(value, head.summable[keys])
        np.matmul(asking, turned, out=scores)
        if bias is not None:
            scores += bias
        if not all_tame:
            if hidden is not None:
                np.copyto(scores[: len(hidden)], -np.inf, where=hidden)
            before = maximum[tiles]
            now = np.maximum(before, scores.max(axis=-1, keepdims=True))
            now = np.where(tame[tiles], 0, now)
            fade = np.exp2(before - now)
            weighed *= fade
            summed *= fade
            maximum[tiles] = now
            scores -= now
            np.maximum(scores, floor, out=scores)
        np.exp2(scores, out=scores)
        if not all_tame:
            scores -= off
        if hidden is not None:
            np.copyto(scores[: len(hidden)], 0, where=hidden)
        weighed += scores @ ones[:width]
        product = scratch.product[:many].reshape(summed.shape)
        summed += np.matmul(scores, value, out=product)
    tiled /= np.where(total == 0, 1, total)
    if not all_tame:  # which proves more than what is asked there
        mend(output, head, some, size, maximum.reshape(-1, 1), total.reshape(-1, 1))


def each_head(array, leading):
    """Repeat what heads share; broadcast_to takes long also where nothing is shared."""
    if array.shape[:-2] == leading:
        return array
    return np.broadcast_to(array, leading + array.shape[-2:])


def memory(shape, dtype):
    """Take memory for an array that begins with a line of the cache."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.empty(size + LINE, np.uint8)
    start = -raw.__array_interface__["data"][0] % LINE
    return raw[start : start + size].view(dtype).reshape(shape)


def visible(head, some, keys, tile):
    """Say which tiles of a block of queries see any of its keys, and what is hidden.

    -> the slice of those tiles, None if there are none; for the first of them, or for
    all, where a key is hidden, or None; what the mask adds to their scores, or None.
    """
    if head.future is not None:
        if keys.stop <= some.start:
            return slice(None), None, None
        # Causal queries before the first of these keys see none of them.
        first = max(keys.start - some.start, 0)
        above = max(some.start - keys.start, 0)
        hidden = head.future[above : some.stop - keys.start, : keys.stop - keys.start]
        hidden = hidden.reshape(-1, tile, keys.stop - keys.start)
        return slice(first // tile, None), hidden, None
    if head.mask is None:
        return slice(None), None, None
    mask = head.mask[some, keys].reshape(-1, tile, keys.stop - keys.start)
    if mask.dtype == bool:
        hidden, bias = ~mask, None
    else:
        bias = mask.astype(head.query.dtype) * head.query.dtype.type(np.log2(np.e))
        hidden = bias == -np.inf
    if hidden.all():
        return None, None, None
    return slice(None), hidden if hidden.any() else None, bias


def mend(output, head, some, size, maximum, total):
    """Replace by the plain formula what the working type could spoil."""
    trusted = 2.0**-8 / np.finfo(output.dtype).eps  # a score's error is below 1/256
    reach = longest(head.length, head, None)
    wrong = ~(size * reach <= trusted)
    if wrong.any():
        wrong = ~(size * longest(head.length, head, some) <= trusted)
    seen = total != 0
    if head.mask is not None and head.mask.dtype != bool:
        seen |= (head.mask[some] != -np.inf).any(axis=-1, keepdims=True)
    wrong |= seen & ~(abs(maximum) <= trusted)
    if not wrong.any():
        return
    for first in range(0, len(output), FEW):
        few = slice(first, first + FEW)
        if wrong[few].any():
            rows = slice(some.start + first, min(some.start + first + FEW, some.stop))
            mask = head.mask
            if head.future is not None:
                mask = causal_mask(rows.stop - rows.start, len(head.key), rows.start)
            elif mask is not None:
                mask = mask[rows]
            plain = plain_attention(
                head.query[rows], head.key, head.value, mask, False, head.scale
            )
            np.copyto(output[few], plain, where=wrong[few], casting="same_kind")


def longest(length, head, some):
    """Find the longest key that each query in the slice `some` sees: (m, 1).

    Without `some`, the longest of all keys.
    """
    if head.future is not None and some is not None and len(length):
        so_far = np.maximum.accumulate(length)
        return so_far[np.minimum(np.arange(some.start, some.stop), len(length) - 1)]
    if head.mask is not None and some is not None:
        seen = head.mask[some]
        seen = seen if seen.dtype == bool else seen != -np.inf
        return np.where(seen, length.T, 0).max(axis=-1, keepdims=True, initial=0)
    return length.max(initial=0)


def measured(key, value):
    """Make values safe to multiply with a weight of 0, and measure the keys.

    -> the values, zeros where one is not finite or close to overflow; the keys'
    norms, (..., n_keys, 1), infinite there; and the same, infinite also where a
    value is not modest.
    """
    size = np.abs(value)
    if not size.min(initial=1) > 0:
        np.copyto(size, 1, where=size == 0)
    room = np.finfo(value.dtype).max / (2 * max(value.shape[-2], 1))
    with np.errstate(all="ignore"):
        length, endless = norm(key), value.dtype.type(np.inf)
    if size.min(initial=1) >= 1 / MODEST and size.max(initial=1) <= min(MODEST, room):
        return value, length, length
    largest = size.max(axis=-1, keepdims=True, initial=1)
    smallest = size.min(axis=-1, keepdims=True, initial=1)
    sound = largest <= room  # not so if one is NaN
    modest = (largest <= MODEST) & (smallest >= 1 / MODEST)
    length = np.where(sound, length, endless)
    if not sound.all():
        value = np.where(sound, value, 0)
    return value, length, np.where(modest, length, endless)


def norm(x):
    """Measure vectors: (..., d) -> (..., 1), with no second array of their size."""
    return np.sqrt(np.einsum("...d,...d->...", x, x))[..., None]
