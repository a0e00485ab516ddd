"""Every case in data/more-cases.json is answered right: caches, sinks, merges, counts, masks.

Each came from a public report. Where it lists a wrong answer, that answer is not given.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from attention import (
    Partial,
    Transformer,
    attention_flops,
    attention_weights,
    causal_mask,
    count_parameters,
    entropy,
    matrix_flops,
    merge_partials,
    partial_attention,
    scaled_dot_product_attention,
    softmax,
    visible_pairs,
)

FILE = Path(__file__).with_name("data") / "more-cases.json"
CASES = {case["id"]: case for case in json.loads(FILE.read_text("utf-8"))}


def number(value):
    """Numbers from JSON, where "NaN" and "-Infinity" are words."""
    return np.array(value, dtype=float)


def mask(given):
    """The arguments by which a case hides keys."""
    if "bias" in given:
        return {"attn_mask": number(given["bias"])}
    if "mask_keep" in given:
        return {"attn_mask": np.array(given["mask_keep"])}
    if "past_length" in given:
        size = len(given["Q"]), len(given["K"])
        return {"attn_mask": causal_mask(*size, offset=given["past_length"])}
    return {"is_causal": given.get("causal", False)}


def by_attention(given, attend):
    arrays = [number(given[name]) for name in ("Q", "K", "V")]
    options = mask(given) | {"scale": given.get("scale")}
    output = attend(*arrays, **options)
    if "parts" in given:
        assert np.allclose(merged(arrays, options, given["parts"]), output, 1e-12, 1e-12)
    weights = attention_weights(*arrays[:2], **options)
    return {"output": output, "published_output": output, "weights": weights}


def merged(arrays, options, parts):
    query, key, value = arrays
    keep = options["attn_mask"]
    return merge_partials(
        partial_attention(query, key[i:j], value[i:j], keep[:, i:j], first_key=i) for i, j in parts
    ).output


def by_sink(given, _):
    query, key, value = (number(given[name]) for name in ("Q", "K", "V"))
    part = partial_attention(query, key, value, scale=given["scale"])
    shape = part.maximum.shape
    sink = Partial(np.full(shape, given["sink"]), np.ones(shape), 0 * part.output)
    whole = merge_partials([part, sink])
    share = partial_attention(query, key, np.eye(len(key)), scale=given["scale"])
    weights = merge_partials([share, Partial(sink.maximum, sink.sum, 0 * share.output)])
    return {
        "output": whole.output,
        "weights": weights.output,
        "log_sum_exp": whole.maximum + np.log(whole.sum),
    }


def by_softmax(given, _):
    weights = softmax(number(given["scores"]))
    with np.errstate(divide="ignore"):
        logs = np.log(weights[0])
    return {
        "weights": weights,
        "log_weights_row_0": logs,
        "published_log_weights_row_0": logs.round(4),
    }


def by_entropy(given, _):
    return {"bits": entropy(number(given["p"]))}


def by_causal_mask(given, _):
    size, offset = (given["L"], given["S"]), given["S"] - given["L"]
    return {
        "top_left": causal_mask(*size),
        "bottom_right": causal_mask(*size, offset=offset),
        "pairs": [visible_pairs(*size), visible_pairs(*size, offset=offset)],
    }


def by_count(given, _):
    model = Transformer(**given["model"])
    count = count_parameters(model)
    total = count["total"]
    without = {"qk_norm": False, "qkv_bias": False}
    return {
        "total": total,
        "matrices_of_the_layers": model.L * 12 * model.D**2,
        "sum_over_the_file": total + model.vocabulary * model.D,
        "without_the_norms_of_queries_and_keys": totals(model, **without),
        "without_biases": totals(model, **without),
        "with_bias_on_O_too": totals(model, qkv_bias=False, attention_bias=True),
    }


def totals(model, **changed):
    return count_parameters(model._replace(**changed))["total"]


def by_flops(given, _):
    n, D, H, L = (given[name] for name in ("n", "D", "H", "L"))
    matrices, scores = matrix_flops(n, D, H, gated=given["gated"]), attention_flops(n, D)
    head = 2 * n * D * given["vocabulary"]
    # Four sequences, forward and backward: twelve times the work of one forward pass.
    published = np.array([12 * (L * matrices + head), 12 * L * scores]) / 1e12
    return {
        "matrices_of_a_layer": matrices,
        "attention_of_a_layer": scores,
        "published_TFLOP": published.round(2),
    }


OPERATIONS = {
    "attention": by_attention,
    "attention_bias": by_attention,
    "attention_sink": by_sink,
    "softmax": by_softmax,
    "entropy": by_entropy,
    "causal_keep": by_causal_mask,
    "count_parameters": by_count,
    "flops": by_flops,
}
REFUSED = [name for name, case in CASES.items() if case["input"]["op"] == "must_raise"]
ANSWERED = [name for name in CASES if name not in REFUSED]


def test_none_is_left_out_silently():
    assert len(CASES) == 31
    assert len(ANSWERED) == 29


@pytest.mark.parametrize("name", ANSWERED)
def test_case(name, attend):
    case = CASES[name]
    answers = OPERATIONS[case["input"]["op"]](case["input"], attend)
    for key, value in case["expected"]["right"].items():
        limit = 1.1e-4 if key.startswith("published") else 1e-9  # they are rounded
        given, right = np.asarray(answers[key], float), number(value)
        assert given.shape == right.shape, key
        assert np.allclose(given, right, rtol=limit, atol=limit), key
    for key, value in case["expected"].get("wrong", {}).items():
        if not isinstance(value, str):  # else words: the error that a wrong program raises
            assert not same(answered(key, answers), value), key


def answered(key, answers):
    """The answer that a wrong one stands for, by its name."""
    for name, part in (("log_weights", "weights"), ("total", "total"), ("bits", "bits")):
        if key.startswith(name):
            return answers[part][1] if key == "log_weights_row_1" else answers[part]
    if key.startswith("matrices"):
        return answers["matrices_of_a_layer"]
    return answers["output"][0] if "row" in key else answers["output"]


def same(given, value):
    """Is this what a wrong program gives, or one of several such answers?"""
    if isinstance(value, list) and value[0] == "NaN" and len(value) > 1:
        return any(same(given, one) for one in value)
    wrong = number(value)
    return np.allclose(given, np.resize(wrong, np.shape(given)), equal_nan=True)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_answered_is_refused(name, attend):
    given = CASES[name]["input"]
    assert CASES[name]["expected"]["right"] == {"must_raise": "ValueError"}
    arrays = [number(given[key]) for key in ("Q", "K", "V")]
    with pytest.raises(ValueError, match="broadcast"):
        attend(*arrays, **mask(given))
    with pytest.raises(ValueError, match="broadcast"):
        scaled_dot_product_attention(*arrays, **mask(given))
