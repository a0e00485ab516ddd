"""The five worked runs; each returns its text."""

import numpy as np

from .core import attention_scores, attention_weights, softmax
from .counting import (
    Transformer,
    attention_parameters,
    count_parameters,
    crossover_length,
    layer_flops,
    score_bytes,
    score_entries,
)
from .examples import (
    LAYER,
    MASK,
    ONE_QUERY,
    PUBLISHED,
    SCALE,
    SELECT,
    draw_trials,
)
from .masks import causal_mask
from .measures import entropy
from .sdpa import scaled_dot_product_attention
from .tables import table


def run(name):
    """Return the text of the run with that flag of the command line."""
    return globals()[f"run_{name}"]()


def run_one():
    """Show one query's path from scores to output, step by step."""
    query, key = ONE_QUERY.query[None, :], ONE_QUERY.keys
    d_k = query.shape[-1]
    products = attention_scores(query, key, scale=1)[0]
    scores = attention_scores(query, key)[0]
    weights = attention_weights(query, key)[0]
    output = scaled_dot_product_attention(query, key, ONE_QUERY.values)[0]
    raised = np.exp(scores)
    steps = np.column_stack([products, scores, raised, weights])
    rows = [
        [name, *map(fixed_point, numbers)]
        for name, numbers in zip(ONE_QUERY.names, steps, strict=True)
    ]
    rows.append(["sum", "", "", *map(fixed_point, (raised.sum(), weights.sum()))])
    longer = attention_weights(100 * query, key)[0]
    compared = [
        ["as it is", *(fixed_point(w, 5) for w in weights), bits(weights)],
        ["100 times", *(fixed_point(w, 5) for w in longer), bits(longer)],
    ]
    return paragraphs(
        "One query",
        f'The word "{ONE_QUERY.query_name}" asks, and three words answer.',
        "q·k is the dot product of the query with each word's key. It is divided by\n"
        f"sqrt(d_k) = sqrt({d_k}) = {fixed_point(np.sqrt(d_k))}. exp makes it "
        "positive, and dividing by the sum\n"
        "makes the weights alpha, which add up to one.",
        table(["key", "q·k", "/ sqrt(d_k)", "exp", "alpha"], rows),
        f"output = ({', '.join(map(fixed_point, output))}), "
        "the values averaged by these weights.",
        "The same keys, with the query as it is and made longer:",
        table(["query", *ONE_QUERY.names, "entropy"], compared),
        "The weights are nearly equal because the scores lie within "
        f"{fixed_point(np.ptp(scores), 2)} of one\nanother: {bits(weights)} bits of "
        f"at most {maximum_bits(len(key))}.",
    )


def run_select():
    """Show three queries that pick among the same keys."""
    key = SELECT.keys
    query = np.array(list(SELECT.queries.values()))
    weights = attention_weights(query, key)
    rows = [
        [name, *map(fixed_point, row), bits(row), fixed_point(2 ** entropy(row), 2)]
        for name, row in zip(SELECT.queries, weights, strict=True)
    ]
    doubled = key * np.array([[2], [1], [1]])
    undecided = SELECT.queries["undecided"][None, :]
    before = attention_weights(undecided, key)[0]
    after = attention_weights(undecided, doubled)[0]
    return paragraphs(
        "When it selects",
        f"Each dimension means something: {', '.join(SELECT.dimensions)}.\n"
        "A query that is long in one of them takes most from the key that is too.",
        table(["query", *SELECT.key_names, "entropy", "effective keys"], rows),
        "effective keys = 2 ** entropy: as many equal weights are just as spread.",
        "The undecided query ties because each key's entries sum to 1. Make the first\n"
        "key twice as long, and the tie is gone:",
        table(
            ["undecided", *SELECT.key_names],
            [
                ["keys as they are", *(fixed_point(w, 3) for w in before)],
                [f"{SELECT.key_names[0]} doubled", *(fixed_point(w, 3) for w in after)],
            ],
        ),
        "Even the sharpest of these weights are spread over "
        f"{fixed_point(2 ** entropy(weights).min(), 2)} effective keys:\n"
        "a choice, not a certainty.",
    )


