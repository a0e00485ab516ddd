"""A cluster of processes gives the answer of one process, also when one of them is lost."""

import os
import re
import signal
import time

import numpy as np
import pytest
from helpers import importable, need, until

from attention import causal_mask, scaled_dot_product_attention
from attention.distributed import attention_over_parts, draw, main

# Dask's own: of threads and sockets that it leaves to the collector.
pytestmark = [pytest.mark.ci, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def client():
    """A client of two worker processes on this machine."""
    distributed = need(importable("distributed"), "Dask (pip install attention[distributed])")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def whole(query, parts, **options):
    key, value = (np.concatenate(both) for both in zip(*parts, strict=True))
    return scaled_dot_product_attention(query, key, value, **options)


def test_it_is_equal_to_one_process(client):
    query = draw(9, 40)[0]
    drawn = [draw(seed, n) for seed, n in enumerate((30, 1, 0, 69, 50))]
    futures = [client.submit(draw, seed, n) for seed, n in enumerate((30, 1, 0, 69, 50))]
    for parts in (drawn, futures):
        given = attention_over_parts(client, query, parts)
        assert np.allclose(given, whole(query, drawn), rtol=1e-13, atol=1e-14)
    causal = attention_over_parts(client, query, futures, is_causal=True)
    mask = causal_mask(40, 150)
    assert np.allclose(causal, whole(query, drawn, attn_mask=mask), rtol=1e-13, atol=1e-14)


def slowly(seed, n):
    time.sleep(0.2)
    return draw(seed, n)


def test_a_lost_worker_costs_time_and_not_the_answer(client):
    query = draw(99, 20)[0]
    parts = [client.submit(slowly, seed, 50) for seed in range(12)]
    until(lambda: any(part.done() for part in parts))
    before = client.run(os.getpid)
    os.kill(min(before.values()), signal.SIGKILL)
    given = attention_over_parts(client, query, parts)
    right = whole(query, [draw(seed, 50) for seed in range(12)])
    assert np.allclose(given, right, rtol=1e-13, atol=1e-14)
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != set(before.values())


def test_the_command_says_how_little_they_differ(capsys):
    need(importable("distributed"), "Dask (pip install attention[distributed])")
    main(["--keys", "4000", "--queries", "30", "--parts", "5"])
    told = capsys.readouterr().out
    assert "5 parts of 800 keys on 2 workers" in told
    assert float(re.search(r"process: (\S+)", told)[1]) < 1e-14
