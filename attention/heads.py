"""Several heads: project, split the width, let each head attend, join, project again.

Weights multiply from the right: x @ w, with w of (numbers in, numbers out). Each step
is worked out in at least double precision and rounded to the type that came in.
"""

import numpy as np

from .arguments import check_number, check_real, to_double
from .sdpa import scaled_dot_product_attention


def split_heads(x, num_heads):
    """Cut the width of each token into equal parts, one for each head.

    (..., n, num_heads * d) -> (..., num_heads, n, d). Head i gets the columns from
    i * d on. The axes are exchanged after the cut: a reshape straight to
    (num_heads, n, d) would mix tokens.

    Raises ValueError when x has no two dimensions or num_heads does not divide its
    width (quoting both), ValueError or TypeError when it is no positive integer.
    Vaswani et al. 2017, section 3.2.2.
    """
    x, _ = check_real(x)
    num_heads = check_number("num_heads", num_heads, at_least=1)
    if x.ndim < 2:
        raise ValueError(f"x needs two dimensions, a row a token: x {x.shape}")
    *leading, n, width = x.shape
    if width % num_heads:
        raise ValueError(
            "num_heads must divide the width, the last dimension: "
            f"num_heads {num_heads}, x {x.shape}"
        )
    parts = x.reshape(*leading, n, num_heads, width // num_heads)
    return parts.swapaxes(-2, -3)


def merge_heads(x):
    """Join the heads of each token side by side: the inverse of split_heads.

    (..., num_heads, n, d) -> (..., n, num_heads * d).

    Raises ValueError when x has no three dimensions (quoting its shape).
    Vaswani et al. 2017, section 3.2.2.
    """
    x, _ = check_real(x)
    if x.ndim < 3:
        raise ValueError(f"x needs three dimensions, (num_heads, n, d): x {x.shape}")
    *leading, num_heads, n, d = x.shape
    return x.swapaxes(-2, -3).reshape(*leading, n, num_heads * d)


def multi_head_attention(
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    num_heads,
    num_kv_heads=None,
    attn_mask=None,
    is_causal=False,
    memory=None,
):
    """Let each token look at the others in several ways at once.

    (..., n, D) -> (..., n, D_out), with w_q (D, h d_k), w_k (D, kv d_k),
    w_v (D, kv d_v) and w_o (h d_v, D_out); h is `num_heads`, and kv `num_kv_heads`,
    which is h unless given. Fewer of them are shared: query head i looks at key and
    value head i // (h / kv).
    Without `memory` this is self-attention. With it, (..., n_keys, D_memory), keys and
    values come from there: cross-attention.
    `attn_mask` broadcasts to (..., h, n, n_keys), so one for each item of a batch
    needs an axis of 1 for the heads; else it and `is_causal` are those of
    scaled_dot_product_attention, which also computes long inputs block by block.

    Raises ValueError when the shapes do not fit (quoting them) or num_kv_heads does
    not divide num_heads, and what scaled_dot_product_attention raises about masks.
    Vaswani et al. 2017, section 3.2.2; shared keys, Ainslie et al. 2023.
    """
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    source = x if memory is None else memory
    query = split_heads(linear(x, w_q, name="w_q"), num_heads)
    key = split_heads(linear(source, w_k, name="w_k"), num_kv_heads)
    value = split_heads(linear(source, w_v, name="w_v"), num_kv_heads)
    heads = attend_by_heads(query, key, value, attn_mask, is_causal)
    return linear(merge_heads(heads), w_o, name="w_o")


def attend_by_heads(query, key, value, attn_mask=None, is_causal=False):
    """Let each query head attend to its own key and value head, or to a shared one.

    (..., h, n, d_k), (..., kv, n_keys, d_k), (..., kv, n_keys, d_v)
    -> (..., h, n, d_v).

    Raises ValueError when kv does not divide h or the widths differ (quoting the
    shapes).
    """
    h, kv = query.shape[-3], key.shape[-3]
    given = f"query {query.shape}, key {key.shape}, value {value.shape}"
    if h % kv:
        raise ValueError(f"the heads of the keys must divide those of queries: {given}")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "w_q must give num_heads * d_k numbers, and w_k num_kv_heads * d_k with "
            f"the same d_k; split into heads they are (..., heads, n, d_k): {given}"
        )
    if h > kv:
        key, value = (np.repeat(heads, h // kv, axis=-3) for heads in (key, value))
    return scaled_dot_product_attention(query, key, value, attn_mask, is_causal)


def linear(x, weight, bias=None, name="weight"):
    """Multiply each row with a matrix from the right, and add a bias if there is one.

    (..., n_in), (n_in, n_out), (n_out,) -> (..., n_out).

    Raises ValueError when the shapes do not fit (quoting them; `name` is what the
    caller knows the matrix as).
    """
    (x, *types), (weight, *more) = check_real(x), check_real(weight)
    given = f"x {x.shape}, {name} {weight.shape}"
    if weight.ndim != 2 or x.ndim < 1 or x.shape[-1] != weight.shape[0]:
        turned = weight.ndim == 2 and x.ndim and x.shape[-1] == weight.shape[1]
        raise ValueError(
            f"x @ {name} needs as many rows in {name} as x is wide: {given}"
            + (f"; does it come from a library? Then pass {name}.T" if turned else "")
        )
    shift = 0
    if bias is not None:
        shift, dtype = check_real(bias)
        more.append(dtype)
        if shift.shape != weight.shape[1:]:
            raise ValueError(f"a bias has one number a column: {shift.shape}, {given}")
    with np.errstate(all="ignore"):
        product = to_double(x) @ to_double(weight) + shift
        return product.astype(np.result_type(*types, *more))


class KeyValueCache:
    """The keys and values of the tokens so far, in one layer, split into heads.

    `key` (..., kv, n, d_k) and `value` (..., kv, n, d_v), None while it is empty;
    len() is n. Keys are kept as they are compared: with rotary positions, rotated
    once, each by its own place.
    """

    def __init__(self):
        self.key = self.value = None

    def __len__(self):
        return 0 if self.key is None else self.key.shape[-2]

    def extend(self, key, value):
        """Add the keys and values of new tokens, and return all of them.

        Raises ValueError when they differ from those here in more than their number.
        """
        if self.key is not None:
            for name, old, new in (
                ("key", self.key, key),
                ("value", self.value, value),
            ):
                if (*old.shape[:-2], old.shape[-1]) != (*new.shape[:-2], new.shape[-1]):
                    raise ValueError(
                        f"a cache takes more of the same: {name} {new.shape}, "
                        f"in the cache {old.shape}"
                    )
            key = np.concatenate([self.key, key], axis=-2)
            value = np.concatenate([self.value, value], axis=-2)
        self.key, self.value = key, value
        return key, value
