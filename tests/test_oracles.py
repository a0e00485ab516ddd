"""Attention agrees with two implementations that were not written here.

The ONNX standard carries node cases for its Attention operator, with inputs and the
output that each implementation must give. PyTorch is asked on random inputs.
"""

import importlib
import itertools
import warnings

import numpy as np
import pytest
from helpers import need

from attention import (
    LAYER,
    attention_parameters,
    attention_scores,
    attention_weights,
    causal_mask,
    feed_forward_parameters,
    merge_heads,
    norm_parameters,
    scaled_dot_product_attention,
    split_heads,
)

pytestmark = pytest.mark.ci

CASES = 93

NOT_HERE = dict.fromkeys(
    """
    test_attention_3d_diff_heads_sizes_softcap
    test_attention_3d_gqa_softcap
    test_attention_3d_softcap
    test_attention_3d_with_past_and_present_qk_matmul_softcap
    test_attention_4d_diff_heads_sizes_softcap
    test_attention_4d_gqa_softcap
    test_attention_4d_softcap
    test_attention_4d_softcap_neginf_mask
    test_attention_4d_softcap_neginf_mask_poison
    test_attention_4d_with_qk_matmul_softcap
    test_attention_local_window_gqa_rank4_mask
    """.split(),
    "the package caps no scores",
)


