"""What a transformer costs: its parameters, its scores, its operations.

The letters are the lesson's: D model width, H feed-forward width, h heads, d_k
and d_v the widths of a head, L layers, n tokens. All counts are exact integers.
"""

from typing import NamedTuple

from .arguments import check_number


class Transformer(NamedTuple):
    """Say what a model is made of; the defaults are the lesson's own count.

    `kv_heads` fewer than `h` share keys and values among queries. `gated` gives the
    feed-forward part a third matrix (SwiGLU). Without `norm_bias` a norm only
    scales (RMSNorm). `outer_norms` are those outside the layers. An untied `head`
    has a matrix of its own instead of using the embedding's. `qkv_bias` gives Q, K
    and V a bias but O none. `qk_norm` gives each layer a norm of a head's width for
    queries and one for keys.
    """

    vocabulary: int
    D: int
    L: int
    h: int
    H: int
    d_k: int | None = None
    kv_heads: int | None = None
    attention_bias: bool = False
    feed_forward_bias: bool = True
    gated: bool = False
    norm_bias: bool = True
    positions: int = 0
    token_types: int = 0
    outer_norms: int = 0
    pooler: bool = False
    untied_head: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False


def linear_parameters(n_in, n_out, bias=False):
    """Count a matrix from n_in numbers to n_out, and its bias if it has one.

    Raises ValueError or TypeError when a size is not a positive integer.
    """
    n_in = check_number("n_in", n_in, at_least=1)
    n_out = check_number("n_out", n_out, at_least=1)
    return n_in * n_out + (n_out if bias else 0)


def head_width(D, h):
    """Share the model width equally among the heads.

    Raises ValueError when h does not divide D (quoting both).
    """
    D = check_number("D", D, at_least=1)
    h = check_number("h", h, at_least=1)
    if D % h:
        raise ValueError(f"the heads must divide the width: D = {D}, h = {h}")
    return D // h


def attention_parameters(
    D, h=1, d_k=None, d_v=None, kv_heads=None, bias=False, qkv_bias=False
):
    """Count the matrices Q, K, V and O.

    4 D^2 when d_k = d_v = D / h, whatever the number of heads. Fewer `kv_heads`
    than h make K and V narrower: grouped-query attention. `bias` is one for each of
    the four, `qkv_bias` one for all but O.

    Raises ValueError or TypeError when a size is not a positive integer, h does not
    divide D while d_k is not given, or kv_heads does not divide h.
    Vaswani et al. 2017, section 3.2.2; Ainslie et al. 2023.
    """
    h = check_number("h", h, at_least=1)
    d_k = head_width(D, h) if d_k is None else check_number("d_k", d_k, at_least=1)
    d_v = d_k if d_v is None else check_number("d_v", d_v, at_least=1)
    kv_heads = h if kv_heads is None else check_number("kv_heads", kv_heads, at_least=1)
    if h % kv_heads:
        raise ValueError(f"kv_heads must divide h: h = {h}, kv_heads = {kv_heads}")
    inner = bias or qkv_bias
    return (
        linear_parameters(D, h * d_k, inner)
        + linear_parameters(D, kv_heads * d_k, inner)
        + linear_parameters(D, kv_heads * d_v, inner)
        + linear_parameters(h * d_v, D, bias)
    )


def feed_forward_parameters(D, H, bias=True, gated=False):
    """Count the feed-forward part: up to width H and down again.

    2 D H, and H + D with biases; a gate is one more matrix up.

    Raises ValueError or TypeError when a size is not a positive integer.
    Vaswani et al. 2017, section 3.3; Shazeer 2020.
    """
    up = linear_parameters(D, H, bias)
    return up * (2 if gated else 1) + linear_parameters(H, D, bias)


def norm_parameters(D, bias=True):
    """Count one norm: D scales, and D shifts with a bias.

    Raises ValueError or TypeError when D is not a positive integer.
    Ba et al. 2016; without the shifts, Zhang and Sennrich 2019.
    """
    D = check_number("D", D, at_least=1)
    return 2 * D if bias else D


def embedding_parameters(vocabulary, D, positions=0, token_types=0):
    """Count a vector of width D for each token, position and token type.

    Raises ValueError or TypeError when a size is not an integer, the vocabulary or
    D is not positive, or another size is negative.
    """
    positions = check_number("positions", positions, at_least=0)
    token_types = check_number("token_types", token_types, at_least=0)
    vocabulary = check_number("vocabulary", vocabulary, at_least=1)
    D = check_number("D", D, at_least=1)
    return (vocabulary + positions + token_types) * D


