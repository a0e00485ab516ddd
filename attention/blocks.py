"""A Transformer's block: attention and a feed-forward part beside a residual stream."""

import math

import numpy as np

from .arguments import as_doubles, check_flag, check_real
from .heads import attend_by_heads, linear, merge_heads, split_heads
from .masks import causal_mask
from .positions import rotary_embedding

NEEDED_PARTS = {"q", "k", "v", "o", "up", "down", "norm_1", "norm_2"}
OPTIONAL_PARTS = {"gate", "q_norm", "k_norm"}


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    """Take each token's mean from it, and divide by its standard deviation.

    (..., D) -> (..., D). `weight` and `bias`, each (D,), then scale and shift. The
    variance is the mean square, without Bessel's correction, and eps is added to it
    inside the root. x is not written to.

    Raises ValueError when x is empty in its last dimension, weight or bias is not as
    long as it (quoting the shapes) or eps is negative; TypeError when an array does
    not hold real numbers.
    Ba et al. 2016, section 3.
    """
    x, weight, bias, dtype = check_norm(x, weight, bias, eps)
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return (centred / np.sqrt(variance + eps) * weight + bias).astype(dtype)


def rms_norm(x, weight=None, eps=1e-6):
    """Divide each token by the root of its mean square; no mean is taken from it.

    (..., D) -> (..., D). `weight`, (D,), then scales. eps is added inside the root.

    Raises what layer_norm raises.
    Zhang and Sennrich 2019, section 4.
    """
    x, weight, _, dtype = check_norm(x, weight, None, eps)
    mean_square = (x**2).mean(axis=-1, keepdims=True)
    return (x / np.sqrt(mean_square + eps) * weight).astype(dtype)


def check_norm(x, weight, bias, eps):
    """Return the arguments of a norm in doubles, and the type of its result.

    Raises what layer_norm raises.
    """
    x, *types = as_doubles(x)
    if x.ndim < 1 or x.shape[-1] == 0:
        raise ValueError(f"a norm needs numbers in the last dimension: x {x.shape}")
    if not eps >= 0:
        raise ValueError(f"eps must not be negative: {eps!r}")
    rest = []
    for name, array, neutral in (("weight", weight, 1.0), ("bias", bias, 0.0)):
        if array is None:
            rest.append(neutral)
            continue
        array, dtype = as_doubles(array)
        if array.shape != x.shape[-1:]:
            raise ValueError(
                f"{name} needs one number for each of the last dimension: "
                f"{name} {array.shape}, x {x.shape}"
            )
        rest.append(array)
        types.append(dtype)
    return x, *rest, np.result_type(*types)


def gelu(x, approximate="none"):
    """Multiply each number with the share of a normal distribution that lies below it.

    (...) -> (...). x / 2 erfc(-x / sqrt(2)), which keeps its digits far below 0. numpy
    has no erfc: it is Python's `math.erfc`, number by number, whose last bit may differ
    between platforms. With "tanh" it is the approximation that GPT-2 uses, off by at
    most 4.74e-4, near -2.70 and 2.70.

    Raises ValueError when approximate is neither "none" nor "tanh", TypeError when x
    does not hold real numbers.
    Hendrycks and Gimpel 2016, section 2.
    """
    x, dtype = as_doubles(x)
    with np.errstate(all="ignore"):
        if approximate == "tanh":
            share = 1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
        elif approximate == "none":
            below = (x / -np.sqrt(2)).ravel().tolist()
            share = np.fromiter(map(math.erfc, below), float, x.size).reshape(x.shape)
        else:
            raise ValueError(f'approximate must be "none" or "tanh": {approximate!r}')
        return np.where(share == 0, 0.0, x / 2 * share).astype(dtype)[()]


def silu(x):
    """Multiply each number with its logistic function, 1 / (1 + exp(-x)).

    (...) -> (...). The nonlinearity of a gated feed-forward part.

    Raises TypeError when x does not hold real numbers.
    Elfwing et al. 2017; in the feed-forward part, Shazeer 2020.
    """
    x, dtype = as_doubles(x)
    with np.errstate(all="ignore"):
        share = 1 / (1 + np.exp(-x))
        return np.where(share == 0, 0.0, x * share).astype(dtype)[()]


