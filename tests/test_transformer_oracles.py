"""What stands around attention agrees with PyTorch and with the cases of the ONNX standard."""

import functools
import importlib
import math
import warnings

import numpy as np
import pytest
from conftest import need

from attention import (
    attention_backward,
    causal_mask,
    gelu,
    layer_norm,
    multi_head_attention,
    rms_norm,
    silu,
    transformer_block,
)
from attention.positions import rotate_pairs

pytestmark = pytest.mark.ci

CASES = {"RotaryEmbedding": 8, "Gelu": 4, "LayerNormalization": 19, "RMSNormalization": 19}
NEAR = {"rtol": 1e-12, "atol": 1e-13}


def library(name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        return need(None, name.partition(".")[0])


# ONNX


@functools.cache
def onnx_cases(operator):
    """The node cases of one operator: by name, its settings, inputs and output."""
    node, helper = (library(name) for name in ("onnx.backend.test.case.node", "onnx.helper"))
    library(f"onnx.backend.test.case.node.{operator.lower()}")
    cases = {}
    for case in node._NodeTestCases:
        (first, *rest) = case.model.graph.node
        if first.op_type == operator and not rest:
            settings = {a.name: helper.get_attribute_value(a) for a in first.attribute}
            ((inputs, outputs),) = case.data_sets
            cases[case.name] = settings, inputs, outputs[0]
    return cases


def rotated(settings, x, cosine, sine, places=None):
    """The operator's answer: it is given the cosines and sines, and may turn a part alone."""
    if places is not None:
        cosine, sine = cosine[places], sine[places]
    flat, width = x, settings.get("rotary_embedding_dim") or 2 * cosine.shape[-1]
    if x.ndim == 3:
        x = flat.reshape(*flat.shape[:2], settings["num_heads"], -1).swapaxes(1, 2)
    turned, rest = x[..., :width], x[..., width:]
    pairs = cosine[:, None], sine[:, None]
    turned = rotate_pairs(turned, *pairs, bool(settings.get("interleaved")))
    whole = np.concatenate([turned, rest], axis=-1)
    return whole.swapaxes(1, 2).reshape(flat.shape) if flat.ndim == 3 else whole


def normed(norm, settings, x, *rest):
    """The operator's norm is one over all axes from `axis` on."""
    axis = settings.get("axis", -1) % x.ndim
    rows = x.reshape(*x.shape[:axis], -1)
    rest = [array.ravel() for array in rest]
    return norm(rows, *rest, eps=settings.get("epsilon", 1e-5)).reshape(x.shape)


def activated(settings, x):
    return gelu(x, settings.get("approximate", b"none").decode())


ANSWERS = {
    "RotaryEmbedding": rotated,
    "Gelu": activated,
    "LayerNormalization": functools.partial(normed, layer_norm),
    "RMSNormalization": functools.partial(normed, rms_norm),
}


@pytest.mark.parametrize("operator", CASES)
def test_the_onnx_cases_are_answered_alike(operator):
    cases = onnx_cases(operator)
    assert len(cases) == CASES[operator]
    for name, (settings, inputs, output) in cases.items():
        given = ANSWERS[operator](settings, *inputs)
        assert given.dtype == output.dtype == np.float32, name
        assert given.shape == output.shape, name
        assert np.allclose(given, output, rtol=1e-6, atol=1e-6), name


# PyTorch


@pytest.fixture(scope="module")
def torch():
    return library("torch")


def as_numpy(module):
    """The parameters of one of PyTorch's modules, none as it starts, by name."""
    torch = library("torch")
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) / math.sqrt(parameter.shape[-1]))
    return {name: p.detach().numpy() for name, p in module.named_parameters()}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 8), (2, 3, 5), (4, 1)], ids=str)
def test_pytorch_s_norms_and_nonlinearities_give_the_same(torch, shape, dtype):
    rng, functional = np.random.default_rng(0), torch.nn.functional
    x, weight, bias = (
        rng.standard_normal(s).astype(dtype) for s in (shape, shape[-1:], shape[-1:])
    )
    x_, weight_, bias_ = map(torch.from_numpy, (x, weight, bias))
    width, near = shape[-1:], {"rtol": 1e-5, "atol": 1e-5} if dtype == "float32" else NEAR
    pairs = [
        (layer_norm(x), functional.layer_norm(x_, width)),
        (
            layer_norm(x, weight, bias, 0.1),
            functional.layer_norm(x_, width, weight_, bias_, 0.1),
        ),
        (rms_norm(x, weight), functional.rms_norm(x_, width, weight_, 1e-6)),
        (rms_norm(x, eps=0.1), functional.rms_norm(x_, width, eps=0.1)),
        (gelu(4 * x), functional.gelu(4 * x_)),
        (gelu(4 * x, "tanh"), functional.gelu(4 * x_, approximate="tanh")),
        (silu(4 * x), functional.silu(4 * x_)),
    ]
    for ours, theirs in pairs:
        assert ours.dtype == dtype
        assert np.allclose(ours, theirs.numpy(), **near)