def count_parameters(model):
    """Count every part of a Transformer.

    -> a dict: attention, feed_forward, norms (those of one layer), layer, layers,
    embeddings, rest (outer norms, pooler, head) and total.

    Raises ValueError or TypeError as the counts of its parts do.
    """
    m = model
    attention = attention_parameters(
        m.D,
        m.h,
        d_k=m.d_k,
        kv_heads=m.kv_heads,
        bias=m.attention_bias,
        qkv_bias=m.qkv_bias,
    )
    feed_forward = feed_forward_parameters(m.D, m.H, m.feed_forward_bias, m.gated)
    norms = 2 * norm_parameters(m.D, m.norm_bias)
    if m.qk_norm:
        width = head_width(m.D, m.h) if m.d_k is None else m.d_k
        norms += 2 * norm_parameters(width, m.norm_bias)
    layer = attention + feed_forward + norms
    layers = check_number("L", m.L, at_least=1) * layer
    embeddings = embedding_parameters(m.vocabulary, m.D, m.positions, m.token_types)
    outer_norms = check_number("outer_norms", m.outer_norms, at_least=0)
    rest = outer_norms * norm_parameters(m.D, m.norm_bias)
    if m.pooler:
        rest += linear_parameters(m.D, m.D, bias=True)
    if m.untied_head:
        rest += linear_parameters(m.D, m.vocabulary)
    return {
        "attention": attention,
        "feed_forward": feed_forward,
        "norms": norms,
        "layer": layer,
        "layers": layers,
        "embeddings": embeddings,
        "rest": rest,
        "total": layers + embeddings + rest,
    }


def score_entries(n, h=1, L=1):
    """Count the scores among n tokens: n^2 for each head of each layer.

    Raises ValueError or TypeError when an argument is not a positive integer.
    """
    n = check_number("n", n, at_least=1)
    h = check_number("h", h, at_least=1)
    L = check_number("L", L, at_least=1)
    return n * n * h * L


def score_bytes(n, h=1, L=1, bytes_each=4):
    """Count the bytes that the scores take when all are stored.

    Raises ValueError or TypeError when an argument is not a positive integer.
    """
    return score_entries(n, h, L) * check_number("bytes_each", bytes_each, at_least=1)


def cache_bytes(n, kv_heads, d_k, L=1, bytes_each=2):
    """Count the bytes of a cache of n tokens: a key and a value for each, of width d_k.

    Raises ValueError or TypeError when an argument is not a positive integer.
    Ainslie et al. 2023.
    """
    n = check_number("n", n, at_least=1)
    kv_heads = check_number("kv_heads", kv_heads, at_least=1)
    d_k = check_number("d_k", d_k, at_least=1)
    L = check_number("L", L, at_least=1)
    return (
        2 * n * kv_heads * d_k * L * check_number("bytes_each", bytes_each, at_least=1)
    )


def visible_pairs(n_queries, n_keys, offset=0):
    """Count the pairs of a query and a key that it sees under a causal mask.

    The arguments are those of causal_mask; n (n + 1) / 2 for n of each.

    Raises what causal_mask raises.
    """
    n_queries = check_number("n_queries", n_queries, at_least=0)
    n_keys = check_number("n_keys", n_keys, at_least=0)
    offset = check_number("offset", offset)

    def before(row):
        """Count the pairs of the rows that see at most `row` keys, from one on."""
        growing = min(max(row, 0), n_keys)
        return growing * (growing + 1) // 2 + (max(row, 0) - growing) * n_keys

    return before(n_queries + offset) - before(offset)


def matrix_flops(n, D, H=None, gated=False):
    """Count the operations of a layer's matrices, which grow as n.

    8 n D^2 for Q, K, V and O, and 4 n D H for the feed-forward part, 6 n D H where it
    is gated; a multiply and an add are two. H is 4 D unless given: 24 n D^2.

    Raises ValueError or TypeError when a size is not a positive integer.
    """
    n = check_number("n", n, at_least=1)
    D = check_number("D", D, at_least=1)
    H = 4 * D if H is None else check_number("H", H, at_least=1)
    return 8 * n * D * D + (6 if gated else 4) * n * D * H


def attention_flops(n, D):
    """Count the operations of query times key and weight times value: 4 n^2 D.

    Raises ValueError or TypeError when a size is not a positive integer.
    """
    n = check_number("n", n, at_least=1)
    D = check_number("D", D, at_least=1)
    return 4 * n * n * D


def layer_flops(n, D, H=None, gated=False):
    """Count the operations of one layer forward, softmax and norms left out.

    24 n D^2 + 4 n^2 D when H is 4 D and nothing is gated.

    Raises ValueError or TypeError when a size is not a positive integer.
    """
    return matrix_flops(n, D, H, gated) + attention_flops(n, D)


def crossover_length(D, H=None, gated=False):
    """Find the n at which the quadratic part costs as much as the matrices.

    2 D + H, which is 6 D when H is 4 D; 2 D + 3 H / 2, rounded down, where the
    feed-forward part is gated.

    Raises ValueError or TypeError when a size is not a positive integer.
    """
    return matrix_flops(1, D, H, gated) // attention_flops(1, D)
