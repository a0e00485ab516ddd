"""Attention over more keys than one machine holds: arrays in chunks, worked on by Dask.

    python -m attention.distributed

computes it from files on a local cluster of processes, and compares it with the
answer of one process. Needs Dask; in a clone: pip install ".[distributed]"
"""

import argparse
import functools
import math
import operator
import tempfile
import time
from pathlib import Path

import numpy as np

try:
    import dask.array as da
    from dask.layers import ArraySliceDep
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        'attention.distributed needs Dask; in a clone: pip install ".[distributed]"',
        name=missing.name,
    ) from None

from .arguments import check_attention, check_number, check_unmasked
from .chunks import attend_to_chunk, rounded
from .partials import merge_partials
from .sdpa import scaled_dot_product_attention

INLINE_BYTES = 2**20
WIDTH = 64
DEFAULTS = {"queries": 512, "keys": 65536, "parts": 8, "workers": 2}


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None, offset=0):
    """Compute scaled_dot_product_attention of arrays in chunks, when it is asked for.

    Dask arrays, (..., n_queries, d_k), (..., n_keys, d_k), (..., n_keys, d_v) ->
    a Dask array (..., n_queries, d_v), chunked as the queries are. Tokens and leading
    dimensions may be in chunks of any size. A small numpy array goes along with each
    task, as a few queries should: the tasks then run where their keys are. A task makes
    a Partial of a chunk of queries and one of keys; these are merged in a tree, whose
    end checks that no key is missing. Single precision stays single.

    The arguments are those of scaled_dot_product_attention. `offset` is the place of
    the first query among the keys: causal, query i sees the keys j <= i + offset, and
    pairs of chunks of which nothing is seen are never tasks. `attn_mask` may also be
    a function of positions, (n, 1) of queries, counted from offset, and (m,) of keys:
    it returns the mask of those, and may go with is_causal.

    Raises what scaled_dot_product_attention raises; TypeError when offset is no
    integer.
    Liu et al. 2023; Dao et al. 2023.
    """
    offset = check_number("offset", offset)
    rule, mask = (attn_mask, None) if callable(attn_mask) else (None, attn_mask)
    given = [None if a is None else as_dask(a) for a in (query, key, value, mask)]
    inputs = check_attention(*map(stand_in, given), is_causal, scale)
    shape = (*inputs.shape[:-1], given[2].shape[-1])
    if not math.prod(inputs.shape):
        return da.zeros(shape, dtype=inputs.dtype)
    arguments, chunks = align(given, len(inputs.shape) - 2)
    task = functools.partial(
        attend_to_chunk,
        rule=rule,
        is_causal=inputs.is_causal,
        offset=offset,
        scale=inputs.scale,
        kept=np.result_type(inputs.dtype, np.float32),
    )
    for name in ("q", "k"):  # which tokens each chunk has; known without a task
        arguments += [ArraySliceDep((chunks[name],)), (name,)]
    labels = (*map(str, range(len(shape) - 2)), "q", "k", "width")
    partials = da.blockwise(
        task,
        labels,
        *arguments,
        align_arrays=False,
        adjust_chunks={**chunks, "k": 1, "width": shape[-1]},
        meta=np.empty((0,) * len(labels), inputs.dtype),
    )
    ends, rows = np.cumsum(chunks["k"]), []
    for i, end in enumerate(np.cumsum(chunks["q"])):
        seen = len(ends)
        if inputs.is_causal:  # the chunks of keys that begin before these queries end
            seen = int((ends - chunks["k"] < offset + end).sum())
        some = partials.blocks[..., i, :, :]
        rows.append(merged(some, ends[:seen].tolist(), inputs.dtype))
    return da.concatenate(rows, axis=-2)


def as_dask(array):
    """Return a Dask array; a small one of numpy's is part of the tasks that use it."""
    if isinstance(array, da.Array):
        return array
    check_unmasked(array)
    array = np.asarray(array)
    if array.nbytes > INLINE_BYTES:
        return da.from_array(array)
    # Not from_array: to Dask, a task with that in it may run anywhere.
    chunks, labels = tuple((n,) for n in array.shape), tuple(range(array.ndim))
    part = ArraySliceDep(chunks), labels
    meta = np.empty((0,) * array.ndim, array.dtype)
    return da.blockwise(
        operator.getitem, labels, array, None, *part, align_arrays=False, meta=meta
    )


