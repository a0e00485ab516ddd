"""A decoder put together holds what is counted for it, sees no future, and decodes with a cache."""

import numpy as np
import pytest

from attention import (
    GPT2_SMALL,
    LLAMA_2_7B,
    LLAMA_3_8B,
    Transformer,
    count_parameters,
    decoder_logits,
    draw_decoder,
    layer_norm,
    new_caches,
    sinusoidal_positions,
    stored_parameters,
    transformer_block,
)

SMALL = {"vocabulary": 11, "D": 8, "L": 2, "h": 4, "H": 12}
MODELS = {
    "defaults": Transformer(**SMALL),
    "like GPT-2": GPT2_SMALL.model._replace(**SMALL, positions=9),
    "like Llama 2": LLAMA_2_7B.model._replace(**SMALL),
    "like Llama 3": LLAMA_3_8B.model._replace(**SMALL, kv_heads=2),
    "one shared key": Transformer(**SMALL, kv_heads=1, qkv_bias=True, outer_norms=1),
    "wide heads, norms of queries and keys": Transformer(**SMALL, d_k=6, kv_heads=2, qk_norm=True),
    "the same, scales only": Transformer(**SMALL, d_k=2, qk_norm=True, norm_bias=False),
    "gated, with biases": Transformer(**SMALL, gated=True, attention_bias=True, untied_head=True),
    "no biases at all": Transformer(
        **SMALL, feed_forward_bias=False, norm_bias=False, positions=9, outer_norms=1
    ),
}
TOKENS = np.random.default_rng(0).integers(0, 11, (3, 9))


def drawn(model, seed=1):
    """A decoder none of whose numbers is as it starts: biases and scales count too."""
    rng = np.random.default_rng(seed)
    parameters = draw_decoder(rng, model)
    for part in (parameters, *parameters["blocks"]):
        for name, array in part.items():
            if name != "blocks":
                part[name] = array + 0.1 * rng.standard_normal(array.shape)
    return parameters


@pytest.mark.parametrize("name", MODELS)
def test_it_holds_exactly_what_is_counted(name):
    model = MODELS[name]
    count = count_parameters(model)
    parameters = draw_decoder(np.random.default_rng(0), model)
    assert stored_parameters(parameters) == count["total"]
    assert [stored_parameters(b) for b in parameters["blocks"]] == [count["layer"]] * model.L
    table = parameters.get("positions", np.zeros((0, 8)))
    assert len(table) + len(parameters["embedding"]) == count["embeddings"] / model.D


@pytest.mark.parametrize("name", MODELS)
def test_every_number_that_it_holds_has_an_influence(name):
    parameters = drawn(MODELS[name])
    before = decoder_logits(TOKENS, parameters, 4)
    for part in (parameters, *parameters["blocks"]):
        for key, array in part.items():
            if key != "blocks":
                part[key] = array + np.random.default_rng(2).standard_normal(array.shape)
                moved = abs(decoder_logits(TOKENS, parameters, 4) - before).max()
                # A bias of the keys moves all scores of a query alike; positions undo that.
                alike = key == "b_k" and "positions" in parameters
                assert (moved > 1e-6) != alike, key
                part[key] = array


