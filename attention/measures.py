"""Measures of how a row of weights is spread."""

import numpy as np

from .arguments import as_doubles


def entropy(p):
    """Measure in bits how widely each row of weights is spread.

    (..., n) -> (...). From 0, all on one, to log2(n), all equal; 0 log 0 counts as
    0. A row of zeros, which chose nothing, gives 0; a row with NaN gives NaN.

    Raises ValueError when an entry is negative or a row sums to something other
    than 1 or 0 (quoting it; a thousandth of rounding is allowed).
    Shannon 1948, section 6.
    """
    p, dtype = as_doubles(p)
    if (p < 0).any():
        raise ValueError(f"a weight cannot be negative: {p[p < 0].flat[0]}")
    total = np.asarray(p.sum(axis=-1))
    wrong = (total != 0) & (abs(total - 1) > 0.001)
    if wrong.any():
        raise ValueError(f"weights must sum to 1 (or all be 0): {total[wrong].flat[0]}")
    logs = np.log2(p, where=p > 0, out=np.zeros_like(p))
    bits = -(p * logs).sum(axis=-1)
    # Rounding may leave the entropy of a certainty a hair below 0, or at -0.0.
    return np.where(bits <= 0, 0.0, bits).astype(dtype)[()]
