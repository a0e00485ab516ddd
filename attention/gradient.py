"""The gradient of attention, in closed form."""

from typing import NamedTuple

import numpy as np

from .arguments import check_attention, check_real, to_double
from .core import masked_scores, softmax, weighted_sum
from .masks import causal_mask

MAX_SCORES = 2**20  # of one head at a time: 8 MiB in double precision


class Gradients(NamedTuple):
    """How a loss changes with each number of query, key and value, in their shapes."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray


def attention_backward(
    grad_output, query, key, value, attn_mask=None, is_causal=False, scale=None
):
    """Carry the gradient of a loss back through scaled_dot_product_attention.

    `grad_output` has the output's shape, (..., n_queries, d_v), and holds the
    derivative of the loss by each of its numbers; the others are what attention was
    given. -> Gradients(query, key, value), each in the shape of its argument: what was
    broadcast is added up, so key and value heads that are shared get the sum over
    those that share them.
    With A the weights and dO grad_output: dV = A^T dO, dA = dO V^T,
    dS = A (dA - rowsum(dA A)), dQ = scale dS K, dK = scale dS^T Q.
    The weights are not stored but computed again, for so many queries at a time that
    their scores stay few. In doubles, rounded once to the type that came in. What is
    hidden has no influence, and its gradient is 0.

    Raises ValueError when grad_output does not have the output's shape (quoting both),
    and what scaled_dot_product_attention raises.
    Dao et al. 2022, appendix B.2.
    """
    inputs = check_attention(query, key, value, attn_mask, is_causal, scale)
    grad_output, dtype = check_real(grad_output)
    output_shape = (*inputs.shape[:-1], inputs.value.shape[-1])
    if grad_output.shape != output_shape:
        raise ValueError(
            "grad_output must have the shape of the output: "
            f"grad_output {grad_output.shape}, output {output_shape}"
        )
    arrays = inputs.query, inputs.key, inputs.value
    totals = [np.zeros((*inputs.shape[:-2], *array.shape[-2:])) for array in arrays]
    n_queries, n_keys = inputs.shape[-2:]
    step = max(MAX_SCORES // max(n_keys, 1), 1)
    for start in range(0, n_queries, step):
        rows = slice(start, min(start + step, n_queries))
        parts = rows_backward(take_rows(inputs, rows), grad_output[..., rows, :])
        totals[0][..., rows, :] = parts[0]
        totals[1] += parts[1]
        totals[2] += parts[2]
    dtype = np.result_type(inputs.dtype, dtype)
    with np.errstate(over="ignore"):
        return Gradients(
            *(
                sum_to_shape(total, array.shape).astype(dtype)
                for total, array in zip(totals, arrays, strict=True)
            )
        )


def take_rows(inputs, rows):
    """Leave some of the queries, with what the mask says of them."""
    n_keys, mask = inputs.shape[-1], inputs.mask
    if inputs.is_causal:
        mask = causal_mask(rows.stop - rows.start, n_keys, rows.start)
    elif mask is not None:
        mask = np.broadcast_to(mask, inputs.shape)[..., rows, :]
    shape = (*inputs.shape[:-2], rows.stop - rows.start, n_keys)
    query = inputs.query[..., rows, :]
    return inputs._replace(query=query, mask=mask, is_causal=False, shape=shape)


def rows_backward(inputs, grad_output):
    """Compute the gradients that some queries cause, with all their scores at once."""
    query, key, value, grad = map(to_double, (*inputs[:3], grad_output))
    scores, visible, _ = masked_scores(inputs)
    weights = softmax(scores, mask=visible)
    with np.errstate(all="ignore"):
        grad_weights = np.where(visible, grad @ value.swapaxes(-1, -2), 0)
        mean = (grad_weights * weights).sum(axis=-1, keepdims=True)
        grad_scores = np.where(visible, weights * (grad_weights - mean), 0)
        across = (a.swapaxes(-1, -2) for a in (grad_scores, weights, visible))
        scores_of_keys, weights_of_keys, seen_by = across
        return (
            weighted_sum(grad_scores, key, visible) * inputs.scale,
            weighted_sum(scores_of_keys, query, seen_by) * inputs.scale,
            weighted_sum(weights_of_keys, grad, seen_by),
        )


def sum_to_shape(total, shape):
    """Add up over the dimensions that an array of this shape was broadcast along."""
    total = total.sum(axis=tuple(range(total.ndim - len(shape))))
    along = [i for i, size in enumerate(shape) if size == 1 != total.shape[i]]
    return total.sum(axis=tuple(along), keepdims=True)