def library(name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        return need(None, name.partition(".")[0])


# ONNX


@pytest.fixture(scope="module")
def onnx_cases():
    """The node cases of one operator: by name, its settings, inputs and outputs."""
    library("onnx.backend.test.case.node.attention")
    node = library("onnx.backend.test.case.node")
    helper = library("onnx.helper")
    cases = {}
    for case in node._NodeTestCases:
        (operator, *rest) = case.model.graph.node
        if operator.op_type != "Attention" or rest:
            continue  # the same inputs once more, through the operator's expansion
        settings = {a.name: helper.get_attribute_value(a) for a in operator.attribute}
        ((inputs, outputs),) = case.data_sets
        cases[case.name] = (
            settings,
            dict(zip(filter(None, operator.input), inputs, strict=True)),
            dict(zip(filter(None, operator.output), outputs, strict=True)),
        )
    return cases


def test_every_onnx_case_is_run_or_listed_with_its_reason(onnx_cases):
    assert len(onnx_cases) == CASES
    assert onnx_cases.keys() >= NOT_HERE.keys()
    capped = {name for name, (settings, *_) in onnx_cases.items() if settings.get("softcap")}
    assert capped == NOT_HERE.keys()


def test_the_onnx_cases_are_answered_alike(attend, onnx_cases, monkeypatch):
    monkeypatch.setattr(f"{__name__}.scaled_dot_product_attention", attend)
    run = onnx_cases.keys() - NOT_HERE.keys()
    compared = {name: compare(*onnx_cases[name]) for name in sorted(run)}
    assert not {name: wrong for name, wrong in compared.items() if wrong}
    assert len(compared) + len(NOT_HERE) == CASES


def compare(settings, inputs, outputs):
    """The names of the outputs that differ."""
    given = answer(settings, **{name: widened(array) for name, array in inputs.items()})
    mode = settings.get("qk_matmul_output_mode", 0)
    wrong = [] if alike(given["output"], outputs["Y"]) else ["Y"]
    if "qk_matmul_output" in outputs:
        name = {0: "scores", 2: "masked scores", 3: "weights"}[mode]
        if not alike(given[name], outputs["qk_matmul_output"]):
            wrong.append(name)
    return wrong


def widened(array):
    """numpy has no bfloat16 of its own: such numbers come in as float32."""
    return array.astype("float32") if array.dtype.name == "bfloat16" else array


def alike(given, expected):
    """Equal but for a rounding or two of the narrower type."""
    steps = {"bfloat16": 2.0**-7, "float16": 2.0**-9, "float32": 2.0**-20}
    step = steps[expected.dtype.name]
    expected = expected.astype("float64")
    return given.shape == expected.shape and np.allclose(
        given, expected, rtol=step, atol=step, equal_nan=True
    )


def answer(
    settings, Q, K, V, attn_mask=None, past_key=None, past_value=None, nonpad_kv_seqlen=None
):
    """Answer a case of the operator with the package."""
    flat = Q.ndim == 3
    if flat:
        Q = split_heads(Q, settings["q_num_heads"])
        K, V = (split_heads(a, settings["kv_num_heads"]) for a in (K, V))
    offset = 0
    if past_key is not None:
        offset = past_key.shape[-2]
        K = np.concatenate([past_key, K], axis=-2)
        V = np.concatenate([past_value, V], axis=-2)
    n_queries, n_keys = Q.shape[-2], K.shape[-2]
    K, V = (np.repeat(a, Q.shape[1] // a.shape[1], axis=1) for a in (K, V))
    lengths = np.full(len(Q), n_keys)
    if nonpad_kv_seqlen is not None:
        lengths = nonpad_kv_seqlen
        offset = None  # each item of the batch has its own: its last keys are the queries
    visible = np.stack(
        [
            window(n_queries, n_keys, length - n_queries if offset is None else offset, settings)
            & (np.arange(n_keys) < length)
            for length in lengths
        ]
    )[:, None]
    added = 0.0
    if attn_mask is not None:
        absent = [(0, 0)] * (attn_mask.ndim - 1) + [(0, n_keys - attn_mask.shape[-1])]
        if attn_mask.dtype == bool:
            visible = visible & np.pad(attn_mask, absent)
        else:
            added = np.pad(attn_mask, absent, constant_values=-np.inf)
    mask = np.where(visible, added, -np.inf)
    if not np.any(added):
        mask = visible
    scale = settings.get("scale")
    output = scaled_dot_product_attention(Q, K, V, mask, scale=scale)
    scores = attention_scores(Q, K, scale)
    return {
        "output": merge_heads(output) if flat else output,
        "scores": scores,
        "masked scores": scores + np.where(visible, added, -np.inf),
        "weights": attention_weights(Q, K, mask, scale=scale),
    }


def window(n_queries, n_keys, offset, settings):
    """Where a query may look: not ahead if causal, not beyond a window if there is one."""
    left, right = (settings.get(f"{side}_window_size", -1) for side in ("left", "right"))
    ahead = n_keys + n_queries if right < 0 else right
    if settings.get("is_causal"):
        ahead = min(ahead, 0)
    visible = causal_mask(n_queries, n_keys, offset + ahead)
    if left >= 0:
        visible &= ~causal_mask(n_queries, n_keys, offset - left - 1)
    return visible


# PyTorch


@pytest.fixture(scope="module")
def sdpa():
    """PyTorch's function, given and giving numpy arrays."""
    torch = library("torch")

    def ask(query, key, value, attn_mask=None, **options):
        tensors = [torch.from_numpy(np.array(a)) for a in (query, key, value)]
        mask = None if attn_mask is None else torch.from_numpy(np.array(attn_mask))
        function = torch.nn.functional.scaled_dot_product_attention
        return function(*tensors, attn_mask=mask, **options).numpy()

    return ask


SHAPES = [  # leading dimensions, queries, keys, d_k, d_v
    ((), 1, 1, 1, 1),
    ((), 3, 5, 4, 2),
    ((), 5, 3, 4, 2),
    ((2,), 4, 4, 8, 8),
    ((2, 3), 7, 11, 16, 5),
    ((2, 3), 11, 7, 64, 64),
    ((1, 2), 40, 130, 32, 48),
]
MASKS = ["none", "causal", "boolean", "boolean with empty rows", "float", "float that hides"]


def random_mask(kind, rng, leading, n_queries, n_keys, dtype):
    if kind == "none":
        return {}
    if kind == "causal":
        return {"is_causal": True}
    keep = rng.random((*leading, n_queries, n_keys)) < 0.6
    if kind.startswith("boolean"):
        keep[..., 0, :] = "empty" not in kind
        return {"attn_mask": keep}
    bias = rng.standard_normal(keep.shape).astype(dtype)
    return {"attn_mask": np.where(keep, bias, -np.inf).astype(dtype) if "hides" in kind else bias}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pytorch_gives_the_same(attend, sdpa, shape, kind, dtype):
    leading, n_queries, n_keys, d_k, d_v = shape
    tolerance = {"float32": 2e-5, "float64": 2e-14}[dtype]  # theirs sums in float32
    for seed, scale in itertools.product(range(3), (None, 1.0, 0.1)):
        rng = np.random.default_rng(seed)
        query = rng.standard_normal((*leading, n_queries, d_k)).astype(dtype)
        key = rng.standard_normal((*leading, n_keys, d_k)).astype(dtype)
        value = rng.standard_normal((*leading, n_keys, d_v)).astype(dtype)
        options = random_mask(kind, rng, leading, n_queries, n_keys, dtype) | {"scale": scale}
        ours = attend(query, key, value, **options)
        theirs = sdpa(query, key, value, **options)
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        assert np.allclose(ours, theirs, rtol=tolerance, atol=tolerance)
        if "empty" in kind:
            assert not ours[..., 0, :].any()


def test_pytorch_agrees_where_there_is_nothing_to_see(attend, sdpa):
    no_keys = np.ones((2, 3)), np.ones((0, 3)), np.ones((0, 4))
    no_queries = np.ones((0, 3)), np.ones((2, 3)), np.ones((2, 4))
    no_width = np.ones((2, 0)), np.ones((3, 0)), np.arange(3.0)[:, None]
    for arrays in (no_keys, no_queries, no_width):
        assert np.array_equal(attend(*arrays), sdpa(*arrays))


def test_pytorch_counts_a_layer_as_the_lesson_does():
    """The published total, with the attention's biases, and without any."""
    layer = library("torch").nn.TransformerEncoderLayer
    for bias in (True, False):
        theirs = sum(p.numel() for p in layer(LAYER.D, LAYER.h, LAYER.H, bias=bias).parameters())
        ours = attention_parameters(LAYER.D, LAYER.h, bias=bias)
        ours += feed_forward_parameters(LAYER.D, LAYER.H, bias=bias)
        assert ours + 2 * norm_parameters(LAYER.D, bias=bias) == theirs
