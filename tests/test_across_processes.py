"""Attention of arrays in chunks is attention, on one machine and on a cluster, or part of one."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from helpers import ROOT, importable, need, until
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import causal_mask, scaled_dot_product_attention

INSTALL = 'Dask (pip install ".[distributed]")'
# Dask's own: of threads and sockets that it leaves to the collector.
pytestmark = [pytest.mark.ci, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def da():
    return need(importable("dask.array"), INSTALL)


@pytest.fixture(scope="module")
def client():
    """A client of two worker processes on this machine."""
    distributed = need(importable("distributed"), INSTALL)
    dask = importable("dask")
    # An idle worker would otherwise take tasks, with their data, from one that is slow.
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def normal(*shapes, dtype=np.float64):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def pieces(n):
    """Ways to cut n places into chunks."""
    cuts = st.sets(st.integers(1, max(n - 1, 1)), max_size=4)
    return cuts.map(lambda found: tuple(np.diff([0, *sorted(c for c in found if c < n), n])))


def window(queries, keys):
    return (keys <= queries) & (keys > queries - 5)


def distance(queries, keys):
    return -0.5 * abs(queries - keys)


@st.composite
def calls(draw):
    """Arrays and arguments, how they are cut, and the mask that says the same."""
    n_queries, n_keys = draw(st.sampled_from([(1, 1), (1, 30), (9, 17), (24, 24), (40, 7), (3, 0)]))
    offset = draw(st.sampled_from([0, n_keys - n_queries, 5, -6]))
    dtype = draw(st.sampled_from([np.float64, np.float32, np.float16]))
    leads = draw(st.sampled_from([((), (), ()), ((2, 3), (1, 3), (3,)), ((2,), (1,), (2,))]))
    ends = [(n_queries, 4), (n_keys, 4), (n_keys, draw(st.sampled_from([1, 6])))]
    arrays = normal(*(a + b for a, b in zip(leads, ends, strict=True)), dtype=dtype)
    if n_keys and draw(st.booleans()):
        odd = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
        arrays[draw(st.integers(1, 2))][..., draw(st.integers(0, n_keys - 1)), 0] = odd
    cuts = [
        (*((1,) * n for n in lead), draw(pieces(n)), draw(pieces(width)))
        for lead, (n, width) in zip(leads, ends, strict=True)
    ]
    causal = causal_mask(n_queries, n_keys, offset)
    places = np.arange(n_queries)[:, None] + offset, np.arange(n_keys)
    rng = np.random.default_rng(1)
    some = rng.random((n_queries, n_keys)) < 0.6
    bias = np.where(some, rng.standard_normal(some.shape), -np.inf).astype(np.float32)
    options, mask = draw(
        st.sampled_from(
            [
                ({}, None),
                ({"is_causal": True}, causal),
                ({"attn_mask": some}, some),
                ({"attn_mask": bias}, bias),
                ({"attn_mask": some[:, :1]}, some[:, :1]),
                ({"attn_mask": np.False_}, np.False_),
                ({"attn_mask": window}, window(*places)),
                ({"attn_mask": window, "is_causal": True}, window(*places) & causal),
                ({"attn_mask": distance}, distance(*places)),
                (
                    {"attn_mask": distance, "is_causal": True},
                    np.where(causal, distance(*places), -np.inf),
                ),
            ]
        )
    )
    return arrays, cuts, options | {"offset": offset}, mask


@settings(max_examples=60, deadline=None)
@given(call=calls(), tile=st.sampled_from([(3, 12), (1024, 2**22)]))
def test_arrays_in_chunks_give_the_answer_of_whole_ones(da, call, tile):
    from attention import chunks
    from attention.distributed import attend

    arrays, cuts, options, mask = call
    lazy = [da.from_array(a, chunks=c) for a, c in zip(arrays, cuts, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "TILE_QUERIES", tile[0])
        patch.setattr(chunks, "TILE_PAIRS", tile[1])
        output = attend(*lazy, **options)
        found = output.compute(scheduler="sync")
    right = scaled_dot_product_attention(*arrays, mask)
    assert found.shape == output.shape == right.shape
    assert found.dtype == output.dtype == right.dtype
    limit = {8: 1e-12, 4: 1e-5, 2: 4e-3}[right.dtype.itemsize]
    assert np.allclose(found, right, rtol=limit, atol=limit, equal_nan=True)


def test_what_is_wrong_is_refused_before_anything_is_computed(da):
    from attention.distributed import attend

    query, key, value = (da.zeros(shape, chunks=2) for shape in ((4, 3), (6, 3), (6, 2)))
    for arrays, options in (
        ((query, value, key), {}),
        ((query, key, value[:5]), {}),
        ((query, key, value), {"attn_mask": np.ones((4, 5), bool)}),
        ((query, key, value), {"attn_mask": np.ones((4, 6), bool), "is_causal": True}),
        ((query, key, value), {"is_causal": "no"}),
        ((query, key, value), {"scale": np.inf}),
        ((np.ma.array(np.ones((4, 3))), key, value), {}),
    ):
        whole = [array if isinstance(array, np.ndarray) else array.compute() for array in arrays]
        with pytest.raises((TypeError, ValueError)) as plain:
            scaled_dot_product_attention(*whole, **options)
        with pytest.raises(plain.type, match=re.escape(str(plain.value))):
            attend(*arrays, **options)
    with pytest.raises(TypeError, match=r"offset must be an integer: 1\.5"):
        attend(query, key, value, offset=1.5)


def test_what_nobody_sees_is_no_task(da):
    """Of 8 by 8 pairs of chunks, a causal mask leaves those at and below the diagonal."""
    from attention import chunks
    from attention.distributed import attend

    arrays = [da.from_array(a, chunks=(5, 4)) for a in normal(*[(40, 4)] * 3)]
    done, real = [], chunks.attend_to_chunk
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "attention.distributed.attend_to_chunk",
            lambda *a, **options: [done.append(1), real(*a, **options)][1],
        )
        for options, pairs in (
            ({}, 64),
            ({"is_causal": True}, 36),
            ({"is_causal": True, "offset": -40}, 0),
        ):
            done.clear()
            attend(*arrays, **options).compute(scheduler="sync")
            assert len(done) == pairs


def test_files_are_read_and_written_a_chunk_at_a_time(da, tmp_path):
    from attention.distributed import NpyFile, attend

    arrays, read = normal((2, 40, 4), (2, 50, 4), (2, 50, 3), dtype=np.float32), []
    lazy = []
    for i, array in enumerate(arrays):
        np.save(tmp_path / f"{i}.npy", array)
        lazy.append(da.from_array(NpyFile(tmp_path / f"{i}.npy"), chunks=(1, 16, -1)))
    target = NpyFile.create(tmp_path / "output.npy", (2, 40, 3), np.float32)
    real = NpyFile.__getitem__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            NpyFile, "__getitem__", lambda self, i: [p := real(self, i), read.append(p)][0]
        )
        output = attend(*lazy, is_causal=True, offset=10)
        assert sum(part.size for part in read) == 0, "it is lazy"
        da.store(output, target, lock=False, scheduler="sync")
    assert max(part.size for part in read) == 16 * 4
    right = scaled_dot_product_attention(*arrays, causal_mask(40, 50, 10))
    assert np.allclose(np.load(tmp_path / "output.npy"), right, rtol=0, atol=1e-6)


def test_a_task_holds_no_more_than_its_tiles(da):
    """Of a pair of chunks of 4,096 each, a mask that is added would take 128 MiB."""
    import tracemalloc

    from attention.distributed import attend

    arrays = normal((4096, 16), (4096, 16), (4096, 16), dtype=np.float32)
    for options in ({}, {"attn_mask": distance}, {"is_causal": True}):
        output = attend(*(da.from_array(a, chunks=4096) for a in arrays), **options)
        tracemalloc.start()
        output.compute(scheduler="sync")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4096**2 * 8 / 2


def test_keys_on_a_worker_stay_there(da, client):
    """What is sent is a few queries and Partials, not the keys and values that are large."""
    import distributed

    from attention.distributed import attend

    workers = list(client.scheduler_info()["workers"])
    rng = da.random.default_rng(0)
    drawn = rng.standard_normal((2, 80000, 64), chunks=(1, 20000, 64))
    halves = [
        drawn[:, start : start + 40000].persist(workers=worker)
        for start, worker in zip((0, 40000), workers, strict=True)
    ]
    distributed.wait(halves)
    (query,) = normal((4, 64))
    key, value = da.concatenate(halves, axis=1)
    before = sum(client.run(sent).values())
    output = attend(query, key, value).compute()
    moved = sum(client.run(sent).values()) - before
    right = scaled_dot_product_attention(query, key.compute(), value.compute())
    assert np.allclose(output, right, rtol=1e-12, atol=1e-13)
    assert moved < 20000 * 64 * 8 / 10, "a tenth of one chunk of keys"


def sent(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


def slowly(block):
    time.sleep(0.2)
    return block


def test_a_lost_worker_costs_time_and_not_the_answer(da, client):
    from attention.distributed import attend

    query, key, value = normal((20, 8), (600, 8), (600, 8))
    parts = da.from_array(key, chunks=(50, 8)).map_blocks(slowly)
    output = attend(query, parts, da.from_array(value, chunks=(50, 8))).persist()
    until(lambda: client.run_on_scheduler(finished) >= 2)
    before = client.run(os.getpid)
    os.kill(min(before.values()), signal.SIGKILL)
    right = scaled_dot_product_attention(query, key, value)
    assert np.allclose(output.compute(), right, rtol=1e-13, atol=1e-14)
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != set(before.values())


def finished(dask_scheduler):
    return sum(len(worker.has_what) for worker in dask_scheduler.workers.values())


@pytest.mark.parametrize(("keys", "parts", "made"), [(4000, 5, 5), (100, 7, 7), (10, 20, 10)])
def test_the_command_says_how_little_they_differ(da, capsys, keys, parts, made):
    from attention.distributed import main

    main(["--keys", str(keys), "--queries", "30", "--parts", str(parts)])
    told = capsys.readouterr().out
    assert f"{keys} keys in {made} parts on 2 workers" in told
    assert float(re.search(r"process: (\S+)", told)[1]) < 1e-6


@pytest.mark.parametrize("name", ["queries", "keys", "parts", "workers"])
def test_the_command_refuses_none_of_something(da, capsys, name):
    from attention.distributed import main

    with pytest.raises(SystemExit):
        main([f"--{name}", "0"])
    assert f"--{name} must be at least 1: 0" in capsys.readouterr().err


def test_the_benchmark_runs_small_with_a_worker_lost_and_writes_nothing(da):
    file = ROOT / "docs" / "one-token-at-a-time.json"
    before = file.read_bytes()
    command = [sys.executable, ROOT / "tests" / "benchmark_distributed.py", "--small"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = [json.loads(line[line.index("{") :]) for line in run.stdout.splitlines() if "{" in line]
    assert len(found) == 4
    assert max(one["off by"] for one in found) < 1e-6
    assert file.read_bytes() == before


def test_the_file_of_measurements_holds_what_the_page_says_of_it():
    measured = json.loads((ROOT / "docs" / "one-token-at-a-time.json").read_text("utf-8"))
    assert set(measured["machine"]) == {"processor", "system"}
    for run in measured["runs"].values():
        assert max(run["MiB at the peak"]) < run["MiB allowed"] < run["MiB of the whole"]
        assert len(run["MiB at the peak"]) == measured["workers"] == 2
