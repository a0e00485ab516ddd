"""The memory that attention by blocks works in: taken once, used again and again."""

import math
from itertools import accumulate
from typing import NamedTuple

import numpy as np

CACHE_LINE = 64  # bytes: vectors that cross the end of a line load half as fast


class Workspace(NamedTuple):
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


def allocate_workspaces(number, rows, columns, width, d_v, dtype):
    """Take memory for so many threads, and for blocks of rows x columns scores."""
    line = CACHE_LINE // dtype.itemsize
    padded = (d_v // line + 1) * line  # at least one column more
    shapes = [(rows, width), (width, columns), (columns, padded)]
    shapes += [(rows, columns), (rows, padded), (rows, padded)]
    arrays = allocate_aligned(shapes * number, dtype)
    return list(map(Workspace._make, zip(*[iter(arrays)] * len(shapes), strict=True)))


def allocate_aligned(shapes, dtype):
    """Take memory for arrays that each begin with a line of the cache.

    One piece for all: the system takes back several pieces at each return.
    """
    sizes = [math.prod(shape) * dtype.itemsize for shape in shapes]
    starts = [0, *accumulate(size + -size % CACHE_LINE for size in sizes)]
    raw = np.empty(starts[-1] + CACHE_LINE, np.uint8)
    raw = raw[-raw.__array_interface__["data"][0] % CACHE_LINE :]
    return [
        raw[start : start + size].view(dtype).reshape(shape)
        for start, size, shape in zip(starts, sizes, shapes, strict=False)
    ]
