"""The model of induction.py, trained by gradients that are written by hand."""

import sys

import numpy as np

from .core import softmax
from .gradient import attention_backward
from .induction import (
    INDUCTION,
    WEIGHT_STEP,
    InductionModel,
    model_shapes,
    repeated_sequences,
    run_induction,
    weight_steps,
)

BATCH = 32
RATE = 0.01  # of the first step; it falls to 0 with the last
# Adam's own settings.
FORGET = 0.9
FORGET_SQUARE = 0.999
TINY = 1e-8


def draw_induction(
    rng, num_layers=2, use_positions=True, d=16, length=24, vocabulary=20
):
    """Draw the weights of an InductionModel at random, as training begins.

    Each is normal, with the deviation 1 / sqrt(d).
    """
    shapes = model_shapes(num_layers, d, length, vocabulary)
    parts = [rng.standard_normal(shape) / np.sqrt(d) for shape in shapes]
    parts[1] *= use_positions
    return InductionModel(*parts)


def train_induction(
    steps=400, seed=0, num_layers=2, use_positions=True, watch=None, **sequences
):
    """Train a model to find what is repeated: -> InductionModel, in doubles.

    Each step draws 32 new sequences and follows the gradient of the loss by Adam, at a
    rate that falls evenly from 0.01 to 0. `sequences` go to repeated_sequences. `watch`
    is called before each step and after the last, as watch(step, loss, model): step
    counts from 0, the loss is that of the step's own sequences, None after the last.
    The same arguments give the same numbers, but for the last digits, in which
    libraries differ.
    Kingma and Ba 2015.
    """
    rng = np.random.default_rng(seed)
    model = draw_induction(rng, num_layers, use_positions)
    means = [np.zeros_like(part) for part in model]
    squares = [np.zeros_like(part) for part in model]
    for step in range(steps):
        batch = repeated_sequences(rng, BATCH, **sequences)
        loss, gradients = induction_gradient(model, batch)
        if watch:
            watch(step, loss, model)
        rate = RATE * (1 - step / steps)
        parts = []
        for part, gradient, mean, square in zip(
            model, gradients, means, squares, strict=True
        ):
            mean += (1 - FORGET) * (gradient - mean)
            square += (1 - FORGET_SQUARE) * (gradient**2 - square)
            along = mean / (1 - FORGET ** (step + 1))
            size = np.sqrt(square / (1 - FORGET_SQUARE ** (step + 1))) + TINY
            parts.append(part - rate * along / size)
        if not use_positions:
            parts[1] = model.positions
        model = InductionModel(*parts)
    if watch:
        watch(steps, None, model)
    return model


def induction_gradient(model, sequences):
    """Work out the loss and how it changes with each weight.

    -> the mean of -log p(next token) over the places where it can be known, and an
    InductionModel of derivatives.
    """
    tokens, targets, known = sequences
    read, queries, keys, values = [], [], [], []
    stream, places = model.embedding[tokens], model.positions[: tokens.shape[-1]]
    run = run_induction(model, tokens)
    for (w_q, w_k, w_v, w_o), pattern in zip(model.layers, run.patterns, strict=True):
        read.append(stream)
        queries.append((stream + places) @ w_q)
        keys.append((stream + places) @ w_k)
        values.append(stream @ w_v)
        stream = stream + pattern @ values[-1] @ w_o
    p = softmax(run.logits)
    hit = targets[..., None] == np.arange(p.shape[-1])
    loss = -np.log(p[hit & known[..., None]]).mean()
    grad = np.where(known[..., None], p - hit, 0) / known.sum()
    unembedding = rows(stream).T @ rows(grad)
    grad = grad @ model.unembedding.T  # by the stream, and now back through the layers
    positions, layers = np.zeros_like(model.positions), np.zeros_like(model.layers)
    for i in reversed(range(len(layers))):
        w_q, w_k, w_v, w_o = model.layers[i]
        layers[i, 3] = rows(run.patterns[i] @ values[i]).T @ rows(grad)
        by = attention_backward(
            grad @ w_o.T, queries[i], keys[i], values[i], is_causal=True
        )
        placed = rows(read[i] + places).T
        layers[i, 0] = placed @ rows(by.query)
        layers[i, 1] = placed @ rows(by.key)
        layers[i, 2] = rows(read[i]).T @ rows(by.value)
        to_places = by.query @ w_q.T + by.key @ w_k.T
        positions[: len(places)] += to_places.sum(axis=0)
        grad = grad + to_places + by.value @ w_v.T
    embedding = np.zeros_like(model.embedding)
    np.add.at(embedding, tokens, grad)
    return loss, InductionModel(embedding, positions, layers, unembedding)


def rows(x):
    """Lay the tokens of all sequences below one another: (..., D) -> (m, D)."""
    return x.reshape(-1, x.shape[-1])


def differing_weights(one, other):
    """Name each weight that differs between two models once both are rounded to 1/64.

    -> [(name, its value in one, its value in other)], a name like layers[0, 2, 3, 15].
    """
    steps = weight_steps(one), weight_steps(other)
    names = (
        f"{field}[{', '.join(map(str, index))}]"
        for field, part in zip(one._fields, one, strict=True)
        for index in np.ndindex(part.shape)
    )
    return [
        (name, a * WEIGHT_STEP, b * WEIGHT_STEP)
        for name, a, b in zip(names, *(s.tolist() for s in steps), strict=True)
        if a != b
    ]


def retrain(steps=400, file=None):
    """Train the shipped model again; say how far it is, and whether the bytes agree.

    -> True when they do. The progress goes to `file`, standard error unless given.
    """
    file = sys.stderr if file is None else file

    def tell(step, loss, model):
        if step % 25 == 0 and loss is not None:
            line = f"step {step} of {steps}, loss {loss:.3f} "
            print(line, end="\r" if file.isatty() else "\n", file=file, flush=True)

    different = differing_weights(INDUCTION, train_induction(steps, watch=tell))
    total = sum(part.size for part in INDUCTION)
    if not different:
        print(f"All {total:,} weights are those of INDUCTION, to the byte.")
        return True
    print(f"{len(different):,} of {total:,} weights differ, the first of them:")
    for name, shipped, trained in different[:5]:
        print(f"{name}: shipped {shipped}, trained {trained}")
    return False