def run_scale():
    """Show what dividing by sqrt(d_k) does to scores of random vectors."""
    rng = np.random.default_rng(SCALE.seed)
    rows, checks, raw_bits, scaled_bits = [], [], [], []
    for d_k in SCALE.widths:
        query, key = draw_trials(rng, d_k)
        products = attention_scores(query, key, scale=1)[:, 0]
        raw = softmax(products)
        scaled = softmax(products / np.sqrt(d_k))
        spread = entropy(raw)
        raw_bits.append(spread.mean())
        scaled_bits.append(entropy(scaled).mean())
        rows.append(
            [
                str(d_k),
                fixed_point(products.std(axis=-1).mean(), 3),
                fixed_point(raw_bits[-1]),
                fixed_point(scaled_bits[-1]),
                fixed_point(raw.max(axis=-1).mean()),
            ]
        )
        checks.append(
            [
                str(d_k),
                fixed_point(np.sqrt(d_k), 3),
                fixed_point(np.sqrt(products.var(axis=-1, ddof=1).mean()), 3),
                fixed_point(spread.std(ddof=1) / np.sqrt(SCALE.trials), 3),
            ]
        )
    return paragraphs(
        "Why divide by sqrt(d_k)",
        f"{SCALE.trials} times for each width: one query and {SCALE.n_keys} keys, "
        "drawn from a normal of\n"
        "mean 0 and variance 1. raw: softmax of q·k. scaled: of q·k / sqrt(d_k).",
        table(
            ["d_k", "sd of q·k", "entropy raw", "entropy scaled", "max alpha raw"], rows
        ),
        f"The entropy of {SCALE.n_keys} equal weights is "
        f"{maximum_bits(SCALE.n_keys)} bits.",
        f"That sd is taken within each trial, over {SCALE.n_keys} scores, so it reads "
        "low.\n"
        "Beside it the unbiased one, from the mean variance, and the standard error\n"
        "of the raw entropy:",
        table(["d_k", "sqrt(d_k)", "sd, unbiased", "error of raw entropy"], checks),
        f"From d_k {SCALE.widths[0]} to {SCALE.widths[-1]} the raw entropy falls from "
        f"{fixed_point(raw_bits[0], 2)} to\n{fixed_point(raw_bits[-1], 2)} bits; "
        f"scaled, it stays between {fixed_point(min(scaled_bits), 2)} and "
        f"{fixed_point(max(scaled_bits), 2)}.",
    )


def run_mask():
    """Show the causal mask before the softmax, where it belongs, and after it."""
    scores = MASK.scores
    n = len(scores)
    visible = causal_mask(n, n)
    right = softmax(scores, mask=visible)
    wrong = np.where(visible, softmax(scores), 0.0)
    changed = scores.copy()
    changed[0, -1] = 10
    right_changed = softmax(changed, mask=visible)
    wrong_changed = np.where(visible, softmax(changed), 0.0)

    def weights_table(weights):
        rows = [
            [
                token,
                *(fixed_point(w) if w else "0" for w in row),
                fixed_point(row.sum()),
            ]
            for token, row in zip(MASK.tokens, weights, strict=True)
        ]
        return table(["query", *MASK.tokens, "sum"], rows)

    was, now = fixed_point(scores[0, -1], 1), fixed_point(changed[0, -1], 0)
    return paragraphs(
        "The causal mask, and the order of operations",
        "Each word may see itself and the words before it.\n"
        "Mask, then softmax: what is hidden is out before the weights are shared.",
        weights_table(right),
        "Softmax, then mask: the hidden words have already taken their share.",
        weights_table(wrong),
        "Dividing by the sums would mend these rows. But hidden words still decide\n"
        f'how much is kept: raise the score of "{MASK.tokens[0]}" for '
        f'"{MASK.tokens[-1]}", which it\nmust not see, from {was} to {now}.',
        table(
            [f"weight of {MASK.tokens[0]}", f"score {was}", f"score {now}"],
            [
                [
                    "mask, then softmax",
                    fixed_point(right[0, 0], 6),
                    fixed_point(right_changed[0, 0], 6),
                ],
                [
                    "softmax, then mask",
                    fixed_point(wrong[0, 0], 6),
                    fixed_point(wrong_changed[0, 0], 6),
                ],
            ],
        ),
        f"Masked too late, the first row keeps {fixed_point(wrong[0].sum())} of its "
        "weight, and the future\ndecides how much.",
    )


