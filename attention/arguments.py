"""Arguments of the public functions: numbers, types and shapes, checked in one place.

Numbers of any width are worked out in at least double precision and rounded once, at
the end, to the type that came in; integers and booleans give doubles.
"""

import operator
from typing import NamedTuple

import numpy as np


def check_number(name, value, at_least=None):
    """Return an integer argument, or raise an error that repeats it.

    Raises TypeError when it is not an integer, ValueError when it is below
    `at_least`.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer: {value!r}") from None
    if at_least is not None and number < at_least:
        raise ValueError(f"{name} must be at least {at_least}: {value!r}")
    return number


def check_flag(name, value):
    """Return True or False, or raise a TypeError that repeats what it was instead."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False: {value!r}")
    return bool(value)


def check_unmasked(x):
    """Raise TypeError for a masked array of numpy's: nothing here reads its mask."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(
            "a masked array: fill it, and pass what may attend as attn_mask"
        )


def check_real(x):
    """Return x as an array, and the type its result should have.

    Raises TypeError when x does not hold real numbers.
    """
    check_unmasked(x)
    x = np.asarray(x)
    if x.dtype.kind not in "biuf":
        raise TypeError(f"expected real numbers: {x.dtype}")
    return x, x.dtype if x.dtype.kind == "f" else np.dtype(float)


def to_double(x):
    """Return an array in at least double precision."""
    return x.astype(np.result_type(x.dtype, float), copy=False)


def as_doubles(x):
    """Return x in at least double precision, and the type its result should have.

    Raises TypeError when x does not hold real numbers.
    """
    x, dtype = check_real(x)
    return to_double(x), dtype


def check_shapes(**arrays):
    """Return query, key and perhaps value as arrays, and the type of their result.

    Raises ValueError when their shapes do not fit (quoting them).
    """
    pairs = [check_real(array) for array in arrays.values()]
    dtype = np.result_type(*(dtype for _, dtype in pairs))
    shapes = [array.shape for array, _ in pairs]
    given = ", ".join(f"{name} {np.shape(array)}" for name, array in arrays.items())
    if min(map(len, shapes)) < 2:
        raise ValueError(f"each needs two dimensions, a row a position: {given}")
    query, key, *value = shapes
    if query[-1] != key[-1]:
        raise ValueError(f"query and key differ in width: {given}")
    if value and key[-2] != value[0][-2]:
        raise ValueError(f"key and value differ in number: {given}")
    if common_shape(*(shape[:-2] for shape in shapes)) is None:
        raise ValueError(f"leading dimensions do not broadcast: {given}")
    return [array for array, _ in pairs], dtype


class Inputs(NamedTuple):
    """The arguments of attention, checked.

    `value` is None where only weights are asked for. `mask` is None or has two
    dimensions at least. `shape` is that of the scores, (..., n_queries, n_keys), with
    all leading dimensions; `dtype` is the result's.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray | None
    mask: np.ndarray | None
    is_causal: bool
    scale: float
    shape: tuple
    dtype: np.dtype


def check_attention(query, key, value, attn_mask, is_causal, scale):
    """Check the arguments of attention, before the ways to compute it part.

    Raises what scaled_dot_product_attention raises.
    """
    arrays = {"query": query, "key": key}
    if value is not None:
        arrays["value"] = value
    (query, key, *rest), dtype = check_shapes(**arrays)
    leading = common_shape(*(array.shape[:-2] for array in (query, key, *rest)))
    shape = (*leading, query.shape[-2], key.shape[-2])
    is_causal = check_flag("is_causal", is_causal)
    mask = None
    if attn_mask is not None:
        mask, shape = check_mask(attn_mask, is_causal, shape)
    scale = check_scale(scale, query.shape[-1])
    value = rest[0] if rest else None
    return Inputs(query, key, value, mask, is_causal, scale, shape, dtype)


def check_mask(attn_mask, is_causal, shape):
    """Return the mask with two dimensions at least, and the shape of masked scores.

    Raises what scaled_dot_product_attention raises about masks.
    """
    if is_causal:
        raise ValueError(
            "attn_mask and is_causal exclude one another: "
            "pass attn_mask & causal_mask(n_queries, n_keys)"
        )
    check_unmasked(attn_mask)
    mask = np.asarray(attn_mask)
    if mask.dtype != bool and mask.dtype.kind != "f":
        raise TypeError(
            "attn_mask must be boolean, True = may attend, or floating, "
            f"to be added: {mask.dtype}"
        )
    full = common_shape(shape, mask.shape)
    if full is None or full[-2:] != shape[-2:]:
        raise ValueError(
            "attn_mask does not broadcast to the scores: "
            f"attn_mask {mask.shape}, scores {shape}"
        )
    return np.atleast_2d(mask), full


def check_scale(scale, width):
    """Return the number that scores are multiplied with; 1 / sqrt(d_k) for None.

    Raises TypeError when it is no number, ValueError when it is not finite.
    """
    if scale is None:
        return 1 / np.sqrt(max(width, 1))
    number = np.asarray(scale)
    if number.ndim or number.dtype.kind not in "iuf":
        raise TypeError(f"scale must be one real number: {scale!r}")
    if not np.isfinite(number):
        raise ValueError(f"scale must be finite: {scale!r}")
    return number[()]


def common_shape(*shapes):
    """Return the shape that these broadcast to, or None when they do not."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
