"""The benchmark of long inputs runs; what it measures is judged by its reader."""

import json
import subprocess
import sys

import pytest
from helpers import ROOT, importable, need

FILE = ROOT / "docs" / "what-length-costs.json"
PEERS = ["scipy", "torch", "jax", "onnxruntime", "onnx", "mpmath"]


@pytest.mark.ci
@pytest.mark.filterwarnings("default")
def test_it_runs_small_with_every_peer_and_writes_nothing():
    for name in PEERS:
        need(importable(name), name)
    before = FILE.read_bytes()
    run = subprocess.run(
        [sys.executable, ROOT / "tests" / "benchmark_length.py", "--small"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    for name in json.loads(before)["time"]["full"]["ratio"]:
        assert name in run.stdout
    assert FILE.read_bytes() == before


def test_the_file_says_where_it_comes_from_and_nothing_private():
    measured = json.loads(FILE.read_text("utf-8"))
    assert set(measured["machine"]) == {"processor", "threads", "system"}
    assert {"Python", "numpy", *PEERS} == set(measured["versions"])
    assert "/" not in json.dumps({**measured, "machine": ""}).replace("FLOP/s", "")