@pytest.mark.parametrize("name", MODELS)
def test_one_token_at_a_time_and_in_parts_it_says_what_it_says_at_once(name):
    parameters = drawn(MODELS[name])
    whole = decoder_logits(TOKENS, parameters, 4)
    assert whole.shape == (3, 9, 11)
    for cuts in (range(1, 9), [4], [1, 7]):
        caches = new_caches(parameters)
        parts = [
            decoder_logits(part, parameters, 4, caches=caches)
            for part in np.split(TOKENS, cuts, axis=1)
        ]
        assert np.allclose(np.concatenate(parts, axis=1), whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_it_sees_no_future(name):
    parameters, changed = drawn(MODELS[name]), TOKENS.copy()
    changed[:, 5:] = (changed[:, 5:] + 1) % 11
    before, after = (decoder_logits(t, parameters, 4) for t in (TOKENS, changed))
    assert before[:, :5].tobytes() == after[:, :5].tobytes()
    assert (abs(before - after)[:, 5:].max(axis=-1) > 1e-6).all()


def test_it_is_its_parts_one_after_the_other():
    parameters = drawn(MODELS["like GPT-2"])
    x = parameters["embedding"][TOKENS] + parameters["positions"][:9]
    for block in parameters["blocks"]:
        x = transformer_block(x, block, 4, is_causal=True)
    x = layer_norm(x, parameters["w_norm"], parameters["b_norm"])
    right = x @ parameters["embedding"].T
    assert np.allclose(decoder_logits(TOKENS, parameters, 4), right, rtol=0, atol=1e-12)
    own = parameters | {"w_head": parameters["embedding"].T + 1}
    shifted = right + x.sum(axis=-1, keepdims=True)
    assert np.allclose(decoder_logits(TOKENS, own, 4), shifted, rtol=0, atol=1e-12)


def test_the_table_of_positions_may_be_sinusoidal():
    parameters = drawn(MODELS["like Llama 2"])
    with_codes = parameters | {"positions": sinusoidal_positions(9, 8)}
    moved = abs(decoder_logits(TOKENS, with_codes, 4) - decoder_logits(TOKENS, parameters, 4))
    assert moved.max() > 1e-3


def test_a_tied_table_is_stored_once_and_a_copy_twice():
    parameters = draw_decoder(np.random.default_rng(0), MODELS["like GPT-2"])
    count, table = stored_parameters(parameters), parameters["embedding"]
    assert stored_parameters(parameters | {"w_head": table}) == count
    assert stored_parameters(parameters | {"w_head": table.copy()}) == count + table.size


def test_the_drawing_is_the_seed_s_and_keeps_sizes_moderate():
    model = Transformer(vocabulary=50, D=64, L=4, h=4, H=256, outer_norms=1)
    one, again = (draw_decoder(np.random.default_rng(3), model) for _ in range(2))
    assert np.array_equal(one["blocks"][3]["w_down"], again["blocks"][3]["w_down"])
    logits = decoder_logits(np.arange(50), one, 4)
    assert 0.5 < logits.std() < 3


def test_single_precision_stays():
    parameters = drawn(MODELS["like Llama 3"])

    def narrow(part):
        return {
            k: list(map(narrow, v)) if k == "blocks" else v.astype("float32")
            for k, v in part.items()
        }

    given = decoder_logits(TOKENS, narrow(parameters), 4)
    assert given.dtype == "float32"
    assert np.allclose(given, decoder_logits(TOKENS, parameters, 4), rtol=1e-4, atol=1e-4)


GPT2 = draw_decoder(np.random.default_rng(4), MODELS["like GPT-2"])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: decoder_logits([[0, 11]], GPT2, 4), ValueError, "token 11 .* vocabulary of 11"),
        (lambda: decoder_logits([-1], GPT2, 4), ValueError, "token -1 is outside"),
        (lambda: decoder_logits([1.0], GPT2, 4), TypeError, "must be integers: float64"),
        (lambda: decoder_logits(3, GPT2, 4), ValueError, "need a dimension"),
        (lambda: decoder_logits([1] * 10, GPT2, 4), ValueError, "10 tokens for 9 positions"),
        (
            lambda: decoder_logits([1], GPT2, 4, caches=new_caches(GPT2)[1:]),
            ValueError,
            "1 caches for 2 blocks",
        ),
        (
            lambda: draw_decoder(None, Transformer(**SMALL, pooler=True)),
            ValueError,
            "token_types 0, pooler True, outer_norms 0",
        ),
        (
            lambda: draw_decoder(None, Transformer(**SMALL, outer_norms=2)),
            ValueError,
            "outer_norms 2",
        ),
        (
            lambda: draw_decoder(np.random.default_rng(0), Transformer(**SMALL | {"h": 3})),
            ValueError,
            "D = 8, h = 3",
        ),
    ],
)
def test_an_error_says_what_was_given(call, error, words):
    with pytest.raises(error, match=words):
        call()
