"""What does attention cost as its input grows, beside its peers and the machine's limit?

    python tests/benchmark_length.py            measure, and print it in short
    python tests/benchmark_length.py --write docs/what-length-costs.json     for the page
    python tests/benchmark_length.py --small    try it all on small inputs

Needs scipy, torch, jax, onnxruntime, onnx and mpmath beside numpy. Every library runs in this
process, in turns, in single precision and on one thread. Times are medians over the rounds;
ratios are medians of the ratios within a round, so that what slows a round slows both sides.
"""

import argparse
import importlib.metadata
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# One thread each, and the kernels that each library chooses by itself.
for name in [name for name in os.environ if name.startswith("OPENBLAS_")]:
    del os.environ[name]
os.environ |= {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
sys.path.insert(0, str(ROOT))
CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
if CORES:  # no library can start a second thread that helps
    os.sched_setaffinity(0, {max(CORES)})

import numpy as np  # noqa: E402

from attention import blockwise_attention, scaled_dot_product_attention  # noqa: E402
from attention.core import plain_attention  # noqa: E402

WIDTH = 64
LENGTHS = [512, 1024, 2048, 4096, 8192]
LONG = [16384, 32768]  # memory only, of what does not store the scores
HEADS = 8  # shared by threads
LIBRARIES = "numpy scipy torch jax onnxruntime onnx mpmath".split()
WAYS = ("full", "causal")


def inputs(n, seed=0, sharpness=1.0):
    rng = np.random.default_rng(seed)
    query, key, value = (rng.standard_normal((n, WIDTH)).astype(np.float32) for _ in range(3))
    return query * np.float32(sharpness), key, value


# The package and its peers: each gives a function of no arguments for arrays and a mask.


def package(query, key, value, causal, threads=1):
    return lambda: blockwise_attention(query, key, value, is_causal=causal, threads=threads)


def numpy_formula(query, key, value, causal, softmax=None):
    """The formula as it is usually written, in the type of its input."""
    scale = np.float32(1 / math.sqrt(WIDTH))

    def stable(scores):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)

    def run():
        scores = query @ key.T * scale
        if causal:
            scores = np.where(np.tri(*scores.shape, dtype=bool), scores, np.float32(-np.inf))
        return (softmax or stable)(scores) @ value

    return run


def scipy_softmax(query, key, value, causal):
    from scipy.special import softmax

    return numpy_formula(query, key, value, causal, lambda scores: softmax(scores, axis=-1))


def torch_kernel(backend):
    def make(query, key, value, causal):
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel

        torch.set_num_threads(1)
        tensors = [torch.from_numpy(array)[None, None] for array in (query, key, value)]
        function = torch.nn.functional.scaled_dot_product_attention

        def run():
            with sdpa_kernel(getattr(SDPBackend, backend)), torch.no_grad():
                return function(*tensors, is_causal=causal)[0, 0].numpy()

        return run

    return make


def jax_attention(query, key, value, causal):
    import jax

    arrays = [jax.numpy.asarray(array)[None, :, None] for array in (query, key, value)]
    function = jax.jit(lambda *a: jax.nn.dot_product_attention(*a, is_causal=causal))
    return lambda: np.asarray(function(*arrays).block_until_ready())[0, :, 0]


