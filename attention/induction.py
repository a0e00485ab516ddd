"""A model small enough to look into: what was said once, and is said again.

The task is induction. A sequence holds a few tokens, then a block of others that
comes again and again. From its second time on, the next token is known to whoever
finds where the current one stood before, and looks at what followed it there.
The model has layers of attention with one head each, and nothing else: no norm and no
feed-forward part.
"""

import base64
from typing import NamedTuple

import numpy as np

from .arguments import check_number
from .core import attention_weights
from .weights import INDUCTION_WEIGHTS

WEIGHT_STEP = 1 / 64  # the shipped weights are whole numbers of these
READS = ("query", "key", "value", "output")  # what may read the layers before it


class Sequences(NamedTuple):
    """Tokens, those that follow them, and which of these can be known: (count, n)."""

    tokens: np.ndarray
    targets: np.ndarray
    known: np.ndarray


class InductionModel(NamedTuple):
    """Everything that is learned.

    `embedding` (V, D) has a row for each token and `positions` (n, D) one for each
    place, counted from 0. `layers` (L, 4, D, D) holds w_q, w_k, w_v and w_o of each
    layer, `unembedding` (D, V) turns what comes out into scores of the next token.
    """

    embedding: np.ndarray
    positions: np.ndarray
    layers: np.ndarray
    unembedding: np.ndarray


class InductionRun(NamedTuple):
    """What a model gives: `logits` (..., n, V), and for each layer its pattern.

    A pattern (..., n, n) has the weights of a head, a row for each place that looks.
    """

    logits: np.ndarray
    patterns: tuple[np.ndarray, ...]


def repeated_sequences(
    rng, count, length=24, vocabulary=20, free=(0, 6), period=(4, 12)
):
    """Draw sequences of free tokens and then a block that is repeated to the end.

    -> Sequences(tokens, targets, known), each (count, length): targets are the next
    tokens, known says where they follow from what stands before. `free` and `period`
    are the fewest and the most free tokens, and tokens of the block. Within one
    sequence all of them are distinct. `rng` is a numpy Generator.

    Raises ValueError when the vocabulary has too few tokens to be distinct.
    """
    if vocabulary < free[1] + period[1]:
        raise ValueError(
            f"{free[1]} free tokens and {period[1]} of a block need as many different "
            f"ones: vocabulary {vocabulary}"
        )
    before = rng.integers(free[0], free[1] + 1, (count, 1))
    block = rng.integers(period[0], period[1] + 1, (count, 1))
    shuffled = rng.random((count, vocabulary)).argsort(axis=-1)
    places = np.arange(length + 1)
    first = before + (places - before) % block
    which = np.where(places < before + block, places, first)
    tokens = np.take_along_axis(shuffled, which, axis=-1)
    known = places[1:] > before + block
    return Sequences(tokens[:, :-1], tokens[:, 1:], known)


def run_induction(model, tokens, patterns=(), reads=READS):
    """Predict the token that follows each: (..., n) -> InductionRun.

    A layer reads x, the sum of the embedding and of what the layers before it gave:
    q = (x + positions) w_q, k = (x + positions) w_k, v = x w_v, and it gives
    (weights v) w_o.
    To take the model apart: `patterns` may hold for each layer weights to use in place
    of its own, or None, and they broadcast to (..., n, n); zeros switch a layer off.
    Of `reads`, what is left out does not see the layers before it but the embedding
    alone: the query, the key or the value of each layer, or the output, which is then
    the embedding and the last layer's.

    Raises ValueError when there are more tokens than positions (quoting both) or reads
    holds another word, IndexError when a token is not in the vocabulary.
    """
    if unknown := set(reads) - set(READS):
        raise ValueError(f"reads are some of {', '.join(READS)}: {min(unknown)!r}")
    tokens = np.asarray(tokens)
    n, most = tokens.shape[-1], len(model.positions)
    if n > most:
        raise ValueError(f"more tokens than positions: {n} tokens, {most} positions")
    embedded, places = model.embedding[tokens], model.positions[:n]
    stream, last, used = embedded, 0.0, []
    given = (*patterns, *[None] * (len(model.layers) - len(patterns)))
    for (w_q, w_k, w_v, w_o), pattern in zip(model.layers, given, strict=True):
        query, key, value, _ = (stream if read in reads else embedded for read in READS)
        if pattern is None:
            query, key = (query + places) @ w_q, (key + places) @ w_k
            pattern = attention_weights(query, key, is_causal=True)
        last = pattern @ (value @ w_v) @ w_o
        stream = stream + last
        used.append(np.broadcast_to(pattern, (*tokens.shape, n)))
    if "output" not in reads:
        stream = embedded + last
    return InductionRun(stream @ model.unembedding, tuple(used))


def induction_accuracy(model, sequences, **options):
    """Tell how many of the tokens that can be known the model finds, as a share of 1.

    What it gives the highest score counts; the options are those of run_induction.
    """
    logits = run_induction(model, sequences.tokens, **options).logits
    right = logits.argmax(axis=-1) == sequences.targets
    return right[sequences.known].mean()


