"""What a task of `attention.distributed` does: a chunk of queries over one of keys."""

import numpy as np

from .partials import Partial, join_keys, merge_partials, partial_attention

TILE_QUERIES = 1024  # of a chunk at a time, and of its keys as many as make
TILE_PAIRS = 2**20  # this many pairs: what a task stores of them does not grow


def rounded(partial, dtype):
    """Keep the output of a Partial, most of what travels, in the type of the result."""
    with np.errstate(over="ignore"):
        return partial._replace(output=partial.output.astype(dtype, copy=False))


def attend_to_chunk(query, key, value, *rest, rule, is_causal, offset, scale, kept):
    """Compute the Partial of a chunk of queries over a chunk of keys, tile by tile.

    `rest` is perhaps a mask, then a slice for the places of these queries among all,
    and one for those of the keys, in a tuple each.
    """
    *mask, (queries,), (keys,) = rest
    queries = np.arange(queries.start, queries.stop) + offset
    keys = np.arange(keys.start, keys.stop)
    height = min(TILE_QUERIES, len(queries))
    width = max(TILE_PAIRS // height, 1)
    done = []
    for rows in slices(len(queries), height):
        seen, hidden = [], []
        for columns in slices(len(keys), width):
            first, last = int(keys[columns][0]), int(keys[columns][-1])
            own = cut(mask[0], rows, columns) if mask else None
            own = mask_tile(queries[rows], keys[columns], own, rule, is_causal)
            if (
                own is not None
                and (own == (False if own.dtype == bool else -np.inf)).all()
            ):
                hidden.append((first, last + 1))
                continue
            part = (
                query[..., rows, :],
                key[..., columns, :],
                value[..., columns, :],
                own,
            )
            seen.append(partial_attention(*part, scale=scale, first_key=first))
        if not seen:  # a Partial of the right shape, over none of the keys
            none = slice(0)
            own = cut(mask[0], rows, none) if mask else None
            part = query[..., rows, :], key[..., none, :], value[..., none, :], own
            seen.append(partial_attention(*part, scale=scale))
        whole = merge_partials(seen)
        whole = whole._replace(keys=join_keys([whole.keys, hidden]))
        done.append(rounded(whole, kept))
    maxima, sums, outputs, covered = zip(*done, strict=True)
    maximum, total = (np.concatenate(numbers, axis=-1) for numbers in (maxima, sums))
    return Partial(maximum, total, np.concatenate(outputs, axis=-2), covered[0])


def slices(n, size):
    """Cut n places into slices of a size; the last may be shorter."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def cut(mask, rows, columns):
    """Cut a tile out of a mask, whose last two dimensions may be 1 for all."""
    rows = rows if mask.shape[-2] > 1 else slice(None)
    return mask[
        ..., rows, columns if mask.shape[-1] > 1 or columns.stop == 0 else slice(None)
    ]


def mask_tile(queries, keys, mask, rule, is_causal):
    """Return the mask of a tile, or None where it hides nothing."""
    if rule is not None:
        mask = np.asarray(rule(queries[:, None], keys))
    if mask is not None and mask.dtype == bool and mask.all():
        mask = None
    if is_causal and keys[-1] > queries[0]:
        causal = keys <= queries[:, None]
        if mask is None:
            mask = causal
        else:
            mask = (
                causal & mask if mask.dtype == bool else np.where(causal, mask, -np.inf)
            )
    return mask
