"""The lesson's inputs, each written once; none of them can be written to."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from .counting import Transformer


def read_only(rows):
    """Make an array of doubles that refuses to be changed."""
    array = np.array(rows, dtype=float)
    array.setflags(write=False)
    return array


class OneQuery(NamedTuple):
    """One query, (d_k,), and the keys and values it looks at, (n, d_k)."""

    query: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    names: tuple[str, ...]
    query_name: str


class Select(NamedTuple):
    """Queries by name, each (d_k,), over keys whose dimensions have a meaning."""

    dimensions: tuple[str, ...]
    keys: np.ndarray
    key_names: tuple[str, ...]
    queries: Mapping[str, np.ndarray]
    values: np.ndarray


class Scale(NamedTuple):
    """What the scaling experiment draws, and how often."""

    seed: int
    widths: tuple[int, ...]
    n_keys: int
    trials: int


class Mask(NamedTuple):
    """Scores, (n, n), of the tokens of a sentence for one another."""

    tokens: tuple[str, ...]
    scores: np.ndarray


class Layer(NamedTuple):
    """The model whose parameters are counted, and the lengths it is tried on."""

    vocabulary: int
    D: int
    L: int
    h: int
    d_k: int
    H: int
    lengths: tuple[int, ...]


class Published(NamedTuple):
    """A model that others counted: what it is made of, their total, and where."""

    name: str
    model: Transformer
    total: int
    source: str


ONE_KEYS = read_only([[0.4, 0.5, 0.6], [0.2, 0.1, 0.3], [0.6, 0.7, 0.8]])

ONE_QUERY = OneQuery(
    query=read_only([0.1, 0.2, 0.3]),
    keys=ONE_KEYS,
    values=ONE_KEYS,  # equal to the keys, to keep the arithmetic short
    names=("is", "the", "best"),
    query_name="who",
)

SELECT = Select(
    dimensions=("animal", "vehicle", "verb"),
    keys=read_only([[0.9, 0, 0.1], [0, 0.9, 0.1], [0.1, 0, 0.9]]),
    key_names=("dog", "truck", "barked"),
    queries=MappingProxyType(
        {
            "animal": read_only([5, 0, 0]),
            "verb": read_only([0, 0, 5]),
            "undecided": read_only([2, 2, 2]),
        }
    ),
    values=read_only(np.eye(3)),
)

SCALE = Scale(seed=0, widths=(4, 16, 64, 256, 1024), n_keys=8, trials=200)

MASK = Mask(
    tokens=("the", "dog", "barked", "loudly"),
    scores=read_only(
        [[2, 1, 0.5, 1.5], [0.5, 2, 1, 0.5], [1, 0.5, 2, 1], [1.5, 1, 0.5, 2]]
    ),
)

LAYER = Layer(
    vocabulary=50_000,
    D=512,
    L=6,
    h=8,
    d_k=64,
    H=2048,
    lengths=(128, 512, 2048, 8192, 32768),
)

GPT2_SMALL = Published(
    name="GPT-2 small",
    model=Transformer(
        vocabulary=50257,
        D=768,
        L=12,
        h=12,
        H=3072,
        attention_bias=True,
        positions=1024,
        outer_norms=1,
    ),
    total=124_439_808,
    source="Radford et al. 2019; openai-community/gpt2 on Hugging Face",
)

BERT_BASE = Published(
    name="BERT-base",
    model=Transformer(
        vocabulary=30522,
        D=768,
        L=12,
        h=12,
        H=3072,
        attention_bias=True,
        positions=512,
        token_types=2,
        outer_norms=1,
        pooler=True,
    ),
    total=109_482_240,
    source="Devlin et al. 2018; google-bert/bert-base-uncased on Hugging Face",
)

LLAMA_2_7B = Published(
    name="Llama-2-7B",
    model=Transformer(
        vocabulary=32000,
        D=4096,
        L=32,
        h=32,
        H=11008,
        feed_forward_bias=False,
        gated=True,
        norm_bias=False,
        outer_norms=1,
        untied_head=True,
    ),
    total=6_738_415_616,
    source="Touvron et al. 2023; meta-llama/Llama-2-7b-hf on Hugging Face",
)

LLAMA_3_8B = Published(
    name="Llama-3-8B",
    model=Transformer(
        vocabulary=128256,
        D=4096,
        L=32,
        h=32,
        H=14336,
        kv_heads=8,
        feed_forward_bias=False,
        gated=True,
        norm_bias=False,
        outer_norms=1,
        untied_head=True,
    ),
    total=8_030_261_248,
    source="Grattafiori et al. 2024; meta-llama/Meta-Llama-3-8B on Hugging Face",
)

PUBLISHED = (GPT2_SMALL, BERT_BASE, LLAMA_2_7B, LLAMA_3_8B)


def draw_trials(rng, d_k, trials=SCALE.trials, n_keys=SCALE.n_keys):
    """Draw queries, each with its own keys, from a normal of mean 0 and variance 1.

    -> query (trials, 1, d_k) and key (trials, n_keys, d_k). One draw serves all
    trials, in the order query, keys, query, keys and so on.
    """
    draws = rng.standard_normal((trials, 1 + n_keys, d_k))
    return draws[:, :1], draws[:, 1:]