def stand_in(array):
    """Return what has an array's shape and type, and no numbers, or None for None."""
    if array is None:
        return None
    check_unmasked(array._meta)
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def align(arrays, n_leading):
    """Chunk query, key, value and perhaps a mask alike where they meet.

    The chunks of queries and keys decide, and widths are not cut. -> the arrays, each
    with a label for each dimension behind it, and the chunks of each label: numbers
    for leading dimensions, q and k.
    """
    ends = [("q", "d_k"), ("k", "d_k"), ("k", "d_v"), ("q", "k")]
    tokens = {"q": arrays[0].chunks[-2], "k": arrays[1].chunks[-2]}
    arguments = []
    for array, end in zip(arrays, ends, strict=True):
        if array is None:
            continue
        array = array[(None,) * (2 - array.ndim)]
        wanted = {
            array.ndim - 2 + i: tokens.get(name, -1)
            for i, name in enumerate(end)
            if array.shape[i - 2] > 1
        }
        array = array.rechunk(wanted)
        leading = map(str, range(n_leading - array.ndim + 2, n_leading))
        arguments += [array, (*leading, *end)]
    chunks, arrays = da.core.unify_chunks(*arguments, warn=False)
    # Widths differ; all of them become the last dimension of the output.
    same = {"d_k": "width", "d_v": "width"}
    labels = [
        tuple(same.get(name, name) for name in names) for names in arguments[1::2]
    ]
    chunks = {name: sizes for name, sizes in chunks.items() if name not in same}
    return [item for pair in zip(arrays, labels, strict=True) for item in pair], chunks


def merged(partials, ends, dtype):
    """Merge a chunk of queries' Partials over the chunks of keys with these ends."""
    if not ends:
        shape = (*partials.shape[:-2], partials.shape[-1])
        return da.zeros(shape, chunks=(*partials.chunks[:-2], -1), dtype=dtype)
    return da.reduction(
        partials.blocks[..., : len(ends), :],
        chunk=keep,
        combine=merge_some,
        aggregate=functools.partial(merge_all, n_keys=ends[-1], kept=dtype),
        axis=partials.ndim - 2,
        concatenate=False,
        dtype=dtype,
        meta=np.empty((0,) * (partials.ndim - 1), dtype),
    )


def keep(partial, **_):
    """Leave a Partial as it is: the first step of a reduction."""
    return partial


def merge_some(partials, **_):
    """Merge some Partials, and keep the type of their outputs: they may travel."""
    dtype = partials[0].output.dtype
    return rounded(merge_partials(partials), dtype)


def merge_all(partials, n_keys, kept, **_):
    """Merge the last Partials, of all keys, into the output."""
    with np.errstate(over="ignore"):
        return merge_partials(partials, n_keys).output.astype(kept)


class NpyFile:
    """A .npy file as an array in chunks is made of one: it is read where it is sliced.

        da.from_array(NpyFile("key.npy"), chunks=(16384, 64))

    Only its path travels, so each worker has to find it there. What is assigned to a
    slice is written, so `da.store(output, NpyFile.create(...))` never holds it whole.
    """

    def __init__(self, path):
        self.path = str(path)
        array = np.load(self.path, mmap_mode="r")
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim

    @classmethod
    def create(cls, path, shape, dtype):
        """Make a file of zeros, in place of one that is there."""
        np.lib.format.open_memmap(path, "w+", dtype, shape)
        return cls(path)

    def __getitem__(self, index):
        return np.array(np.load(self.path, mmap_mode="r")[index])

    def __setitem__(self, index, value):
        np.load(self.path, mmap_mode="r+")[index] = value


def main(argv=None):
    """Compute attention on a cluster and in this process, and say how they differ."""
    parser = argparse.ArgumentParser(
        prog="python -m attention.distributed",
        description="Attention over keys in parts, on a local cluster of processes.",
    )
    for name, number in DEFAULTS.items():
        parser.add_argument(
            f"--{name}", type=int, default=number, help=f"{number} unless given"
        )
    asked = parser.parse_args(argv)
    for name in DEFAULTS:
        if getattr(asked, name) < 1:
            parser.error(f"--{name} must be at least 1: {getattr(asked, name)}")
    from distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    shapes = {"query": (asked.queries, WIDTH)} | dict.fromkeys(
        ("key", "value"), (asked.keys, WIDTH)
    )
    size = math.ceil(asked.keys / asked.parts)
    cluster = LocalCluster(
        n_workers=asked.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    )
    with tempfile.TemporaryDirectory() as folder, cluster, Client(cluster):
        arrays, files = [], []
        for name, shape in shapes.items():
            arrays.append(rng.standard_normal(shape, np.float32))
            np.save(Path(folder, name), arrays[-1])
            file = NpyFile(Path(folder, f"{name}.npy"))
            files.append(da.from_array(file, chunks=(size, WIDTH)))
        began = time.perf_counter()
        output = attend(*files).compute()
        took = time.perf_counter() - began
    alone = scaled_dot_product_attention(*arrays)
    parts = files[1].numblocks[0]
    print(
        f"{asked.keys} keys in {parts} parts on {asked.workers} workers: {took:.2f} s"
    )
    print(f"largest difference from one process: {abs(output - alone).max():.1e}")


if __name__ == "__main__":
    main()
