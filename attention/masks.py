"""Masks: which keys a query may see."""

import numpy as np

from .arguments import check_number


def causal_mask(n_queries, n_keys, offset=0):
    """Say which keys each query may see when nobody sees the future.

    -> (n_queries, n_keys) of booleans; True means may attend.
    Query i sees the keys j <= i + offset. With offset 0 the diagonal starts at the
    top left. With n_keys - n_queries it ends at the bottom right: the queries are
    the last positions, as when decoding with that many keys in a cache.

    Raises TypeError when an argument is not an integer, ValueError when a size is
    negative (quoting it).
    Vaswani et al. 2017, section 3.2.3.
    """
    n_queries = check_number("n_queries", n_queries, at_least=0)
    n_keys = check_number("n_keys", n_keys, at_least=0)
    offset = check_number("offset", offset)
    return np.arange(n_keys) <= np.arange(n_queries)[:, None] + offset