def transformer_block(
    x,
    parameters,
    num_heads,
    norm_first=True,
    is_causal=False,
    attn_mask=None,
    positions=None,
    cache=None,
    activation=None,
    eps=None,
):
    """Add to each token what attention and the feed-forward part make of it.

    (..., n, D) -> (..., n, D). Each part reads a norm of the stream and adds to it
    (pre-norm); with norm_first=False the norm is that of the sum (post-norm).
    `parameters` is a dict of arrays; weights multiply from the right:

        w_q (D, h d_k)  w_k (D, kv d_k)  w_v (D, kv d_v)  w_o (h d_v, D)
        w_up (D, H)     w_gate (D, H)    w_down (H, D)    w_norm_1, w_norm_2 (D,)
        w_q_norm, w_k_norm (d_k,)

    w_gate and the norms of queries and keys may be absent, and so may any bias: b_q is
    that of w_q, b_norm_1 that of w_norm_1. A norm with a bias is layer_norm, one
    without is rms_norm. kv follows from the width of w_k.
    `activation` is a function, gelu unless given, or silu where there is w_gate. eps is
    the norms' own unless given. `positions`, (n,), turn queries and keys by
    rotary_embedding. A `cache` is a KeyValueCache: x are the tokens after those in it,
    and is_causal then counts from the first one there.
    The masks are those of multi_head_attention.

    Raises ValueError when a parameter is missing or unknown, or the shapes do not fit
    (quoting them), and what its parts raise.
    Vaswani et al. 2017, section 3.1; pre-norm, Xiong et al. 2020.
    """
    check_names(parameters)
    x, _ = check_real(x)

    def attend(x):
        query, key, value = project_heads(x, parameters, num_heads, positions, eps)
        mask, causal = attn_mask, check_flag("is_causal", is_causal)
        if cache is not None:
            cached = len(cache)
            key, value = cache.extend(key, value)
            if causal and cached and mask is None:
                mask, causal = causal_mask(x.shape[-2], key.shape[-2], cached), False
        heads = attend_by_heads(query, key, value, mask, causal)
        return apply_linear(merge_heads(heads), parameters, "o")

    def feed(x):
        return feed_forward(x, parameters, activation)

    norm_first = check_flag("norm_first", norm_first)
    for name, part in (("norm_1", attend), ("norm_2", feed)):
        if norm_first:
            x = x + part(apply_norm(x, parameters, name, eps))
        else:
            x = apply_norm(x + part(x), parameters, name, eps)
    return x


def project_heads(x, parameters, num_heads, positions, eps):
    """Make queries, keys and values of the tokens, split into heads and turned.

    (..., n, D) -> (..., h, n, d_k), (..., kv, n, d_k), (..., kv, n, d_v).

    Raises ValueError when w_k is not some heads wide (quoting it).
    """
    query = split_heads(apply_linear(x, parameters, "q"), num_heads)
    key, value = (apply_linear(x, parameters, name) for name in "kv")
    d_k = query.shape[-1]
    if not d_k or not key.shape[-1] or key.shape[-1] % d_k:
        raise ValueError(
            f"w_k must be some heads of {d_k} numbers wide, as w_q is of {num_heads}: "
            f"w_q {np.shape(parameters['w_q'])}, w_k {np.shape(parameters['w_k'])}"
        )
    kv = key.shape[-1] // d_k
    key, value = split_heads(key, kv), split_heads(value, kv)
    if "w_q_norm" in parameters:
        query = apply_norm(query, parameters, "q_norm", eps)
    if "w_k_norm" in parameters:
        key = apply_norm(key, parameters, "k_norm", eps)
    if positions is not None:
        positions = np.atleast_1d(positions)[..., None, :]  # the same for all heads
        query, key = (rotary_embedding(heads, positions) for heads in (query, key))
    return query, key, value


def feed_forward(x, parameters, activation):
    """Widen each token, let some of the numbers through, and narrow it again."""
    up = apply_linear(x, parameters, "up")
    if "w_gate" in parameters:
        up = up * (activation or silu)(apply_linear(x, parameters, "gate"))
    else:
        up = (activation or gelu)(up)
    return apply_linear(up, parameters, "down")


def apply_linear(x, parameters, name):
    """Multiply with the matrix of a part, and add its bias if it has one."""
    weight, bias = parameters[f"w_{name}"], parameters.get(f"b_{name}")
    return linear(x, weight, bias, f"w_{name}")


def apply_norm(x, parameters, name, eps):
    """Apply the norm of a part: layer_norm if it has a bias, else rms_norm."""
    weight, bias = parameters[f"w_{name}"], parameters.get(f"b_{name}")
    options = {} if eps is None else {"eps": eps}
    if bias is None:
        return rms_norm(x, weight, **options)
    return layer_norm(x, weight, bias, **options)


def check_names(parameters):
    """Raise ValueError when a block lacks a parameter or has one that it ignores."""
    weights = {name[2:] for name in parameters if name.startswith("w_")}
    known = {f"w_{part}" for part in NEEDED_PARTS | OPTIONAL_PARTS}
    known |= {f"b_{part}" for part in weights}
    if missing := sorted(f"w_{part}" for part in NEEDED_PARTS - weights):
        raise ValueError(f"parameters that are missing: {', '.join(missing)}")
    if unknown := sorted(set(parameters) - known):
        raise ValueError(f"parameters without a use: {', '.join(unknown)}")