def run_params():
    """Count the parameters of a small model, and how its scores grow."""
    D, H, h = LAYER.D, LAYER.H, LAYER.h
    count = count_parameters(
        Transformer(LAYER.vocabulary, D, LAYER.L, h, H, d_k=LAYER.d_k)
    )
    biases = attention_parameters(D, h, bias=True) - count["attention"]
    parts = [
        ["attention Q, K, V, O", "4D²", count["attention"]],
        ["feed-forward", "2DH + H + D", count["feed_forward"]],
        ["layer norms", "4D", count["norms"]],
        ["one layer", "", count["layer"]],
        [f"all {LAYER.L} layers", "", count["layers"]],
        ["embeddings", "VD", count["embeddings"]],
        ["total", "", count["total"]],
    ]
    short, long = LAYER.lengths[1:3]
    growth = [
        [
            str(n),
            f"{score_entries(n):,}",
            f"{score_entries(n) / score_entries(short):.2f}x",
            f"{layer_flops(n, D, H) / layer_flops(short, D, H):.2f}x",
        ]
        for n in LAYER.lengths
    ]
    longest = LAYER.lengths[-1]
    gib = score_bytes(longest, h) // 2**30
    published = [
        [entry.name, f"{count_parameters(entry.model)['total']:,}", f"{entry.total:,}"]
        for entry in PUBLISHED
    ]
    more_scores = score_entries(long) // score_entries(short)
    more_flops = layer_flops(long, D, H) / layer_flops(short, D, H)
    return paragraphs(
        "A layer, counted",
        f"V = {LAYER.vocabulary:,} tokens, D = {D}, L = {LAYER.L} layers, h = {h} "
        f"heads of width {LAYER.d_k}, H = {H}.",
        table(
            ["part", "formula", "parameters"],
            [[part, formula, f"{number:,}"] for part, formula, number in parts],
        ),
        "Here the feed-forward part has biases and attention has none; with them a\n"
        f"layer is {count['layer'] + biases:,}. Positions, a last norm and an output "
        "head are left out.",
        "Two things that grow with the context, against "
        f"{short} tokens: the scores of one\n"
        "head, n², and the operations of a whole layer, 8nD² + 4nDH + 4n²D.",
        table(
            ["tokens n", "n² scores per head", "scores", "layer FLOPs"],
            growth,
        ),
        f"The scores of {h} heads at {longest} tokens would fill {gib} GiB in single "
        f"precision.\nThe n² part is half of a layer's work at "
        f"{crossover_length(D, H)} tokens, 2D + H.",
        "The same formulas, on models that others have counted:",
        table(["model", "counted here", "published"], published),
        f"From {short} to {long} tokens the scores grow {more_scores} times, the work "
        f"of a layer\nonly {more_flops:.2f} times.",
    )


def paragraphs(*blocks):
    """Join blocks of text with a blank line between them."""
    return "\n\n".join(blocks)


def fixed_point(number, places=4):
    """Write a number with so many decimals; never a negative zero."""
    return f"{float(number):z.{places}f}"


def bits(weights):
    """Write the entropy of one row of weights."""
    return fixed_point(entropy(weights))


def maximum_bits(n):
    """Write the largest entropy that n weights can have."""
    return fixed_point(np.log2(n))
