"""What does attention across processes move and hold, over keys that no process could hold?

    python tests/benchmark_distributed.py            measure, and print it in short
    python tests/benchmark_distributed.py --write docs/one-token-at-a-time.json    for the page
    python tests/benchmark_distributed.py --small    try it all on small inputs

Needs Dask beside numpy. Queries, keys and values are files that each of two worker processes
maps into memory; a worker that comes to hold more than it may is ended by Dask. Bytes are those
that Dask's workers count as sent to one another, memory is the most that the system has given
to a process in its life (VmHWM), so Linux is needed.
"""

import argparse
import importlib.metadata
import json
import logging
import os
import platform
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, progress

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from attention import scaled_dot_product_attention  # noqa: E402
from attention.distributed import NpyFile, attend  # noqa: E402
from tests.benchmark_length import processor, significant  # noqa: E402

WORKERS = 2
WIDTH = 128
CHECKED = 64  # queries whose answer is computed in this process too
MEMORY = {"target": False, "spill": False, "pause": False, "terminate": 0.95}
RUNS = {  # of the last tokens: as when a text is continued, and as when a prompt comes in
    "few": {"queries": 16, "heads": 4, "limit": 512},
    "many": {"queries": 2**14, "heads": 1, "limit": 256},
}


def files(folder, keys, queries, heads, chunk):
    """Write the inputs, a chunk at a time, and return the files."""
    rng, made = np.random.default_rng(0), []
    for name, n in (("query", queries), ("key", keys), ("value", keys)):
        file = NpyFile.create(Path(folder, f"{name}.npy"), (heads, n, WIDTH), np.float32)
        for head in range(heads):
            for start in range(0, n, chunk):
                rows = slice(start, min(start + chunk, n))
                file[head, rows] = rng.standard_normal((rows.stop - start, WIDTH), np.float32)
        made.append(file)
    return made


def measure(keys, queries, heads, limit, chunk, lose=False):
    """Compute attention of the last queries on a new cluster; with a worker lost on the way."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        inputs = files(folder, keys, queries, heads, chunk)
        result = NpyFile.create(Path(folder, "output.npy"), inputs[0].shape, np.float32)
        whole = sum(Path(file.path).stat().st_size for file in (*inputs, result)) / 2**20
        assert whole > limit or keys < 2**18, "a worker could hold all of it"
        arrays = [da.from_array(file, chunks=(heads, chunk, WIDTH)) for file in inputs]
        output = attend(*arrays, is_causal=True, offset=keys - queries)
        memory = {f"distributed.worker.memory.{name}": value for name, value in MEMORY.items()}
        with (
            dask.config.set(memory),
            LocalCluster(
                n_workers=WORKERS,
                threads_per_worker=1,
                memory_limit=f"{limit}MiB",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster) as client,
        ):
            before = client.run(peak)
            began = time.perf_counter()
            stored = client.persist(da.store(output, result, lock=False, compute=False))
            if lose:
                lose_worker(client)
            progress(stored, notebook=False)
            stored.compute()
            took = time.perf_counter() - began
            print(flush=True)
            client.wait_for_workers(WORKERS, timeout=60)
            found = {
                "seconds": took,
                "MiB of the whole": whole,
                "MiB sent": sum(client.run(sent).values()) / 2**20,
                "MiB at the start": sorted(before.values()),
                "MiB at the peak": sorted(client.run(peak).values()),
            }
        if lose:  # what the lost one has sent is not known any more
            del found["MiB sent"]
        found["off by"] = difference(inputs, result, keys)
    return {"queries": queries, "heads": heads, "MiB allowed": limit, **found}


def lose_worker(client):
    """End one of the workers without a warning, once it has finished some tasks."""
    while client.run_on_scheduler(finished) < 4:
        time.sleep(0.05)
    os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)


def finished(dask_scheduler):
    """How many results the workers hold."""
    return sum(len(worker.has_what) for worker in dask_scheduler.workers.values())


def sent(dask_worker):
    """The bytes that a worker has sent to others."""
    return dask_worker.transfer_outgoing_bytes_total


def peak():
    """The MiB that this process has had at most."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


def difference(inputs, result, keys):
    """How far some queries' outputs lie from those of one process, a head at a time."""
    query, key, value = inputs
    n = query.shape[1]
    rows = np.unique(np.linspace(0, n - 1, CHECKED).astype(int))
    mask = np.arange(keys) <= rows[:, None] + keys - n
    off = 0.0
    for head in range(query.shape[0]):
        alone = scaled_dot_product_attention(query[head, rows], key[head], value[head], mask)
        off = max(off, float(abs(alone - result[head, rows]).max()))
    return off


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="small inputs")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write all of it there")
    parser.add_argument("--only", choices=RUNS, help="one of the runs")
    options = parser.parse_args()
    keys, chunk = (2**13, 2**11) if options.small else (2**18, 2**14)
    measured = {
        "machine": {"processor": processor(), "system": platform.system()},
        "versions": {
            "Python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in ("numpy", "dask")},
        },
        "workers": WORKERS,
        "keys": keys,
        "width": WIDTH,
        "chunk": chunk,
        "checked": CHECKED,
        "runs": {},
    }
    for name, run in RUNS.items():
        if options.only in (None, name):
            run = run | {"queries": min(run["queries"], keys)}
            for lose in (False, True):
                found = measure(keys, chunk=chunk, lose=lose, **run)
                measured["runs"][f"{name}, a worker lost" if lose else name] = found
                print(name, "a worker lost" if lose else "", json.dumps(significant(found)))
    if options.write:
        text = json.dumps(significant(measured), indent=1)
        options.write.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
