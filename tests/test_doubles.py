"""The doubles behind the lesson's numbers are right to far more digits than a page shows."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from attention import (
    ONE_QUERY,
    SELECT,
    attention_scores,
    attention_weights,
    entropy,
    scaled_dot_product_attention,
)

ALLOWED = 1e-12  # of the value: what tests/audit/precision.py allows for rounding
INPUTS = {
    "one query": (ONE_QUERY.query[None], ONE_QUERY.keys, ONE_QUERY.values),
    "selecting": (np.array(list(SELECT.queries.values())), SELECT.keys, np.eye(3)),
    "large scores": (100 * ONE_QUERY.query[None], ONE_QUERY.keys, ONE_QUERY.values),
}


def exact(query, key, value):
    """Scores, weights, entropy and output of one query, from the definition, to fifty digits."""
    q, keys, values = (np.vectorize(Decimal, otypes=[object])(x) for x in (query, key, value))
    scores = [sum(a * b for a, b in zip(q, k, strict=True)) / Decimal(len(q)).sqrt() for k in keys]
    raised = [score.exp() for score in scores]
    weights = [x / sum(raised) for x in raised]
    bits = -sum(w * w.ln() / Decimal(2).ln() for w in weights)
    output = [sum(w * x for w, x in zip(weights, column, strict=True)) for column in values.T]
    return scores, weights, [bits], output


@pytest.mark.parametrize("name", INPUTS)
def test_each_step_agrees_with_fifty_digits(name):
    query, key, value = INPUTS[name]
    weights = attention_weights(query, key)
    steps = (
        attention_scores(query, key),
        weights,
        entropy(weights)[:, None],
        scaled_dot_product_attention(query, key, value),
    )
    with localcontext() as context:
        context.prec = 50
        for row, one in enumerate(query):
            for computed, right in zip(steps, exact(one, key, value), strict=True):
                for x, true in zip(computed[row], right, strict=True):
                    assert abs(Decimal(float(x)) - true) <= Decimal(ALLOWED) * abs(true)
