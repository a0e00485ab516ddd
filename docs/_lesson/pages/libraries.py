"""What PyTorch, ONNX and JAX answer where libraries differ; a page shows it beside our answer.

    python docs/_lesson libraries      ask them again, and write docs/three-libraries.json

The site is built without any of them. Their answers stand in that one file, with the
versions that gave them, and tests/test_three_libraries.py asks again and compares.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attention import table

from .. import DOCS

FILE = DOCS / "three-libraries.json"


class Question(NamedTuple):
    """The arguments of attention, by name, and which function of PyTorch is asked."""

    given: dict
    torch: str = "scaled_dot_product_attention"


EYE = [[1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [[1.0], [2.0], [3.0]]
MIXED = (
    [[1.0, 2.0], [0.0, -1.0]],
    [[2.0, 0.0], [1.0, 1.0], [-1.0, 3.0]],
    [[1.0, 0.0], [0.0, 2.0], [5.0, -1.0]],
)
WHOLE = [[1, 0], [0, 1]], [[1, 0], [0, 1]], [[10, 0], [0, 10]]
SOME = [[True, False, False], [True, True, False]]
LAST_HIDDEN = [[True, True, False]]
NAN = float("nan")


def given(query, key, value, **options) -> dict:
    return {"query": query, "key": key, "value": value, **options}


QUESTIONS = {
    "a row that sees nothing": Question(
        given([[1.0, 1.0], [0.0, 1.0]], *EYE[1:], attn_mask=[[True] * 3, [False] * 3])
    ),
    "causal, one query": Question(given(*EYE, is_causal=True)),
    "causal, the last query": Question(given(*EYE, cached=2), "causal_lower_right"),
    "a boolean mask": Question(given(*MIXED, attn_mask=SOME)),
    "a boolean mask, in a layer": Question(given(*MIXED, attn_mask=SOME), "MultiheadAttention"),
    "integers": Question(given(*WHOLE)),
    "nan in a hidden key": Question(
        given(EYE[0], [[1.0, 0.0], [0.0, 1.0], [NAN, 0.0]], EYE[2], attn_mask=LAST_HIDDEN)
    ),
    "nan in a hidden value": Question(
        given(EYE[0], EYE[1], [[1.0], [2.0], [NAN]], attn_mask=LAST_HIDDEN)
    ),
}


def by_torch(question: Question):
    """PyTorch's answer; None where it has none."""
    import torch

    options = dict(question.given)
    query, key, value = (torch.tensor(options.pop(name)) for name in ("query", "key", "value"))
    if query.is_floating_point():
        query, key, value = query.double(), key.double(), value.double()
    if "attn_mask" in options:
        options["attn_mask"] = torch.tensor(options["attn_mask"])
    if question.torch == "MultiheadAttention":
        layer = torch.nn.MultiheadAttention(query.shape[-1], 1, bias=False, dtype=torch.double)
        with torch.no_grad():  # projections that change nothing
            layer.in_proj_weight[:] = torch.eye(query.shape[-1]).repeat(3, 1)
            layer.out_proj.weight[:] = torch.eye(query.shape[-1])
            return layer(query, key, value, **options)[0].numpy()
    if question.torch == "causal_lower_right":
        from torch.nn.attention.bias import causal_lower_right

        options = {"attn_mask": causal_lower_right(len(query), len(key))}
    function = torch.nn.functional.scaled_dot_product_attention
    return function(query[None, None], key[None, None], value[None, None], **options)[0, 0].numpy()


def by_onnx(question: Question):
    """The answer of ONNX's reference implementation; None where it has none."""
    import onnx
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    if question.torch == "MultiheadAttention":
        return None  # that layer is PyTorch's alone
    options = dict(question.given)
    arrays = [np.array(options.pop(name))[None, None] for name in ("query", "key", "value")]
    names = ["Q", "K", "V", "attn_mask", "past_key", "past_value"]
    inputs = dict(zip(names, arrays, strict=False))
    if "attn_mask" in options:
        inputs["attn_mask"] = np.array(options.pop("attn_mask"))
    if cached := options.pop("cached", None):
        inputs |= {"past_key": arrays[1][..., :cached, :], "past_value": arrays[2][..., :cached, :]}
        inputs |= {"K": arrays[1][..., cached:, :], "V": arrays[2][..., cached:, :]}
        options["is_causal"] = True
    used = [name if name in inputs else "" for name in names]
    while not used[-1]:
        used.pop()
    outputs = ["Y", "present_key", "present_value"][: 3 if cached else 1]
    node = helper.make_node("Attention", used, outputs, **{k: int(v) for k, v in options.items()})
    kind = {name: helper.np_dtype_to_tensor_dtype(a.dtype) for name, a in inputs.items()}
    graph = helper.make_graph(
        [node],
        "attention",
        [helper.make_tensor_value_info(name, kind[name], a.shape) for name, a in inputs.items()],
        [helper.make_tensor_value_info(name, kind["Q"], [None] * 4) for name in outputs],
    )
    model = helper.make_model(graph)
    onnx.checker.check_model(model, full_check=True)
    return ReferenceEvaluator(model).run(None, inputs)[0][0, 0]


