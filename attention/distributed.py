"""Attention over more keys than one machine holds, by Dask's distributed scheduler.

    python -m attention.distributed

computes it on a local cluster of processes and compares it with the answer of one
process. Needs Dask: pip install "attention[distributed]"
"""

import argparse
import time

import numpy as np

from .masks import causal_mask
from .partials import Partial, merge_partials, partial_attention
from .sdpa import scaled_dot_product_attention

CHUNK_QUERIES = 1024  # at a time on a worker, so that their scores stay few
WIDTH = 64


def attention_over_parts(client, query, parts, is_causal=False, scale=None):
    """Compute attention over keys and values that lie in parts on the workers.

    (n_queries, d_k), and a list of pairs (n_i, d_k), (n_i, d_v) or of futures of such
    pairs -> (n_queries, d_v). `is_causal` counts the keys through all parts.
    A part becomes a Partial where it lies; only those travel, and are merged in
    twos. What a lost worker held is computed again by another, so let futures be
    tasks that can be run twice, not scattered data.

    Raises what partial_attention raises, and ValueError when there is no part.
    """
    query = client.submit(np.asarray, query)
    parts = [
        part if hasattr(part, "key") else client.submit(tuple, part) for part in parts
    ]
    sizes = client.gather([client.submit(count_keys, part) for part in parts])
    partials = [
        client.submit(attend_to_part, query, part, sum(sizes[:i]), is_causal, scale)
        for i, part in enumerate(parts)
    ]
    while len(partials) > 1:
        twos = [partials[i : i + 2] for i in range(0, len(partials), 2)]
        partials = [client.submit(merge_partials, two) for two in twos]
    return client.submit(merge_partials, partials).result().output


def count_keys(part):
    """Count the keys of a part."""
    return len(part[0])


def attend_to_part(query, part, start, is_causal=False, scale=None):
    """Compute the Partial of all queries over one part, whose first key is `start`."""
    key, value = part
    results = []
    for first in range(0, max(len(query), 1), CHUNK_QUERIES):
        some = query[first : first + CHUNK_QUERIES]
        mask = None
        if is_causal:
            mask = causal_mask(len(some), len(key), offset=first - start)
        results.append(partial_attention(some, key, value, mask, scale=scale))
    return Partial(*map(np.concatenate, zip(*results, strict=True)))


def draw(seed, n):
    """Draw the keys and values of a part; the same ones wherever it is done."""
    key, value = np.random.default_rng(seed).standard_normal((2, n, WIDTH))
    return key, value


def main(argv=None):
    """Compute attention on a cluster and in this process, and say how they differ."""
    parser = argparse.ArgumentParser(
        prog="python -m attention.distributed",
        description="Attention over keys in parts, on a local cluster of processes.",
    )
    parser.add_argument("--queries", type=int, default=512, help="512 unless given")
    parser.add_argument("--keys", type=int, default=65536, help="65536 unless given")
    parser.add_argument("--parts", type=int, default=8, help="8 unless given")
    parser.add_argument("--workers", type=int, default=2, help="2 unless given")
    asked = parser.parse_args(argv)
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        parser.exit(1, 'Dask is missing: pip install "attention[distributed]"\n')
    size = asked.keys // asked.parts
    query = draw(asked.parts, asked.queries)[0]
    cluster = LocalCluster(
        n_workers=asked.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    )
    with cluster, Client(cluster) as client:
        began = time.perf_counter()
        parts = [client.submit(draw, seed, size) for seed in range(asked.parts)]
        output = attention_over_parts(client, query, parts)
        took = time.perf_counter() - began
    drawn = [draw(seed, size) for seed in range(asked.parts)]
    key, value = map(np.concatenate, zip(*drawn, strict=True))
    alone = scaled_dot_product_attention(query, key, value)
    print(
        f"{asked.parts} parts of {size} keys on {asked.workers} workers: {took:.2f} s"
    )
    print(f"largest difference from one process: {abs(output - alone).max():.1e}")


if __name__ == "__main__":
    main()
