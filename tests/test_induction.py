"""The trained model is found again to the byte, and its parts are what their names say."""

import io
import math

import numpy as np
import pytest

from attention import (
    INDUCTION,
    InductionModel,
    copying_circuit,
    differing_weights,
    draw_induction,
    exact_induction,
    follows_the_same,
    induction,
    induction_accuracy,
    induction_by_hand,
    induction_gradient,
    induction_score,
    previous_token_score,
    repeated_sequences,
    retrain,
    run_induction,
    train_induction,
)

SMALL = {"d": 3, "length": 6, "vocabulary": 5}
SHORT = {"length": 6, "vocabulary": 5, "free": (0, 2), "period": (2, 3)}


def drawn(seed=0, count=4):
    rng = np.random.default_rng(seed)
    return draw_induction(rng, **SMALL), repeated_sequences(rng, count, **SHORT)


def softmax_of(scores):
    powers = np.exp(scores - max(s.real for s in scores))
    return powers / powers.sum()


def by_definition(model, tokens, patterns=(None, None), reads=induction.READS):
    """The logits of one sequence, place by place; for complex numbers too."""
    embedded = model.embedding[tokens]
    stream = [embedded]
    for (w_q, w_k, w_v, w_o), pattern in zip(model.layers, patterns, strict=True):
        q, k, v = (sum(stream) if name in reads else embedded for name in ("query", "key", "value"))
        given = np.zeros_like(stream[0])
        for t in range(len(tokens)):
            query = (q[t] + model.positions[t]) @ w_q
            keys = [(k[j] + model.positions[j]) @ w_k for j in range(t + 1)]
            weights = softmax_of(np.array([query @ key for key in keys]) / math.sqrt(len(query)))
            weights = weights if pattern is None else pattern[t]
            given[t] = sum(w * (v[j] @ w_v) for j, w in enumerate(weights)) @ w_o
        stream.append(given)
    stream = stream if "output" in reads else [stream[0], stream[-1]]
    return sum(stream) @ model.unembedding


def loss_by_definition(model, sequences):
    losses = []
    for tokens, targets, known in zip(*sequences, strict=True):
        logits = by_definition(model, tokens)
        losses += [-np.log(softmax_of(logits[t])[targets[t]]) for t in np.flatnonzero(known)]
    return sum(losses) / len(losses)


# The task


def test_a_sequence_holds_free_tokens_and_then_a_block_again_and_again():
    rng = np.random.default_rng(3)
    shapes = set()
    for tokens, targets, known in zip(*repeated_sequences(rng, 2000), strict=True):
        whole = [*tokens, targets[-1]]
        assert whole[1:] == list(targets)
        again = [place for place, token in enumerate(whole) if token in whole[:place]]
        block = again[0] - whole.index(whole[again[0]])  # all before it are distinct
        free = again[0] - block
        assert all(whole[place] == whole[place - block] for place in again)
        assert again == list(range(free + block, 25))
        # What comes again can be known from its second token on.
        assert np.flatnonzero(known).tolist() == list(range(free + block, 24))
        shapes.add((free, block))
    assert shapes == {(free, block) for free in range(7) for block in range(4, 13)}


def test_too_few_tokens_to_be_distinct_are_refused():
    with pytest.raises(ValueError, match="6 free tokens and 12 of a block"):
        repeated_sequences(np.random.default_rng(0), 1, vocabulary=17)


# The model


@pytest.mark.parametrize("reads", [induction.READS, ("key",), ("query", "value"), ("output",), ()])
def test_a_run_is_what_the_definition_says(reads):
    model, sequences = drawn()
    replaced = np.tril(np.random.default_rng(9).random((6, 6)))
    for patterns in [(None, None), (replaced, None), (None, replaced)]:
        run = run_induction(model, sequences.tokens, patterns, reads)
        for tokens, logits in zip(sequences.tokens, run.logits, strict=True):
            right = by_definition(model, tokens, patterns, reads)
            assert np.allclose(logits, right, rtol=0, atol=1e-13)
        for pattern, wanted in zip(run.patterns, patterns, strict=True):
            assert pattern.shape == (4, 6, 6)
            assert wanted is None or np.array_equal(pattern[0], wanted)


def test_a_run_says_what_it_cannot_do():
    with pytest.raises(ValueError, match="25 tokens, 24 positions"):
        run_induction(INDUCTION, np.zeros(25, int))
    with pytest.raises(ValueError, match="query, key, value, output: 'values'"):
        run_induction(INDUCTION, [0, 1], reads=("values",))
    with pytest.raises(IndexError):
        run_induction(INDUCTION, [20])