def previous_token_score(pattern, where=None):
    """Measure how much a head looks at the token just before: (..., n, n) -> a number.

    It is the mean of those weights over all places but the first, or over those where
    `where`, which broadcasts to (..., n), is True.
    """
    weights = np.diagonal(pattern, -1, axis1=-2, axis2=-1)
    if where is None:
        return weights.mean()
    return weights[np.broadcast_to(where, pattern.shape[:-1])[..., 1:]].mean()


def induction_score(pattern, tokens, where):
    """Measure how much a head looks at what followed the current token before.

    (..., n, n), (..., n), and booleans that broadcast to (..., n) -> a number: the
    weight of all places that come directly after an earlier place with the same token,
    in the mean over the places where `where` is True.
    Olsson et al. 2022, who call it prefix matching.
    """
    weights = (pattern * follows_the_same(tokens)).sum(axis=-1)
    return weights[np.broadcast_to(where, weights.shape)].mean()


def follows_the_same(tokens):
    """Tell for each place which places come directly after an earlier same token.

    (..., n) -> (..., n, n) of booleans.
    """
    tokens = np.asarray(tokens)
    same = np.zeros((*tokens.shape, tokens.shape[-1]), dtype=bool)
    same[..., 1:] = tokens[..., :, None] == tokens[..., None, :-1]
    return np.tril(same)


def exact_induction(tokens):
    """Give the pattern of a perfect induction head: (..., n) -> (..., n, n).

    Equal weights on follows_the_same; a place with no such place looks at itself.
    """
    same = follows_the_same(tokens).astype(float)
    alone = same.sum(axis=-1, keepdims=True) == 0
    same = np.where(alone, np.eye(same.shape[-1]), same)
    return same / same.sum(axis=-1, keepdims=True)


def copying_circuit(model, layer=-1):
    """Say what a layer makes of each token that it looks at: (V, V) of logits.

    Row t has what looking at token t adds to the score of each next token.
    Elhage et al. 2021, who call it the OV circuit.
    """
    _, _, w_v, w_o = model.layers[layer]
    return model.embedding @ w_v @ w_o @ model.unembedding


def induction_by_hand(length=24, vocabulary=20, sharpness=8.0, skip_itself=True):
    """Write the circuit down, without training: -> InductionModel of two layers.

    A vector has room for three things side by side: its token, the token before it, and
    its place. Layer 0 looks one place back and notes the token there. Layer 1 looks for
    places that have noted the current token, and copies the token that stands there.
    With `skip_itself` it looks less at places that hold the current token themselves:
    else the first place, which has nobody before it, notes itself.
    `sharpness` is the score, after scaling, of what is looked for; all others have 0.
    """
    length = check_number("length", length, at_least=1)
    vocabulary = check_number("vocabulary", vocabulary, at_least=1)
    width = 2 * vocabulary + length
    token, before, place = np.split(np.eye(width), [vocabulary, 2 * vocabulary])
    sharp = sharpness * np.sqrt(width)
    look_back = sharp * place[1:].T @ place[:-1]
    layers = np.array(
        [
            [look_back, place[:-1].T @ place[:-1], token.T @ before, before.T @ before],
            [
                sharp * token.T @ token,
                before.T @ token - skip_itself * token.T @ token,
                token.T @ token,
                2 * token.T @ token,  # it must outdo the token that is there anyway
            ],
        ]
    )
    return InductionModel(token, place, layers, token.T)


def model_shapes(num_layers, d, length, vocabulary):
    """Give the shapes of the parts of an InductionModel, in their order."""
    return (vocabulary, d), (length, d), (num_layers, 4, d, d), (d, vocabulary)


def model_from_text(text, num_layers=2, d=16, length=24, vocabulary=20):
    """Read the weights of a model from text in base64, one signed byte a weight."""
    steps = np.frombuffer(base64.b64decode(text), dtype=np.int8)
    shapes = model_shapes(num_layers, d, length, vocabulary)
    ends = np.cumsum([np.prod(shape) for shape in shapes])[:-1]
    parts = np.split(steps * WEIGHT_STEP, ends)
    for part in parts:
        part.setflags(write=False)
    return InductionModel(
        *(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
    )


def weight_steps(model):
    """Round each weight to whole steps of 1/64: -> integers, in the text's order."""
    weights = np.concatenate([np.ravel(part) for part in model])
    return np.rint(weights / WEIGHT_STEP).astype(int)


def model_to_text(model):
    """Write a model, rounded, as the text that model_from_text reads.

    Raises ValueError when a weight does not fit into a byte (quoting it).
    """
    steps = weight_steps(model)
    if abs(steps).max() > 127:
        largest = steps[abs(steps).argmax()] * WEIGHT_STEP
        raise ValueError(f"a weight does not fit into a byte: {largest}")
    return base64.b64encode(steps.astype(np.int8).tobytes()).decode()


INDUCTION = model_from_text(INDUCTION_WEIGHTS)
