"""Attention in numpy, small enough to read in one sitting."""

from importlib import import_module

__version__ = "0.1.0"

RUNS = {
    "one": "one query, from scores to output",
    "select": "three queries that pick among the same keys",
    "scale": "why scores are divided by sqrt(d_k)",
    "mask": "the causal mask, before and after the softmax",
    "params": "parameters counted, and how the scores grow",
}

EXPORTS = {
    "masks": ("causal_mask",),
    "core": (
        "attention_scores",
        "attention_weights",
        "softmax",
    ),
    "measures": ("entropy",),
    "sdpa": ("scaled_dot_product_attention",),
    "blockwise": ("blockwise_attention",),
    "partials": (
        "Partial",
        "merge_partials",
        "partial_attention",
    ),
    "heads": (
        "KeyValueCache",
        "merge_heads",
        "multi_head_attention",
        "split_heads",
    ),
    "positions": (
        "alibi_slopes",
        "rotary_embedding",
        "sinusoidal_positions",
    ),
    "blocks": (
        "gelu",
        "layer_norm",
        "rms_norm",
        "silu",
        "transformer_block",
    ),
    "gradient": (
        "Gradients",
        "attention_backward",
    ),
    "induction": (
        "INDUCTION",
        "InductionModel",
        "copying_circuit",
        "exact_induction",
        "follows_the_same",
        "induction_accuracy",
        "induction_by_hand",
        "induction_score",
        "previous_token_score",
        "repeated_sequences",
        "run_induction",
    ),
    "training": (
        "differing_weights",
        "draw_induction",
        "induction_gradient",
        "retrain",
        "train_induction",
    ),
    "counting": (
        "Transformer",
        "attention_flops",
        "attention_parameters",
        "cache_bytes",
        "count_parameters",
        "crossover_length",
        "embedding_parameters",
        "feed_forward_parameters",
        "head_width",
        "layer_flops",
        "linear_parameters",
        "matrix_flops",
        "norm_parameters",
        "score_bytes",
        "score_entries",
        "visible_pairs",
    ),
    "decoder": (
        "decoder_logits",
        "draw_decoder",
        "new_caches",
        "stored_parameters",
    ),
    "examples": (
        "BERT_BASE",
        "GPT2_SMALL",
        "LAYER",
        "LLAMA_2_7B",
        "LLAMA_3_8B",
        "MASK",
        "ONE_QUERY",
        "PUBLISHED",
        "SCALE",
        "SELECT",
        "draw_trials",
    ),
    "tables": (
        "table",
        "vector",
    ),
    "runs": tuple(f"run_{name}" for name in RUNS),
}

__all__ = sorted(name for names in EXPORTS.values() for name in names)


def __getattr__(name):
    """Find a public name in its module, which is imported when first asked for.

    So `attention --help` need not wait for numpy.
    """
    for module, names in EXPORTS.items():
        if name == module or name in names:
            home = import_module(f"{__name__}.{module}")
            return home if name == module else getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *EXPORTS, *__all__})