def onnx_attention(query, key, value, causal):
    import onnxruntime
    from onnx import TensorProto, helper

    shape = [1, 1, *query.shape]
    tensors = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "QKVY"]
    node = helper.make_node("Attention", ["Q", "K", "V"], ["Y"], is_causal=int(causal))
    graph = helper.make_graph([node], "attention", tensors[:3], tensors[3:])
    opsets = [helper.make_opsetid("", 23)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    feed = {n: array[None, None] for n, array in zip("QKV", (query, key, value), strict=True)}
    return lambda: session.run(None, feed)[0][0, 0]


PACKAGE = "this package"
PLAIN = "numpy formula"
FUSED = "PyTorch fused"
MAKERS = {
    PACKAGE: package,
    FUSED: torch_kernel("FLASH_ATTENTION"),
    "PyTorch unfused": torch_kernel("MATH"),
    "JAX": jax_attention,
    "ONNX Runtime": onnx_attention,
    "SciPy softmax": scipy_softmax,
    PLAIN: numpy_formula,
}
UNSTORED = (PACKAGE, FUSED)


# Measuring


def seconds(run, repeat=1):
    began = time.perf_counter()
    for _ in range(repeat):
        run()
    return (time.perf_counter() - began) / repeat


def rounds_of(groups, rounds, repeat=lambda n: 1):
    """Seconds of each run, by length, in each round, after one round that does not count.

    All lengths are in each round, so that a slow minute is not one length's alone; a short one
    has up to four turns.
    """
    taken = {n: {name: [] for name in runs} for n, runs in groups.items()}
    for number in range(rounds + 1):
        for n, runs in groups.items():
            for _ in range(min(4, max(groups) // n)):
                for name, run in runs.items():
                    took = seconds(run, repeat(n))
                    if number:
                        taken[n][name].append(took)
    return taken


def ratio(a, b):
    """The median over the rounds of how many times longer `a` takes than `b`."""
    return statistics.median(x / y for x, y in zip(a, b, strict=True))


def rates(rounds):
    """What the machine can do at best: multiply-adds as FLOP/s, and exponentials a second."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((1024, 1024)).astype(np.float32) for _ in range(2))
    x = rng.standard_normal(2**16).astype(np.float32)
    out, powers = np.empty_like(a), np.empty_like(x)
    product = min(seconds(lambda: np.matmul(a, b, out=out)) for _ in range(5 * rounds))
    functions = (np.exp, np.exp2)
    raised = min(
        seconds(lambda f=f: f(x, out=powers), 20) for f in functions for _ in range(rounds)
    )
    return {"matmul": 2 * 1024**3 / product, "exp": x.size / raised}


def n_scores(n, causal):
    """How many scores have to be computed."""
    return n * (n + 1) / 2 if causal else n * n


def limit(n, causal, rate):
    """Seconds that the products and the exponentials alone would take at those rates."""
    return n_scores(n, causal) * (4 * WIDTH / rate["matmul"] + 1 / rate["exp"])


def times(lengths, rounds, rate):
    result = {}
    for way in WAYS:
        causal = way == "causal"
        table = {"milliseconds": {}, "ratio": {}, "fraction of the limit": []}
        groups = {}
        for n in lengths:
            arrays = inputs(n)
            groups[n] = {name: make(*arrays, causal) for name, make in MAKERS.items()}
            right = plain_attention(*arrays, None, causal, None)
            for name, run in groups[n].items():
                assert np.allclose(run(), right, rtol=0, atol=1e-4), (name, n, way)
        for n, taken in rounds_of(groups, rounds, lambda n: max(1, 1024 // n)).items():
            for name in MAKERS:
                middle = statistics.median(taken[name])
                table["milliseconds"].setdefault(name, []).append(1000 * middle)
                # How many times as long as the package does the other take?
                compared = ratio(taken[name], taken[PACKAGE])
                table["ratio"].setdefault(name, []).append(compared)
            part = limit(n, causal, rate) / statistics.median(taken[PACKAGE])
            table["fraction of the limit"].append(part)
            show(f"{way} n = {n}", {k: 1000 * statistics.median(v) for k, v in taken.items()})
        table["exponent"] = {
            name: exponent(lengths, row) for name, row in table["milliseconds"].items()
        }
        result[way] = table
    return result


def exponent(lengths, row):
    """The power of n by which a cost grows between the two greatest lengths."""
    return math.log(row[-1] / row[-2]) / math.log(lengths[-1] / lengths[-2])


MEMORY = """
import re, sys
sys.path[:0] = ["{tests}"]
from benchmark_length import MAKERS, inputs
def now(key):
    return int(re.search(key + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
make = MAKERS["{name}"]
make(*inputs(64), {causal})()
run = make(*inputs({n}), {causal})
open("/proc/self/clear_refs", "w").write("5")
before = now("VmRSS")
run()
print(max(0, now("VmHWM") - before) / 1024)
"""


def peak(name, n, causal=False):
    """MiB that a call needs at its peak beyond its inputs, its output counted, in a process."""
    program = MEMORY.format(tests=ROOT / "tests", name=name, n=n, causal=causal)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def memory(lengths, longer):
    table = {}
    for name in MAKERS:
        table[name] = [peak(name, n) for n in lengths + (longer if name in UNSTORED else [])]
        show(f"MiB, {name}", dict(zip(lengths + longer, table[name], strict=False)))
    every = lengths + longer
    growth = {name: exponent(every[: len(row)], row) for name, row in table.items() if min(row) > 0}
    return {"lengths": every, "MiB": table, "exponent": growth}


def threads(lengths, rounds):
    """How many times as fast are two threads as one, now on all cores?

    As a limit, the same of two matrix products, with as many operations as the scores and the
    output have, that two threads compute with nothing to share. At the shortest length also
    for several heads, which are more to share.
    """
    gain, most, heads = {}, {}, {}
    if CORES:
        os.sched_setaffinity(0, CORES)
    for way in WAYS:
        causal, groups = way == "causal", {}
        for n in lengths:
            arrays, side = inputs(n), round((n_scores(n, causal) * WIDTH) ** (1 / 3))
            groups[n] = {k: package(*arrays, causal, threads=k) for k in (1, 2)}
            groups[n] |= {f"{k} alone": products(side, threads=k) for k in (1, 2)}
        for taken in rounds_of(groups, rounds).values():
            gain.setdefault(way, []).append(ratio(taken[1], taken[2]))
            most.setdefault(way, []).append(ratio(taken["1 alone"], taken["2 alone"]))
        n = lengths[0]
        every = [inputs(n, seed) for seed in range(HEADS)]
        arrays = [np.stack(same) for same in zip(*every, strict=True)]
        runs = {k: package(*arrays, causal, threads=k) for k in (1, 2)}
        taken = rounds_of({n: runs}, rounds)[n]
        heads[way] = ratio(taken[1], taken[2])
    return {"lengths": lengths, "gain": gain, "limit": most, "heads": HEADS, "of heads": heads}


def products(side, threads):
    """Two products of square matrices, which take 4 side^3 operations."""
    rng = np.random.default_rng(0)
    square = rng.standard_normal((4, side, side)).astype(np.float32)

    def run():
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(np.matmul, square[:2], square[2:]))

    return run


def sharpness(n, rounds, sharp):
    """How many times as long does it take when the scores are `sharp` times as large?"""
    slower = {}
    for name in (PACKAGE, PLAIN):
        runs = {s: MAKERS[name](*inputs(n, sharpness=s), False) for s in (1, sharp)}
        taken = rounds_of({n: runs}, rounds)[n]
        slower[name] = ratio(taken[sharp], taken[1])
    return {"n": n, "factor": sharp, "slower": slower}


def boundary(rounds):
    """How many times as long as blockwise does the plain formula of the package take?"""
    lengths, table = [64, 128, 256, 512], {}
    for dtype in ("float32", "float64"):
        groups = {}
        for n in lengths:
            arrays = [array.astype(dtype) for array in inputs(n)]
            groups[n] = {
                "plain": lambda a=arrays: plain_attention(*a, None, False, None),
                "blockwise": lambda a=arrays: blockwise_attention(*a),
                "public": lambda a=arrays: scaled_dot_product_attention(*a),
            }
        for taken in rounds_of(groups, 3 * rounds, lambda n: 5).values():
            for name in ("blockwise", "public"):
                row = table.setdefault(name, {}).setdefault(dtype, [])
                row.append(ratio(taken["plain"], taken[name]))
    return {"lengths": lengths, "ratio": table}


def precision(n, rows, factors):
    """The largest error against fifty digits, for values of size about one."""
    import mpmath

    mpmath.mp.dps = 50
    table = {"plain float64": [], "blockwise float64": [], "blockwise float32": []}
    for factor in factors:
        query, key, value = inputs(n, sharpness=factor)
        query = query[:rows]
        exact = np.empty((rows, WIDTH))
        for i in range(rows):
            root = mpmath.sqrt(WIDTH)
            scores = [mpmath.fdot(query[i].tolist(), k.tolist()) / root for k in key]
            powers = [mpmath.exp(s - max(scores)) for s in scores]
            total = mpmath.fsum(powers)
            for c in range(WIDTH):
                exact[i, c] = mpmath.fdot(powers, value[:, c].tolist()) / total
        wide = [array.astype(float) for array in (query, key, value)]
        answers = {
            "plain float64": plain_attention(*wide, None, False, None),
            "blockwise float64": blockwise_attention(*wide),
            "blockwise float32": blockwise_attention(query, key, value),
        }
        for name, answer in answers.items():
            table[name].append(float(np.abs(answer - exact).max()))
    return {"n": n, "factors": factors, "error": table}


def processor():
    """The kind of the processor, as it names itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def show(title, numbers):
    print(f"{title:22}", "  ".join(f"{k} {v:.3g}" for k, v in numbers.items()), flush=True)


def significant(value):
    """Four digits are more than a measurement is worth, and keep the file readable."""
    if isinstance(value, dict):
        return {key: significant(item) for key, item in value.items()}
    if isinstance(value, list):
        return [significant(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="small inputs, in one round")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write all of it there")
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="rounds, 9 if not given")
    options = parser.parse_args()
    rounds = 1 if options.small else options.rounds
    lengths = [64, 128] if options.small else LENGTHS
    longer = [] if options.small else LONG
    rate = rates(rounds)
    show("a second", rate)
    measured = {
        "machine": {"processor": processor(), "threads": 1, "system": platform.system()},
        "versions": {
            "Python": platform.python_version(),
            **{name: importlib.metadata.version(name).split("+")[0] for name in LIBRARIES},
        },
        "width": WIDTH,
        "rounds": rounds,
        "lengths": lengths,
        "a second": rate,
        "time": times(lengths, rounds, rate),
        "memory": memory(lengths, longer),
        "sharp": sharpness(lengths[-1] if options.small else 2048, rounds, 30),
        "boundary": boundary(rounds),
        "precision": precision(64, 2 if options.small else 32, [1, 10, 100]),
        "threads": threads(lengths[-1:] if options.small else LENGTHS[2:], rounds),
    }
    for name in ("threads", "sharp", "boundary", "precision"):
        print(name, json.dumps(significant(measured[name])))
    for way in WAYS:
        for key in ("ratio", "fraction of the limit", "exponent"):
            print(way, key, json.dumps(significant(measured["time"][way][key])))
    print("memory", json.dumps(significant(measured["memory"])))
    if options.write:
        text = json.dumps(significant(measured), indent=1)
        options.write.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
