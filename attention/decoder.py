"""A whole decoder: embedding, positions, blocks, last norm and head."""

import numpy as np

from .arguments import check_unmasked
from .blocks import apply_norm, transformer_block
from .counting import head_width
from .heads import KeyValueCache, linear


def draw_decoder(rng, model):
    """Draw the parameters of a decoder of the sizes in a Transformer, untrained.

    -> a dict: embedding (vocabulary, D); positions (n, D) if the model learns them;
    blocks, a list of dicts for transformer_block; w_norm and perhaps b_norm, (D,), if
    it has an outer norm; w_head (D, vocabulary) if its head is its own. Together they
    are as many numbers as count_parameters counts.
    Numbers come from a normal of mean 0 and variance 1 over how many are added up;
    norms start as 1, biases as 0.

    Raises ValueError when the model has what no decoder has: token types, a pooler, or
    more than one outer norm; and what count_parameters raises about sizes.
    """
    m = model
    if m.token_types or m.pooler or m.outer_norms not in (0, 1):
        raise ValueError(
            "a decoder has no token types, no pooler, and one outer norm at most: "
            f"token_types {m.token_types}, pooler {m.pooler}, "
            f"outer_norms {m.outer_norms}"
        )

    def matrix(n_in, n_out):
        return rng.standard_normal((n_in, n_out)) / np.sqrt(n_in)

    def table(rows):
        return rng.standard_normal((rows, m.D)) / np.sqrt(m.D)

    parameters = {"embedding": table(m.vocabulary)}
    if m.positions:
        parameters["positions"] = table(m.positions)
    parameters["blocks"] = [draw_block(matrix, m) for _ in range(m.L)]
    if m.outer_norms:
        parameters |= new_norm("norm", m.D, m.norm_bias)
    if m.untied_head:
        parameters["w_head"] = matrix(m.D, m.vocabulary)
    return parameters


def draw_block(matrix, m):
    """Draw the parameters of one block; `matrix` draws one of its matrices."""
    d_k = head_width(m.D, m.h) if m.d_k is None else m.d_k
    width, kv_width = m.h * d_k, (m.kv_heads or m.h) * d_k
    block = {
        "w_q": matrix(m.D, width),
        "w_k": matrix(m.D, kv_width),
        "w_v": matrix(m.D, kv_width),
        "w_o": matrix(width, m.D),
        "w_up": matrix(m.D, m.H),
        "w_down": matrix(m.H, m.D),
    }
    if m.gated:
        block["w_gate"] = matrix(m.D, m.H)
    biased = ""
    if m.attention_bias or m.qkv_bias:
        biased += "q k v "
    if m.attention_bias:
        biased += "o "
    if m.feed_forward_bias:
        biased += "up down gate" if m.gated else "up down"
    for name in biased.split():
        block[f"b_{name}"] = np.zeros(block[f"w_{name}"].shape[1])
    for name in ("norm_1", "norm_2"):
        block |= new_norm(name, m.D, m.norm_bias)
    if m.qk_norm:
        block |= new_norm("q_norm", d_k, m.norm_bias)
        block |= new_norm("k_norm", d_k, m.norm_bias)
    return block


def new_norm(name, width, bias):
    """Return a norm's scales, 1, and if it has a bias its shifts, 0."""
    shifts = {f"b_{name}": np.zeros(width)} if bias else {}
    return {f"w_{name}": np.ones(width)} | shifts


def stored_parameters(parameters):
    """Count the numbers that a decoder or a block stores.

    -> an integer. An array that stands in two places, as a tied head would, counts
    once.
    """
    found, rest = {}, [parameters]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            rest.extend(part.values())
        elif isinstance(part, list | tuple):
            rest.extend(part)
        else:
            found[id(part)] = np.size(part)
    return sum(found.values())


def decoder_logits(
    tokens,
    parameters,
    num_heads,
    norm_first=True,
    caches=None,
    activation=None,
    eps=None,
):
    """Score each word of the vocabulary as the next one, after each token.

    (..., n) of integers -> (..., n, vocabulary): logits, the scores before a softmax.
    `parameters` are laid out as draw_decoder returns them. A table of positions in them
    is added to the embedding (it may be sinusoidal_positions); without one, queries and
    keys are turned by rotary_embedding. Without w_head the head is the embedding,
    transposed: one array with two uses. The rest is passed on to transformer_block.
    `caches`, a KeyValueCache for each block as new_caches returns them, hold the tokens
    so far: `tokens` are those after them, and are added.

    Raises ValueError when tokens are outside the vocabulary, more than the positions
    in the table (quoting both) or caches are not as many as blocks; TypeError when
    they are not integers; and what transformer_block raises.
    Radford et al. 2019; with rotary positions, Touvron et al. 2023.
    """
    embedding, blocks = np.asarray(parameters["embedding"]), parameters["blocks"]
    tokens = check_tokens(tokens, len(embedding))
    caches = [None] * len(blocks) if caches is None else caches
    if len(caches) != len(blocks):
        raise ValueError(f"{len(caches)} caches for {len(blocks)} blocks")
    start = len(caches[0]) if blocks and caches[0] is not None else 0
    places = np.arange(start, start + tokens.shape[-1])
    x = embedding[tokens]
    table = parameters.get("positions")
    if table is not None:
        if places.size and places[-1] >= len(table):
            raise ValueError(f"{places[-1] + 1} tokens for {len(table)} positions")
        x, places = x + np.asarray(table)[places], None
    for block, cache in zip(blocks, caches, strict=True):
        x = transformer_block(
            x,
            block,
            num_heads,
            norm_first,
            is_causal=True,
            positions=places,
            cache=cache,
            activation=activation,
            eps=eps,
        )
    if "w_norm" in parameters:
        x = apply_norm(x, parameters, "norm", eps)
    if "w_head" in parameters:
        return linear(x, parameters["w_head"], name="w_head")
    return linear(x, embedding.T, name="embedding.T")


def new_caches(parameters):
    """Return an empty KeyValueCache for each block of a decoder."""
    return [KeyValueCache() for _ in parameters["blocks"]]


def check_tokens(tokens, vocabulary):
    """Return tokens as an array of integers within the vocabulary, or say why not."""
    check_unmasked(tokens)
    tokens = np.asarray(tokens)
    if tokens.dtype.kind not in "iu":
        raise TypeError(f"tokens must be integers: {tokens.dtype}")
    if tokens.ndim < 1:
        raise ValueError(f"tokens need a dimension, [token] for one: {tokens!r}")
    outside = tokens[(tokens < 0) | (tokens >= vocabulary)]
    if outside.size:
        raise ValueError(f"token {outside[0]} is outside a vocabulary of {vocabulary}")
    return tokens
