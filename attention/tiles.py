"""Tiles: the queries that attention by blocks takes in one product."""

from typing import NamedTuple

import numpy as np


class QueryTiles(NamedTuple):
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


class Rows(NamedTuple):
    """What a Partial needs besides the output, of each query, (..., n_queries).

    The score that its exponentials are relative to, their sum, and whether the plain
    formula has to work it out.
    """

    maximum: np.ndarray
    sum: np.ndarray
    unsafe: np.ndarray

    def of(self, index):
        """Show those of one head."""
        return Rows(*(array[index] for array in self))

    def keep(self, tiles, bits, mask_maximum, total, unsafe):
        """Fill in those of some tiles, whose scores are in bits."""
        scores = bits * np.log(2)
        if mask_maximum is not None:
            scores = scores + tiles.of(mask_maximum)
        scores = np.where(total == 0, -np.inf, scores)
        np.copyto(tiles.of(self.maximum), scores[..., 0])
        np.copyto(tiles.of(self.sum), total[..., 0])
        if unsafe is not None:
            np.copyto(tiles.of(self.unsafe), unsafe[..., 0])


def split_queries(n_queries, rows, tile, threads):
    """Cut the queries of a head into parts of at most `rows`.

    Under a causal mask late queries see more keys than early ones, so they come first.
    Where threads that share a head would get one part each, they take tiles in turns,
    and so have equal work. The rest that fills no tile is a part.
    """
    whole = n_queries - n_queries % tile
    step = threads if 3 / 4 * threads * rows <= whole <= threads * rows else 1
    parts = [
        QueryTiles(start, min(first + rows * step, whole), step, tile)
        for first in range(0, whole, rows * step)
        for start in range(first, min(first + tile * step, whole), tile)
    ]
    if whole < n_queries:
        parts.append(QueryTiles(whole, n_queries, 1, n_queries - whole))
    return parts[::-1]
