"""Attention block by block: the same function, with scores that are never stored.

Numbers are worked out in the type that came in, half precision in single. What that
could spoil is left to the plain formula, a few queries at a time.
"""

import math
from _thread import start_new_thread
from itertools import accumulate
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


class Part(NamedTuple):
    """The queries of a head that a thread takes together, in tiles.

    Of the rows from start to stop, cut into tiles, these are every step-th tile.
    """

    start: int
    stop: int
    step: int
    tile: int

    def of(self, array):
        """Show these rows of an array: (n_queries, ...) -> (n_tiles, tile, ...)."""
        n_tiles = (self.stop - self.start) // self.tile
        rows = array[self.start : self.stop]
        return rows.reshape(n_tiles, self.tile, *array.shape[1:])[:: self.step]


class Scratch(NamedTuple):
    """The memory that one thread uses again and again, for blocks of full size.

    Beside the values stands a column of ones, so one product gives the sums of the
    weights too. Columns of 0 after it fill a line of the cache.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    scores: np.ndarray
    product: np.ndarray
    summed: np.ndarray


class Block(NamedTuple):
    """Some keys, and views of all that meets them: of the tiles that see any of them.

    `hidden` says what a causal mask hides in the scores of the first tiles, `covered`.
    `weighed` are the columns of `product` that change: of the values and the ones.
    """

    keys: slice
    tiles: slice
    copies: list
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    scores: np.ndarray
    covered: np.ndarray
    hidden: np.ndarray | None
    weighed: np.ndarray
    product: np.ndarray
    summed: np.ndarray


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
        scratch.value[:], scratch.product[:] = 0, 0
        scratch.value[:, value.shape[-1]] = 1
        for index, part in iter(queue.get, None):
            own = None if mask is None else mask[index]
            head = Head(*(a[index] for a in heads), scale, own, future)
            with np.errstate(all="ignore"):
                attend(head, part, scratch, output[index])

    sharing = threads // max(math.prod(shape[:-2]), 1) if mask is None else 1
    some = parts_of(n_queries, rows, tile, max(sharing, 1))
    parts = [(index, part) for index in np.ndindex(shape[:-2]) for part in some]
    threads = max(min(threads, len(parts)), 1)
    queue = SimpleQueue()
    for part in parts + [None] * threads:
        queue.put(part)
    width, line = query.shape[-1], LINE // working.itemsize
    beside = (value.shape[-1] // line + 1) * line  # at least one column more
    shapes = [(rows, width), (width, columns), (columns, beside)]
    shapes += [(rows, columns), (rows, beside), (rows, beside)]
    arrays = memory(shapes * threads, working)
    mine, *others = map(Scratch._make, zip(*[iter(arrays)] * len(shapes), strict=True))

    def work_beside(scratch):
        try:
            done.put(work(scratch))
        except BaseException as error:  # for the one who waits
            done.put(error)

    # To start a threading.Thread is to wait until it runs: too long for a short input.
    done = SimpleQueue()
    for scratch in others:
        start_new_thread(work_beside, (scratch,))
    work(mine)
    for error in (done.get() for _ in others):
        if error:
            raise error
    with np.errstate(over="ignore"):
        return output.astype(dtype, copy=False)


def parts_of(n_queries, rows, tile, sharing):
    """Cut the queries of a head into parts of at most `rows`.

    Under a causal mask late queries see more keys than early ones, so they come first.
    Where threads that share a head would get one part each, they take tiles in turns,
    and so have equal work. The rest that fills no tile is a part.
    """
    whole = n_queries - n_queries % tile
    step = sharing if 3 / 4 * sharing * rows <= whole <= sharing * rows else 1
    parts = [
        Part(start, min(first + rows * step, whole), step, tile)
        for first in range(0, whole, rows * step)
        for start in range(first, min(first + tile * step, whole), tile)
    ]
    if whole < n_queries:
        parts.append(Part(whole, n_queries, 1, n_queries - whole))
    return parts[::-1]


def attend(head, part, scratch, output):
    """Fill in the output, (n_queries, d_v), of the queries in one part of a head.

    What is known of each query is cut into tiles too: (n_tiles, tile, ...).
    """
    query = part.of(head.query)
    n_tiles, tile = query.shape[:2]
    factor = query.dtype.type(head.scale * np.log2(np.e))
    scaled = scratch.query[: n_tiles * tile].reshape(query.shape)
    query = np.multiply(query, factor, out=scaled)
    limits = np.finfo(query.dtype)
    size = norm(query)
    # Scores are in bits: weights are powers of 2, relative to that of the largest
    # score so far. Where norms prove the scores tame, they are relative to 1.
    tame = np.zeros(size.shape, bool)
    if head.mask is None:
        tame = size * longest(head.tame_length, head, part) <= TAME
    all_tame = tame.all()
    # Numbers below the smallest normal one cost a hundred times as much. So powers are
    # raised to a floor, and it is taken off again; no difference can be that small.
    floor = limits.minexp + limits.nmant
    off = np.ldexp(query.dtype.type(1), floor)
    maximum = np.where(tame, 0, limits.min).astype(query.dtype)
    summed = scratch.summed[: n_tiles * tile].reshape(n_tiles, tile, -1)
    summed[:] = 0
    for block in blocks_of(head, part, query, scratch, summed):
        scores, hidden, bias = block.scores, block.hidden, None
        if head.mask is not None:
            hidden, bias = masked(head, part, block.keys)
            if hidden is not None and hidden.all():
                continue
        for to, what in block.copies:
            np.copyto(to, what)
        np.matmul(block.query, block.key, out=scores)
        if bias is not None:
            scores += bias
        if not all_tame:
            if hidden is not None:
                np.copyto(block.covered, -np.inf, where=hidden)
            before = maximum[block.tiles]
            now = np.maximum(before, scores.max(axis=-1, keepdims=True))
            now = np.where(tame[block.tiles], 0, now)
            np.multiply(block.summed, np.exp2(before - now), out=block.summed)
            maximum[block.tiles] = now
            scores -= now
            np.maximum(scores, floor, out=scores)
        np.exp2(scores, out=scores)
        if not all_tame:
            scores -= off
        if hidden is not None:
            np.copyto(block.covered, 0, where=hidden)
        np.matmul(scores, block.value, out=block.weighed)
        np.add(block.summed, block.product, out=block.summed)
    output = part.of(output)
    d_v = output.shape[-1]
    total = summed[..., d_v : d_v + 1]
    np.divide(summed[..., :d_v], np.where(total == 0, 1, total), out=output)
    if not all_tame:  # which proves more than what is asked there
        mend(output, head, part, size, maximum, total)


def blocks_of(head, part, query, scratch, summed):
    """Prepare the blocks of keys that a part sees.

    All before the first: where a thread is in Python between two steps of a block, one
    that ends a step has to wait, and to be woken takes longer than a step.
    """
    (n_keys, d_v), columns = head.summable.shape, scratch.scores.shape[-1]
    last = n_keys if head.future is None else min(n_keys, part.stop)
    blocks = []
    for start in range(0, last, columns):
        keys = slice(start, min(start + columns, n_keys))
        first, hidden = causally_hidden(head, part, keys)
        if first >= len(query):
            break
        n, tile, width = len(query) - first, part.tile, keys.stop - start
        key, value = scratch.key[:, :width], scratch.value[:width]
        scores = scratch.scores[: n * tile, :width].reshape(n, tile, width)
        product = scratch.product[: n * tile].reshape(n, tile, -1)
        block = Block(
            keys=keys,
            tiles=slice(first, None),
            copies=[(key, head.key[keys].T), (value[:, :d_v], head.summable[keys])],
            query=query[first:],
            key=key,
            value=value[:, : d_v + 1],
            scores=scores,
            covered=scores if hidden is None else scores[: len(hidden)],
            hidden=hidden,
            weighed=product[..., : d_v + 1],
            product=product,
            summed=summed[first:],
        )
        blocks.append(block)
    return blocks


def each_head(array, leading):
    """Repeat what heads share; broadcast_to takes long also where nothing is shared."""
    if array.shape[:-2] == leading:
        return array
    return np.broadcast_to(array, leading + array.shape[-2:])


def memory(shapes, dtype):
    """Take memory for arrays that each begin with a line of the cache.

    One piece for all: the system takes back several pieces at each return.
    """
    sizes = [math.prod(shape) * dtype.itemsize for shape in shapes]
    starts = [0, *accumulate(size + -size % LINE for size in sizes)]
    raw = np.empty(starts[-1] + LINE, np.uint8)
    raw = raw[-raw.__array_interface__["data"][0] % LINE :]
    return [
        raw[start : start + size].view(dtype).reshape(shape)
        for start, size, shape in zip(starts, sizes, shapes, strict=False)
    ]


def causally_hidden(head, part, keys):
    """Find the first tile of a part that sees any of these keys under a causal mask.

    -> its number; and for it and those after it, as long as a key is hidden, what is.
    """
    if head.future is None or keys.stop <= part.start:
        return 0, None
    stride = part.step * part.tile
    first = max(math.ceil((keys.start - part.start) / stride), 0)
    above = part.start + first * stride - keys.start
    width = keys.stop - keys.start
    hidden = head.future[above : part.stop - keys.start, :width]
    return first, hidden.reshape(-1, part.tile, width)[:: part.step]


def masked(head, part, keys):
    """Say what a mask hides of these keys, and what it adds to scores; or None."""
    mask, bias = part.of(head.mask)[..., keys], None
    if mask.dtype == bool:
        hidden = ~mask
    else:
        bias = mask.astype(head.query.dtype) * head.query.dtype.type(np.log2(np.e))
        hidden = bias == -np.inf
    return hidden if hidden.any() else None, bias


def mend(output, head, part, size, maximum, total):
    """Replace by the plain formula what the working type could spoil."""
    trusted = 2.0**-8 / np.finfo(output.dtype).eps  # a score's error is below 1/256
    reach = longest(head.length, head, None)
    wrong = ~(size * reach <= trusted)
    if wrong.any():
        wrong = ~(size * longest(head.length, head, part) <= trusted)
    seen = total != 0
    if head.mask is not None and head.mask.dtype != bool:
        seen |= (part.of(head.mask) != -np.inf).any(axis=-1, keepdims=True)
    wrong |= seen & ~(abs(maximum) <= trusted)
    if not wrong.any():
        return
    starts = range(part.start, part.stop, part.step * part.tile)
    for start, tile, bad in zip(starts, output, wrong, strict=True):
        for first in range(0, part.tile, FEW):
            few = slice(first, min(first + FEW, part.tile))
            if not bad[few].any():
                continue
            rows = slice(start + few.start, start + few.stop)
            mask = head.mask
            if head.future is not None:
                mask = causal_mask(rows.stop - rows.start, len(head.key), rows.start)
            elif mask is not None:
                mask = mask[rows]
            plain = plain_attention(
                head.query[rows], head.key, head.value, mask, False, head.scale
            )
            np.copyto(tile[few], plain, where=bad[few], casting="same_kind")


def longest(length, head, part):
    """Find the longest key that each query in a part sees: (n_tiles, tile, 1).

    Without a part, the longest of all keys.
    """
    if head.future is not None and part is not None and len(length):
        so_far = np.maximum.accumulate(length)
        seen = part.of(np.arange(len(head.query)))
        return so_far[np.minimum(seen, len(length) - 1)]
    if head.mask is not None and part is not None:
        seen = part.of(head.mask)
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
    if (least := size.min(initial=1)) == 0:
        np.copyto(size, 1, where=size == 0)
        least = size.min(initial=1)
    room = np.finfo(value.dtype).max / (2 * max(value.shape[-2], 1))
    with np.errstate(all="ignore"):
        length, endless = norm(key), value.dtype.type(np.inf)
    if least >= 1 / MODEST and size.max(initial=1) <= min(MODEST, room):
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