@pytest.mark.parametrize("kind", ["none", "causal", "boolean", "float"])
@pytest.mark.parametrize("cross", [False, True], ids=["self", "cross"])
def test_pytorch_s_multihead_attention_gives_the_same(torch, kind, cross):
    """Its weights multiply from the left, and its boolean mask says what is hidden."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    for D, h in ((8, 1), (8, 4), (6, 3)):
        width = D + 2 if cross else D
        theirs = torch.nn.MultiheadAttention(
            D, h, bias=False, kdim=width, vdim=width, batch_first=True, dtype=torch.float64
        )
        weights = as_numpy(theirs)
        if cross:
            inner = [weights[f"{name}_proj_weight"] for name in "qkv"]
        else:
            inner = np.split(weights["in_proj_weight"], 3)
        matrices = [w.T for w in (*inner, weights["out_proj.weight"])]
        x = rng.standard_normal((2, 5, D))
        memory = rng.standard_normal((2, 7, width)) if cross else x
        keep = causal_mask(5, memory.shape[1])
        ours, hidden = {}, None
        if kind == "causal":
            ours, hidden = {"is_causal": True}, ~keep
        elif kind == "boolean":
            keep = rng.random(keep.shape) < 0.7
            keep[:, 0] = True
            ours, hidden = {"attn_mask": keep}, ~keep
        elif kind == "float":
            hidden = rng.standard_normal(keep.shape)
            ours = {"attn_mask": hidden}
        tensors = map(torch.from_numpy, (x, memory, memory))
        mask = None if hidden is None else torch.from_numpy(hidden)
        right, _ = theirs(*tensors, attn_mask=mask)
        given = multi_head_attention(x, *matrices, h, memory=memory if cross else None, **ours)
        assert np.allclose(given, right.detach().numpy(), **NEAR)


@pytest.mark.parametrize("is_causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
def test_pytorch_s_encoder_layer_gives_the_same(torch, norm_first, activation, is_causal):
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(
        8, 4, 12, 0.0, activation, norm_first=norm_first, batch_first=True, dtype=torch.float64
    )
    theirs = as_numpy(layer)
    names = {"o": "self_attn.out_proj", "up": "linear1", "down": "linear2"}
    names |= {"norm_1": "norm1", "norm_2": "norm2"}
    parameters = {f"w_{ours}": theirs[f"{name}.weight"].T for ours, name in names.items()}
    parameters |= {f"b_{ours}": theirs[f"{name}.bias"] for ours, name in names.items()}
    for kind, name in (("w", "self_attn.in_proj_weight"), ("b", "self_attn.in_proj_bias")):
        for ours, part in zip("qkv", np.split(theirs[name], 3), strict=True):
            parameters[f"{kind}_{ours}"] = part.T
    x = np.random.default_rng(1).standard_normal((2, 6, 8))
    mask = torch.from_numpy(~causal_mask(6, 6)) if is_causal else None
    right = layer(torch.from_numpy(x), src_mask=mask).detach().numpy()
    function = gelu if activation == "gelu" else lambda x: np.maximum(x, 0)
    given = transformer_block(
        x, parameters, 4, norm_first=norm_first, is_causal=is_causal, activation=function
    )
    assert np.allclose(given, right, **NEAR)


@pytest.mark.parametrize("kind", ["none", "causal", "boolean", "float"])
@pytest.mark.parametrize("shared", [False, True], ids=["own keys", "shared keys"])
def test_pytorch_s_autograd_gives_the_same_gradient(torch, kind, shared):
    rng = np.random.default_rng(2)
    attend = torch.nn.functional.scaled_dot_product_attention
    for n_queries, n_keys, d_k, d_v in ((1, 1, 1, 1), (5, 7, 4, 3), (70, 70, 16, 16)):
        heads = 1 if shared else 3
        query, grad_output = (rng.standard_normal((2, 3, n_queries, d)) for d in (d_k, d_v))
        key, value = (rng.standard_normal((2, heads, n_keys, d)) for d in (d_k, d_v))
        options = {}
        if kind == "causal":
            options = {"is_causal": True}
        elif kind == "boolean":
            mask = rng.random((n_queries, n_keys)) < 0.7
            mask[:, 0] = True
            options = {"attn_mask": mask}
        elif kind == "float":
            options = {"attn_mask": rng.standard_normal((n_queries, n_keys))}
        tensors = [torch.from_numpy(a).requires_grad_() for a in (query, key, value)]
        full = [t.expand(2, 3, *t.shape[-2:]) for t in tensors]
        theirs = {
            name: torch.from_numpy(option) if name == "attn_mask" else option
            for name, option in options.items()
        }
        attend(*full, **theirs).backward(torch.from_numpy(grad_output))
        given = attention_backward(grad_output, query, key, value, **options)
        for ours, tensor in zip(given, tensors, strict=True):
            assert np.allclose(ours, tensor.grad.numpy(), **NEAR)
