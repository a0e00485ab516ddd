"""Every case in data/attention-cases.json that concerns the package is answered right.

Each came from a public bug report or erratum; where it lists a wrong answer, that
answer is shown not to be given.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from attention import (
    GPT2_SMALL,
    MASK,
    Transformer,
    alibi_slopes,
    attention_flops,
    attention_parameters,
    attention_scores,
    attention_weights,
    causal_mask,
    count_parameters,
    crossover_length,
    embedding_parameters,
    entropy,
    feed_forward_parameters,
    layer_flops,
    layer_norm,
    linear_parameters,
    merge_heads,
    multi_head_attention,
    norm_parameters,
    rotary_embedding,
    scaled_dot_product_attention,
    score_bytes,
    softmax,
    split_heads,
)

DATA = Path(__file__).parents[1] / "docs" / "bug-clinic.json"
CASES = {case["id"]: case for case in json.loads(DATA.read_text(encoding="utf-8"))}

NOT_HERE = {
    "softcap-before-mask": "the package caps no scores",
    "softcap-tanh-overflow": "the package caps no scores",
    "softmax-row-sum-not-exact": "about Python's sum alone; tests here allow rounding",
    "temperature-zero": "there is no temperature; `scale` is a factor",
    "temperature-negative": "there is no temperature; `scale` may be negative",
    "heads-mask-repeat-order": "about numpy's tile and repeat; masks here broadcast",
    "dropout-sum-above-one": "the package drops nothing out",
    "dropout-before-softmax-nan": "the package drops nothing out",
}
HERE = [name for name in CASES if name not in NOT_HERE]


def test_none_is_left_out_silently():
    assert len(CASES) == 97
    assert CASES.keys() == set(HERE) | NOT_HERE.keys()
    assert len(HERE) == 89


@pytest.mark.parametrize("name", HERE)
def test_case(name, attend, monkeypatch):
    monkeypatch.setattr(f"{__name__}.scaled_dot_product_attention", attend)
    expected = dict(CASES[name]["expected"])
    right = expected.pop("right")
    wrong = expected.pop("wrong", {})
    answers = answer(name)
    for key, value in (right | expected).items():
        assert same(answers[key], value), key
    for key, value in wrong.items():
        if key in ("comment", "torch"):
            continue  # words about the wrong answer, or an error that is not raised
        comparable = [a for a in answers.values() if np.shape(a) == np.shape(value)]
        assert value == "NaN" or comparable, f"nothing to compare with {key}"
        for given in answers.values() if value == "NaN" else comparable:
            assert not same(given, np.full(np.shape(given), value)), key


def same(given, value):
    if isinstance(value, str) and value.startswith("float"):
        return given == value
    given, value = np.asarray(given), np.asarray(value)
    if value.size == 0:
        return given.size == 0
    if value.dtype.kind in "bi":
        return np.array_equal(given, value)
    return given.shape == value.shape and np.allclose(
        given, value.astype(float), rtol=1e-12, atol=1e-12, equal_nan=True
    )


def answer(name):
    """Answer a case with the package: a dict with at least the keys of `right`."""
    given = CASES[name]["input"]
    special = SPECIAL.get(name) or SPECIAL.get(given["op"])
    return special(given)


def arrays(given):
    """Return Q, K, V; strings such as "NaN" become numbers, [] keeps two dimensions."""

    def array(name, width):
        a = np.array(given[name])
        a = a.astype(float) if a.dtype.kind == "U" else a
        return a if a.size else a.reshape(0, width)

    width = len((given["K"] or given["Q"])[0])
    return array("Q", width), array("K", width), array("V", given.get("d_v"))


def masks(given):
    if "bias" in given:
        keep = np.array(given["mask_keep"])
        return {"attn_mask": np.where(keep, given["bias"], -np.inf)}
    if "mask_keep" in given:
        return {"attn_mask": np.array(given["mask_keep"])}
    return {"is_causal": given.get("causal", False)}


def attention(given):
    query, key, value = arrays(given)
    options = masks(given) | {"scale": given.get("scale")}
    output = scaled_dot_product_attention(query, key, value, **options)
    return {
        "scores": attention_scores(query, key, scale=given.get("scale")),
        "weights": attention_weights(query, key, **options),
        "output": output,
        "shape": output.shape,
        "last row": output[-1:].ravel(),
    }


def fully_masked_row(given):
    answers = attention(given)
    return answers | {"row": answers["weights"][1]}


def right_padding(given):
    query, key, value = arrays(given)
    causal = scaled_dot_product_attention(query, key, value, is_causal=True)
    mask = causal_mask(3, 3) & [True, True, False]
    padded = scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return {
        "rows_0_and_1_causal_only": causal[:2],
        "rows_0_and_1_causal_and_padding": padded[:2],
        "row_2_causal_only": causal[2],
        "row_2_causal_and_padding": padded[2],
    }


def causality(given):
    before = attention(CASES["mask-causal-silently-dropped"]["input"])["output"]
    after = attention(given)["output"]
    assert before[:2].tobytes() == after[:2].tobytes()
    return {
        "rows_0_1_before": before[:2],
        "rows_0_1_after": after[:2],
        "row_2_after": after[2],
    }


def decode(given):
    query, key, value = arrays(given)
    last = causal_mask(1, 3, offset=2)
    return {
        "top_left_output": attention(given)["output"],
        "bottom_right_output": scaled_dot_product_attention(query, key, value, last),
    }


def fourth_root(given):
    query, key, _ = arrays(given)
    root = query.shape[-1] ** -0.25
    return attention(given) | {
        "fourth_root_weights": attention_weights(query * root, key * root, scale=1)
    }


def key_bias(given):
    query, key, _ = arrays(given)
    _, plain, _ = arrays(CASES["values-not-keys"]["input"])
    bias = key[0] - plain[0]
    return attention(given) | {"query_bias_weights": attention_weights(query + bias, plain)}


def permuted(given):
    back = np.argsort(given["permutation"])
    query, key, value = (a[back] for a in arrays(given))
    original = scaled_dot_product_attention(query, key, value)
    return attention(given) | {"original_output_permuted": original[given["permutation"]]}


def direction(given):
    query, key, _ = arrays(given)
    unit = key / np.linalg.norm(key, axis=-1, keepdims=True)
    cosines = attention_scores(query / np.linalg.norm(query), unit, scale=1)
    return attention(given) | {"cosines": cosines[0]}


def raschka(given):
    answers = attention(given)
    weights, output = answers["weights"][1], answers["output"][1]
    return {
        "row_1_weights": weights,
        "row_1_output": output,
        "published_weights": weights.round(4),
        "published_output": output.round(4),
    }


def prince(given):
    output = attention(given)["output"]
    return {"output": output, "published_output": output.round(8)}


def hidden_row(given):
    key, value = np.array(given["scores"])[:, None], np.array([[1.0], [2.0], [3.0]])
    hidden = np.zeros((1, 3), dtype=bool)
    for mask in (hidden, np.full((1, 3), -np.inf)):
        output = scaled_dot_product_attention([[1.0]], key, value, mask, scale=1)
        weights = attention_weights([[1.0]], key, mask, scale=1)
    return {"zero_convention_output": output[0], "weights": weights[0]}


def filled(given):
    return {"weights": softmax(given["scores"], mask=np.array(given["keep"], bool))}


def added(given):
    key = np.array(given["scores"])[:, None]
    mask = np.array(given["additive"], dtype=float)[None]
    return {"weights": attention_weights([[1.0]], key, mask, scale=1)[0]}


def causal_keep(given):
    n_queries, n_keys = given["L"], given["S"]
    top_left = causal_mask(n_queries, n_keys)
    return {
        "keep": top_left,
        "top_left": top_left,
        "bottom_right": causal_mask(n_queries, n_keys, offset=n_keys - n_queries),
    }


def score_matrix(given):
    weights = softmax(given["S"], mask=causal_mask(4, 4))
    before = softmax(MASK.scores, mask=causal_mask(4, 4))
    assert before[0].tobytes() == weights[0].tobytes()
    return {"weights": weights, "row_sums": weights.sum(axis=-1), "row0": weights[0]}


def query_rows(given):
    keep = np.array(given["query_keep"])[:, None]
    return {"weights": softmax(MASK.scores, mask=causal_mask(4, 4) & keep)}


def batch_head(given):
    zeros = np.zeros((given["B"], given["H"], 2, 1))
    mask = np.array(given["mask_keep"])[:, None]
    return {"weights_bhls": attention_weights(zeros, zeros, mask)}


def half_precision(given):
    row = np.full((1, given["d"]), given["value"])
    half = attention_scores(row.astype("float16"), row.astype("float16"))
    assert half.dtype == "float16"
    return {
        "raw_dot": attention_scores(row, row, scale=1)[0, 0],
        "scaled_first_float16": half[0, 0],
    }


def multiples(given):
    query = np.outer(given["multiples"], given["q"])
    weights = attention_weights(query, given["K"])
    return {"weights": weights, "entropy_bits": entropy(weights)}


def plain_softmax(given):
    return {"weights": softmax(given["scores"])}


def softmax_one(given):
    return {"weights": softmax([*given["scores"], 0.0])[:-1]}


def matrix_softmax(given):
    weights = softmax(given["S"])
    return {"weights": weights, "row_sums": weights.sum(axis=-1)}


def spread(given):
    bits = entropy(given["p"])
    assert not np.signbit(bits)
    return {
        "bits": bits,
        "nats": bits * np.log(2),
        "effective_keys": 2**bits,
        "normalised": bits / np.log2(len(given["p"])),
    }


def spread_rows(given):
    most = [entropy(np.full(n, 1 / n)) for n in range(1, len(given["W"]) + 1)]
    return {"bits": entropy(given["W"]), "max_bits": most}


def heads_split(given):
    return {"heads": split_heads(given["X"], given["h"])}


def heads_merged(given):
    return {"X": merge_heads(given["heads"])}


def without_projection(given):
    query, key, value = (split_heads(a, given["h"]) for a in arrays(given))
    return {"output": merge_heads(scaled_dot_product_attention(query, key, value))}


def grouped(given):
    query = np.array(given["q_heads"])[:, None]
    index = np.repeat([0, 1], 2)
    key, value = np.array(given["k_heads"])[index], np.array(given["v_heads"])[index]
    output = scaled_dot_product_attention(query, key, value)
    return {"kv_index": index, "outputs": output.ravel()}


def slopes(given):
    return {f"n{h}": alibi_slopes(h) for h in given["heads"]}


def rotary(given):
    x, position = given["x"], given["pos"]
    assert [1, 10000.0 ** (-2 / len(x))] == given["theta"]
    return {
        "interleaved": rotary_embedding(x, position, interleaved=True),
        "half": rotary_embedding(x, position),
    }


def rotary_distance(given):
    def scores(interleaved):
        return [
            rotary_embedding(given["q"], m, interleaved=interleaved)
            @ rotary_embedding(given["k"], n, interleaved=interleaved)
            for m, n in given["pairs"]
        ]

    return {"interleaved": scores(True), "half": scores(False)}


def rotary_layouts(given):
    query, key, positions = (np.array(given[name]) for name in ("q", "k", "pos"))
    order = [0, 2, 1, 3]  # in which halves meet whom neighbours met
    tiled = np.tile(query, (len(positions), 1))
    return {
        "scores": rotary_embedding(tiled, positions, interleaved=True) @ key,
        "reordered": rotary_embedding(tiled[:, order], positions) @ key[order],
    }


def rotary_cache(given):
    positions = np.array(given["pos"])
    keys = np.tile(given["pair"], (len(positions), 1))
    turned = rotary_embedding(keys, positions)
    return {"scores": attention_scores(turned[-1:], turned, scale=1)}


def output_projection(given):
    x, stored = np.array(given["x"]), np.array(given["stored"])
    alone, same = x[:, None], np.eye(x.shape[-1])  # texts of one token, which sees itself
    return {"output": multi_head_attention(alone, same, same, same, stored.T, 1)[:, 0]}


def normed(given):
    return {"normed": layer_norm(given["x"], eps=given["eps"])}


def spread_of_visible(given):
    return {"bits": entropy(softmax(given["scores"], mask=np.array(given["keep"])))}


def saturated(given):
    scores = np.array(given["scores"])
    return {
        "weights_sqrt_d": softmax(scores / np.sqrt(given["d"])),
        "weights_no_scale": softmax(scores),
    }


def promotion(given):
    query, key = (np.ones((1, 2), dtype=given[name]) for name in "qk")
    return {"result_dtype": scaled_dot_product_attention(query, key, key).dtype.name}


def zero_width(given):
    query, key = np.zeros((given["L"], 0)), np.zeros((given["S"], 0))
    return {"output": scaled_dot_product_attention(query, key, given["V"])}


def heads_do_not_count(given):
    D, bias = given["D"], given["bias"]
    (count,) = {attention_parameters(D, h, bias=bias) for h in given["heads"]}
    return {"count": count}


def one_layer(given):
    D = given["D"]
    rest = feed_forward_parameters(D, given["H"]) + 2 * norm_parameters(D)
    return {
        "no_attention_bias": attention_parameters(D) + rest,
        "with_attention_bias": attention_parameters(D, bias=True) + rest,
    }


def three_projections(given):
    return {"count": 3 * given["h"] * linear_parameters(given["D"], given["D"] // given["h"])}


def gpt2_model(V, T, d, n):
    return GPT2_SMALL.model._replace(vocabulary=V, positions=T, D=d, L=n, H=4 * d)


def total(model):
    return count_parameters(model)["total"]


def gpt2(given):
    model = gpt2_model(*(given[name] for name in "VTdn"))
    return {
        "tied": total(model),
        "untied": total(model._replace(untied_head=True)),
        "minus_positions": total(model._replace(positions=0)),
    }


def gpt2_family(given):
    # The number of heads does not count, but must divide D.
    return {"counts": [total(gpt2_model(*row)._replace(h=1)) for row in given["rows"]]}


def gpt2_without_biases(given):
    answers, d = gpt2(given), given["d"]
    bias = linear_parameters(d, d, bias=True) - linear_parameters(d, d)
    less = 3 * given["n"] * bias
    return {
        "tied": answers["tied"] - less,
        "untied": answers["untied"] - less,
        "difference": less,
    }


def modded(given):
    V, d, n = (given[name] for name in "Vdn")
    layer = attention_parameters(d) + feed_forward_parameters(d, 4 * d, bias=False)
    scalars = 3  # each layer of that model learns three numbers besides
    return {"count": n * (layer + scalars) + embedding_parameters(V, d) + linear_parameters(d, V)}


def tied(given):
    V, sizes = given["V"], {name: given[name] for name in "DLhH"}
    bare = {"gated": True, "feed_forward_bias": False, "norm_bias": False}
    return {"count": total(Transformer(vocabulary=V, outer_norms=1, **sizes, **bare))}


def paper_table_3(given):
    V = given["V"]
    counts, intervals = [], []
    for D, H, N, h, d_k, d_v, millions in given["rows_d_ff_N_h_dk_dv_paperM"]:
        attention = attention_parameters(D, h, d_k=d_k, d_v=d_v)
        rest = N * (3 * attention + 2 * feed_forward_parameters(D, H) + 5 * norm_parameters(D))
        counts.append(rest + embedding_parameters(V, D))
        low, high = (millions - 0.5) * 1e6, (millions + 0.5) * 1e6
        intervals.append([(low - rest) / D, (high - rest) / D])
    lows, highs = zip(*intervals[:-1], strict=True)
    return {
        "counts_V37000": counts,
        "vocab_interval_per_row": intervals,
        "base_family_intersection": [max(lows), min(highs)],
        "big_interval": intervals[-1],
    }


def flops(given):
    D, lengths = given["D"], given["n"]
    layer = [layer_flops(n, D) for n in lengths]
    return {
        "layer_flops": layer,
        "attention_share": [
            attention_flops(n, D) / work for n, work in zip(lengths, layer, strict=True)
        ],
        "ratio_2048_to_512": layer[2] / layer[1],
        "crossover_n": crossover_length(D),
    }


def stored_scores(given):
    count = score_bytes(given["n"], given["h"], bytes_each=given["bytes"])
    return {"bytes": count, "GiB": count / 2**30}


# By id where a case needs something of its own, by operation otherwise.
SPECIAL = {
    "mask-fully-masked-row": fully_masked_row,
    "mask-right-padding-causal": right_padding,
    "mask-causality-property": causality,
    "align-decode-one-query": decode,
    "scale-split-fourth-root": fourth_root,
    "params-key-bias-invisible": key_bias,
    "permutation-equivariance": permuted,
    "dot-product-is-not-direction": direction,
    "oracle-rasbt-ch03": raschka,
    "oracle-udl-12-1": prince,
    "alibi": slopes,
    "attention": attention,
    "attention_q_multiples": multiples,
    "attention_zero_width": zero_width,
    "additive_mask_row": hidden_row,
    "batch_head_mask": batch_head,
    "causal_keep": causal_keep,
    "dtype_promotion": promotion,
    "entropy": spread,
    "entropy_masked": spread_of_visible,
    "entropy_rows": spread_rows,
    "fill_row": filled,
    "float16_dot": half_precision,
    "flops": flops,
    "gqa": grouped,
    "layer_norm": normed,
    "mask_by_multiply": filled,
    "merge_heads": heads_merged,
    "multihead_no_projection": without_projection,
    "output_projection": output_projection,
    "params_gpt2": gpt2,
    "params_gpt2_family": gpt2_family,
    "params_gpt2_noqkv": gpt2_without_biases,
    "params_layer": one_layer,
    "params_mha": heads_do_not_count,
    "params_modded": modded,
    "params_qkv": three_projections,
    "params_table3": paper_table_3,
    "params_tied": tied,
    "row": saturated,
    "row_binary_convention": added,
    "score_bytes": stored_scores,
    "score_matrix_causal": score_matrix,
    "softmax": plain_softmax,
    "softmax1": softmax_one,
    "softmax_matrix": matrix_softmax,
    "rope": rotary,
    "rope_cache": rotary_cache,
    "rope_layouts": rotary_layouts,
    "rope_relative": rotary_distance,
    "split_heads": heads_split,
    "zero_query_rows": query_rows,
}
