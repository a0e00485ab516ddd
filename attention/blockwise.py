"""Attention block by block: the same function, with scores that are never stored.

Numbers are worked out in the type that came in, half precision in single. What that
could spoil is left to the plain formula, a few queries at a time.
"""

import math
from typing import NamedTuple

import numpy as np

from .arguments import check_attention, check_number
from .core import row_maximum
from .guard import (
    MAX_LOG2_SCORE,
    find_unsafe,
    max_key_norm,
    norm,
    recompute,
    sanitize_values,
)
from .masks import causal_mask
from .threads import run_in_threads
from .tiles import split_queries
from .workspace import allocate_workspaces

BLOCK_QUERIES = 1024  # scores of BLOCK_KEYS keys: 512 KiB in single precision
BLOCK_KEYS = 128
TILE_QUERIES = 32  # queries in one product: OpenBLAS has faster ways for small matrices


class Head(NamedTuple):
    """One head: what `sanitize_values` makes of it, and what its queries may see.

    `causal_block` is the block on the diagonal of a causal mask, True where it hides.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    finite_value: np.ndarray
    key_norm: np.ndarray
    bounded_key_norm: np.ndarray
    scale: float
    mask: np.ndarray | None
    mask_maximum: np.ndarray | None
    causal_block: np.ndarray | None


class Block(NamedTuple):
    """Some keys, and views of all that meets them: of the tiles that see any of them.

    `hidden` says what a causal mask hides in the scores of the first tiles, `covered`.
    `weighted` are the columns of `product` that change: of the values and the ones.
    """

    keys: slice
    rows: slice
    copies: list
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    scores: np.ndarray
    covered: np.ndarray
    hidden: np.ndarray | None
    weighted: np.ndarray
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
    largest are 0, and the error grows with |query| |key| times the scale, also where
    the score itself is small. A query is left to the plain formula, in doubles, where
    that product may exceed 2^15 bits (2^44 in double precision) or where it sees
    numbers that are not finite or close to overflow.

    Raises also ValueError or TypeError when block or threads is no positive integer.
    Milakov and Gimelshein 2018; Rabe and Staats 2021; Dao et al. 2022.
    """
    inputs = check_attention(query, key, value, attn_mask, is_causal, scale)
    if block is not None:
        block = check_number("block", block, at_least=1)
    return by_blocks(inputs, block, check_number("threads", threads, at_least=1))


def by_blocks(inputs, block=None, threads=1, rows=None):
    """Work attention out block by block, in the type that came in.

    Where `rows` are given they are filled in, and what is unsafe is only marked.
    """
    shape, width, d_v = inputs.shape, inputs.query.shape[-1], inputs.value.shape[-1]
    n_queries, n_keys = shape[-2:]
    height, columns, tile = BLOCK_QUERIES, BLOCK_KEYS, TILE_QUERIES
    if block is not None:
        height = columns = tile = max(min(block, max(n_queries, n_keys)), 1)
    height = max(min(height, n_queries), 1)
    working = np.result_type(inputs.dtype, np.float32)
    arrays = [array.astype(working, copy=False) for array in inputs[:3]]
    arrays += sanitize_values(*arrays[1:])
    heads = [broadcast_heads(array, shape[:-2]) for array in arrays]
    mask, mask_maximum = inputs.mask, None
    if mask is not None:
        if mask.dtype != bool:
            mask_maximum = np.broadcast_to(row_maximum(mask), (*shape[:-1], 1))
        mask = np.broadcast_to(mask, shape)
    causal_block = ~causal_mask(columns, columns) if inputs.is_causal else None
    output = np.empty((*shape[:-1], d_v), working)

    def work(tasks, workspace):
        workspace.value[:], workspace.product[:] = 0, 0
        workspace.value[:, d_v] = 1
        for index, tiles in tasks:
            head_mask = None if mask is None else mask[index]
            head_maximum = None if mask_maximum is None else mask_maximum[index]
            arrays = (array[index] for array in heads)
            head = Head(*arrays, inputs.scale, head_mask, head_maximum, causal_block)
            with np.errstate(all="ignore"):
                attend(head, tiles, workspace, output[index], rows and rows.of(index))

    per_head = threads // max(math.prod(shape[:-2]), 1) if mask is None else 1
    split = split_queries(n_queries, height, tile, max(per_head, 1))
    tasks = [(index, tiles) for index in np.ndindex(shape[:-2]) for tiles in split]
    threads = max(min(threads, len(tasks)), 1)
    spaces = allocate_workspaces(threads, height, columns, width, d_v, working)
    run_in_threads(work, tasks, spaces)
    with np.errstate(over="ignore"):
        return output.astype(inputs.dtype, copy=False)


