"""The counts are the sums that a hand count gives, exact, and refuse nonsense."""

import itertools

import numpy as np
import pytest

from attention import (
    LAYER,
    LLAMA_3_8B,
    Transformer,
    attention_flops,
    attention_parameters,
    cache_bytes,
    causal_mask,
    count_parameters,
    crossover_length,
    embedding_parameters,
    feed_forward_parameters,
    head_width,
    layer_flops,
    linear_parameters,
    matrix_flops,
    norm_parameters,
    score_bytes,
    score_entries,
    visible_pairs,
)


def sizes(*shapes):
    return sum(int(np.prod(shape)) for shape in shapes)


def test_parts_are_the_sizes_of_their_arrays():
    D, H, h, kv, d_k, d_v = 12, 20, 6, 2, 3, 5
    assert linear_parameters(7, 5) == sizes((7, 5))
    assert linear_parameters(7, 5, bias=True) == sizes((7, 5), (5,))
    assert norm_parameters(D) == sizes((D,), (D,))
    assert norm_parameters(D, bias=False) == sizes((D,))
    assert feed_forward_parameters(D, H) == sizes((D, H), (H,), (H, D), (D,))
    assert feed_forward_parameters(D, H, bias=False) == sizes((D, H), (H, D))
    gated = sizes((D, H), (D, H), (H, D))
    assert feed_forward_parameters(D, H, bias=False, gated=True) == gated
    matrices = sizes((D, h * d_k), (D, kv * d_k), (D, kv * d_v), (h * d_v, D))
    assert attention_parameters(D, h, d_k, d_v, kv) == matrices
    biases = sizes((h * d_k,), (kv * d_k,), (kv * d_v,), (D,))
    assert attention_parameters(D, h, d_k, d_v, kv, bias=True) == matrices + biases
    assert embedding_parameters(50, D, 9, 2) == sizes((50, D), (9, D), (2, D))


def test_a_model_is_the_sum_of_its_parts():
    model = Transformer(vocabulary=50, D=12, L=3, h=4, H=20)
    count = count_parameters(model)
    assert count["layer"] == count["attention"] + count["feed_forward"] + count["norms"]
    assert count["layers"] == 3 * count["layer"]
    assert count["total"] == count["layers"] + count["embeddings"]
    more = count_parameters(model._replace(outer_norms=2, pooler=True, untied_head=True))
    assert more["rest"] == sizes((2, 2, 12), (12, 12), (12,), (12, 50))
    assert more["total"] == count["total"] + more["rest"]


def test_heads_are_free_in_parameters_and_not_in_scores():
    assert len({attention_parameters(512, h) for h in (1, 8, 64)}) == 1
    assert [score_entries(100, h) for h in (1, 8, 64)] == [10_000, 80_000, 640_000]


def test_operations():
    n, D = 512, 512
    assert matrix_flops(n, D) == 24 * n * D**2
    assert attention_flops(n, D) == 4 * n**2 * D
    assert layer_flops(n, D) == 24 * n * D**2 + 4 * n**2 * D
    assert layer_flops(n, D, H=100) == 8 * n * D**2 + 4 * n * D * 100 + 4 * n**2 * D
    assert crossover_length(D) == 6 * D
    for H in (1, 100, 4 * D):
        n = crossover_length(D, H)
        assert attention_flops(n, D) == matrix_flops(n, D, H)


def test_counts_are_exact_however_large_and_whatever_integer_comes_in():
    assert score_entries(10**12) == 10**24
    assert score_bytes(32768, 8, L=6) == 32768**2 * 8 * 6 * 4
    small = np.int8(100)
    assert linear_parameters(small, small) == 10_000
    assert type(linear_parameters(small, small)) is int
    numpy_model = Transformer(*(np.int32(n) for n in (128256, 4096, 32, 32, 14336)))
    plain = Transformer(128256, 4096, 32, 32, 14336)
    assert count_parameters(numpy_model) == count_parameters(plain)
    assert all(type(n) is int for n in count_parameters(LLAMA_3_8B.model).values())


CALLS = {
    "n_in": lambda n_in: linear_parameters(n_in, 5),
    "D": norm_parameters,
    "h": lambda h: attention_parameters(12, h),
    "d_k": lambda d_k: attention_parameters(12, 4, d_k),
    "d_v": lambda d_v: attention_parameters(12, 4, d_v=d_v),
    "kv_heads": lambda kv_heads: attention_parameters(12, 4, kv_heads=kv_heads),
    "vocabulary": lambda vocabulary: embedding_parameters(vocabulary, 12),
    "L": lambda L: count_parameters(Transformer(50, 12, L, 4, 20)),
    "n": score_entries,
    "H": lambda H: matrix_flops(5, 12, H),
    "bytes_each": lambda each: score_bytes(5, bytes_each=each),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("odd", "kind"), [(0, ValueError), (-3, ValueError), (2.5, TypeError), ("8", TypeError)]
)
def test_a_size_that_is_none_is_repeated_in_the_error(name, odd, kind):
    with pytest.raises(kind, match=rf"^{name} must be .*: {odd!r}$"):
        CALLS[name](odd)


def test_heads_that_do_not_divide_are_repeated_in_the_error():
    assert head_width(512, 8) == LAYER.d_k
    with pytest.raises(ValueError, match="D = 512, h = 7"):
        head_width(512, 7)
    with pytest.raises(ValueError, match="D = 512, h = 7"):
        attention_parameters(512, 7)
    with pytest.raises(ValueError, match="h = 8, kv_heads = 3"):
        attention_parameters(512, 8, kv_heads=3)


@pytest.mark.parametrize("offset", range(-7, 8))
def test_visible_pairs_are_those_of_the_causal_mask(offset):
    for n_queries, n_keys in itertools.product(range(6), repeat=2):
        mask = causal_mask(n_queries, n_keys, offset)
        assert visible_pairs(n_queries, n_keys, offset) == mask.sum()


def test_a_cache_holds_a_key_and_a_value_for_each_token_layer_and_head_of_keys():
    cache = np.zeros((2, 32, 8, 8192, 128), np.float16)
    assert cache_bytes(8192, kv_heads=8, d_k=128, L=32) == cache.nbytes == 2**30
    assert cache_bytes(8192, kv_heads=32, d_k=128, L=32) == 4 * 2**30


def test_a_gate_is_a_third_matrix_of_the_feed_forward_part():
    assert matrix_flops(3, 8, 20, gated=True) - matrix_flops(3, 8, 20) == 2 * 3 * 8 * 20
    assert layer_flops(3, 8, 20, gated=True) - layer_flops(3, 8, 20) == 2 * 3 * 8 * 20
    n = crossover_length(8, 20, gated=True)
    assert attention_flops(n, 8) == matrix_flops(n, 8, 20, gated=True)