def by_jax(question: Question):
    """JAX's answer; None where it has none."""
    import jax

    if question.torch == "MultiheadAttention":
        return None  # that layer is PyTorch's alone
    options = dict(question.given)
    with jax.enable_x64(True):
        query, key, value = (jax.numpy.array(options.pop(n)) for n in ("query", "key", "value"))
        if cached := options.pop("cached", None):  # it knows of no cache: the mask says so
            options["attn_mask"] = np.tri(len(query), len(key), cached, dtype=bool)
        # It wants values as wide as keys; and an axis for the heads behind the one for places.
        wide = jax.numpy.pad(value, ((0, 0), (0, key.shape[1] - value.shape[1])))
        mask, causal = options.pop("attn_mask", None), options.pop("is_causal", False)
        answer = jax.nn.dot_product_attention(
            *(array[:, None] for array in (query, key, wide)),
            mask=None if mask is None else jax.numpy.array(mask),
            is_causal=causal,
        )
        return np.asarray(answer)[:, 0, : value.shape[1]]


LIBRARIES: dict[str, Callable] = {"PyTorch": by_torch, "ONNX": by_onnx, "JAX": by_jax}


def ask(name: str, question: str):
    """What a library answers: rows of numbers, the name of its error, or None."""
    try:
        answer = LIBRARIES[name](QUESTIONS[question])
    except Exception as error:
        return type(error).__name__
    if answer is None:
        return None
    return [[x if math.isfinite(x) else str(x) for x in row] for row in answer.tolist()]


def ask_all() -> dict:
    """What is to stand in the file."""
    import jax
    import onnx
    import torch

    torch_version = torch.__version__.partition("+")[0]
    versions = {"PyTorch": torch_version, "ONNX": onnx.__version__, "JAX": jax.__version__}
    answers = {q: {name: ask(name, q) for name in LIBRARIES} for q in QUESTIONS}
    return {"versions": versions, "answers": answers}


def written(asked: dict) -> str:
    """The text of the file, an answer a line."""
    lines = ",\n".join(f"  {json.dumps(q)}: {json.dumps(a)}" for q, a in asked["answers"].items())
    return f'{{\n "versions": {json.dumps(asked["versions"])},\n "answers": {{\n{lines}\n }}\n}}\n'


def main() -> None:
    """Ask them again, and write what they answer. Raises ImportError where one is missing."""
    FILE.write_text(written(ask_all()), "utf-8")


def stored() -> dict:
    return json.loads(FILE.read_text("utf-8"))


def versions() -> str:
    """A table of the libraries and their versions."""
    return table(["library", "version"], [[*row] for row in stored()["versions"].items()])


def answers(question: str, ours, **inputs) -> str:
    """A table of our answer to a question and of theirs.

    Raises ValueError when `inputs` are not those that the others were given.
    """
    expected = QUESTIONS[question].given
    for name, array in inputs.items():
        pair = (np.asarray(a, dtype=float) for a in (array, expected[name]))
        if not np.array_equal(*pair, equal_nan=True):
            raise ValueError(f"{name} is not what the others were asked about {question}")
    if missing := {"query", "key", "value"} - inputs.keys():
        raise ValueError(f"not compared with what the others were given: {missing}")
    rows = {"attention": np.asarray(ours).tolist()} | stored()["answers"][question]
    return table(["library", "answer"], [[n, shown(a)] for n, a in rows.items() if a is not None])


def shown(answer) -> str:
    """(0.5, 0.25) (1.0, 0.0): an answer's rows, to four decimals."""
    if isinstance(answer, str):
        return f"refuses: {answer}"
    return " ".join("(" + ", ".join(f"{float(x):.4f}" for x in row) + ")" for row in answer)