def attend(head, tiles, workspace, output, rows=None):
    """Fill in the output, (n_queries, d_v), of some tiles of a head, and its rows.

    What is known of each query is cut into tiles too: (n_tiles, tile, ...).
    """
    query = tiles.of(head.query)
    n_tiles, tile = query.shape[:2]
    factor = query.dtype.type(head.scale * np.log2(np.e))
    scaled = workspace.query[: n_tiles * tile].reshape(query.shape)
    query = np.multiply(query, factor, out=scaled)
    limits = np.finfo(query.dtype)
    query_norm = norm(query)
    # Scores are in bits: weights are powers of 2, relative to that of the largest
    # score so far. Where norms prove the scores bounded, they are relative to 1.
    bounded = np.zeros(query_norm.shape, bool)
    if head.mask is None:
        key_norm = max_key_norm(head.bounded_key_norm, head, tiles)
        bounded = query_norm * key_norm <= MAX_LOG2_SCORE
    all_bounded = bounded.all()
    # Numbers below the smallest normal one cost a hundred times as much. So powers are
    # raised to a floor, and it is taken off again; no difference can be that small.
    floor = limits.minexp + limits.nmant
    floor_power = np.ldexp(query.dtype.type(1), floor)
    maximum = np.where(bounded, 0, limits.min).astype(query.dtype)
    summed = workspace.summed[: n_tiles * tile].reshape(n_tiles, tile, -1)
    summed[:] = 0
    for block in key_blocks(head, tiles, query, workspace, summed):
        scores, hidden, bias = block.scores, block.hidden, None
        if head.mask is not None:
            hidden, bias = mask_block(head, tiles, block.keys)
            if hidden is not None and hidden.all():
                continue
        for to, what in block.copies:
            np.copyto(to, what)
        np.matmul(block.query, block.key, out=scores)
        if bias is not None:
            scores += bias
        if not all_bounded:
            new_max = raise_maximum(block, scores, hidden, maximum, bounded)
            scores -= new_max
            np.maximum(scores, floor, out=scores)
        np.exp2(scores, out=scores)
        if not all_bounded:
            scores -= floor_power
        if hidden is not None:
            np.copyto(block.covered, 0, where=hidden)
        np.matmul(scores, block.value, out=block.weighted)
        np.add(block.summed, block.product, out=block.summed)
    output = tiles.of(output)
    d_v = output.shape[-1]
    total = summed[..., d_v : d_v + 1]
    np.divide(summed[..., :d_v], np.where(total == 0, 1, total), out=output)
    unsafe = None
    if not all_bounded:  # which proves more than what is asked there
        unsafe = find_unsafe(head, tiles, query_norm, maximum, total)
    if rows is not None:
        rows.keep(tiles, maximum, head.mask_maximum, total, unsafe)
    elif unsafe is not None:
        recompute(output, unsafe, head, tiles)


def raise_maximum(block, scores, hidden, maximum, bounded):
    """Let the maximum of each query cover a block too; what is summed so far shrinks.

    Hidden scores become minus infinity. Returns the maximum of the block's queries,
    (..., 1), which stays 0 where the scores are `bounded`.
    """
    if hidden is not None:
        np.copyto(block.covered, -np.inf, where=hidden)
    old_max = maximum[block.rows]
    new_max = np.maximum(old_max, scores.max(axis=-1, keepdims=True))
    new_max = np.where(bounded[block.rows], 0, new_max)
    np.multiply(block.summed, np.exp2(old_max - new_max), out=block.summed)
    maximum[block.rows] = new_max
    return new_max


def key_blocks(head, tiles, query, workspace, summed):
    """Prepare the blocks of keys that some tiles see.

    All before the first: where a thread is in Python between two steps of a block, one
    that ends a step has to wait, and to be woken takes longer than a step.
    """
    (n_keys, d_v), columns = head.finite_value.shape, workspace.scores.shape[-1]
    last = n_keys if head.causal_block is None else min(n_keys, tiles.stop)
    blocks = []
    for start in range(0, last, columns):
        keys = slice(start, min(start + columns, n_keys))
        first, hidden = causal_mask_block(head, tiles, keys)
        if first >= len(query):
            break
        n, tile, width = len(query) - first, tiles.tile, keys.stop - start
        key, value = workspace.key[:, :width], workspace.value[:width]
        scores = workspace.scores[: n * tile, :width].reshape(n, tile, width)
        product = workspace.product[: n * tile].reshape(n, tile, -1)
        block = Block(
            keys=keys,
            rows=slice(first, None),
            copies=[(key, head.key[keys].T), (value[:, :d_v], head.finite_value[keys])],
            query=query[first:],
            key=key,
            value=value[:, : d_v + 1],
            scores=scores,
            covered=scores if hidden is None else scores[: len(hidden)],
            hidden=hidden,
            weighted=product[..., : d_v + 1],
            product=product,
            summed=summed[first:],
        )
        blocks.append(block)
    return blocks


def broadcast_heads(array, leading):
    """Repeat what heads share; broadcast_to takes long also where nothing is shared."""
    if array.shape[:-2] == leading:
        return array
    return np.broadcast_to(array, leading + array.shape[-2:])


def causal_mask_block(head, tiles, keys):
    """Find the first of some tiles that sees any of these keys under a causal mask.

    -> its number; and for it and those after it, as long as a key is hidden, what is.
    """
    if head.causal_block is None or keys.stop <= tiles.start:
        return 0, None
    stride = tiles.step * tiles.tile
    first = max(math.ceil((keys.start - tiles.start) / stride), 0)
    above = tiles.start + first * stride - keys.start
    width = keys.stop - keys.start
    hidden = head.causal_block[above : tiles.stop - keys.start, :width]
    return first, hidden.reshape(-1, tiles.tile, width)[:: tiles.step]


def mask_block(head, tiles, keys):
    """Say what a mask hides of these keys, and what it adds to scores; or None."""
    mask, bias = tiles.of(head.mask)[..., keys], None
    if mask.dtype == bool:
        hidden = ~mask
    else:
        hidden = mask == -np.inf
        bias = mask - tiles.of(head.mask_maximum)  # before it is rounded
        bias = bias.astype(head.query.dtype) * head.query.dtype.type(np.log2(np.e))
    return hidden if hidden.any() else None, bias