def test_the_gradient_agrees_with_complex_steps():
    for seed in range(3):
        model, sequences = drawn(seed)
        loss, given = induction_gradient(model, sequences)
        assert loss == pytest.approx(loss_by_definition(model, sequences), rel=1e-14)
        changed = InductionModel(*(part.astype(complex) for part in model))
        for ours, part in zip(given, changed, strict=True):
            right = np.empty(part.shape)
            for index in np.ndindex(part.shape):
                part[index] += 1e-30j
                right[index] = loss_by_definition(changed, sequences).imag / 1e-30
                part[index] = part[index].real
            assert ours.any()
            assert np.allclose(ours, right, rtol=1e-12, atol=1e-15)


# The scores


def test_the_scores_are_what_their_definitions_say():
    rng = np.random.default_rng(4)
    _, sequences = drawn(count=5)
    tokens, _, known = sequences
    pattern = rng.random((5, 6, 6))
    back = [pattern[i, t, t - 1] for i in range(5) for t in range(1, 6)]
    assert previous_token_score(pattern) == pytest.approx(np.mean(back))
    late = [pattern[i, t, t - 1] for i in range(5) for t in (4, 5)]
    assert previous_token_score(pattern, np.arange(6) > 3) == pytest.approx(np.mean(late))
    found, same = [], np.zeros((5, 6, 6), bool)
    for i, t in np.ndindex(5, 6):
        after = [j for j in range(1, t + 1) if tokens[i, j - 1] == tokens[i, t]]
        same[i, t, after] = True
        if known[i, t]:
            assert after
            found.append(sum(pattern[i, t, j] for j in after))
    assert np.array_equal(follows_the_same(tokens), same)
    assert induction_score(pattern, tokens, known) == pytest.approx(np.mean(found))
    exact = exact_induction(tokens)
    assert np.allclose(exact.sum(axis=-1), 1)
    assert induction_score(exact, tokens, known) == pytest.approx(1)
    assert not exact[~same & ~np.eye(6, dtype=bool)].any()


def test_the_copying_circuit_is_what_looking_at_a_token_adds():
    seen = np.zeros((2, 2))
    seen[1, 0] = 1
    for token in range(20):
        pair = np.array([token, 3])
        with_it = run_induction(INDUCTION, pair, (np.zeros((2, 2)), seen)).logits[1]
        without = run_induction(INDUCTION, pair, (np.zeros((2, 2)),) * 2).logits[1]
        assert np.allclose(copying_circuit(INDUCTION)[token], with_it - without, atol=1e-12)


# The weights


def test_training_again_gives_the_shipped_bytes():
    trained = train_induction()
    assert not differing_weights(INDUCTION, trained)
    text = "".join(induction.INDUCTION_WEIGHTS.split())
    assert induction.model_to_text(trained) == text
    # And none is so near to where it would be rounded the other way that luck decides.
    weights = np.concatenate([part.ravel() for part in trained]) / induction.WEIGHT_STEP
    assert abs(weights - np.floor(weights) - 0.5).min() > 1e-5


def test_a_weight_that_differs_is_named():
    layers = INDUCTION.layers.copy()
    layers[1, 2, 3, 15] += 1 / 64
    ((name, one, other),) = differing_weights(INDUCTION, INDUCTION._replace(layers=layers))
    assert name == "layers[1, 2, 3, 15]"
    assert (one, other) == (INDUCTION.layers[1, 2, 3, 15], layers[1, 2, 3, 15])


def test_the_command_says_how_far_it_is_and_what_differs(capsys):
    progress = io.StringIO()
    assert not retrain(steps=26, file=progress)
    assert progress.getvalue().splitlines() == [
        "step 0 of 26, loss 3.021 ",
        "step 25 of 26, loss 2.969 ",
    ]
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("of 3,072 weights differ, the first of them:")
    assert said[1].startswith("embedding[0, 0]: shipped ")


def test_a_weight_that_is_no_byte_is_refused():
    with pytest.raises(ValueError, match=r"does not fit into a byte: -2\.5"):
        induction.model_to_text(INDUCTION._replace(positions=np.full((24, 16), -2.5)))


def test_the_shipped_model_cannot_be_changed_by_accident():
    for part in INDUCTION:
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 0


def test_the_shipped_model_has_learned_and_the_one_by_hand_knows():
    sequences = repeated_sequences(np.random.default_rng(7), 400)
    assert induction_accuracy(INDUCTION, sequences) > 0.995
    assert induction_accuracy(induction_by_hand(), sequences) == 1
    assert induction_accuracy(induction_by_hand(skip_itself=False), sequences) < 0.99
    for model in (INDUCTION, induction_by_hand()):
        back, copy = run_induction(model, sequences.tokens).patterns
        assert previous_token_score(back, np.arange(24) < 15) > 0.85
        assert induction_score(copy, sequences.tokens, sequences.known) > 0.9
