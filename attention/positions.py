"""Where a token stands: attention does not see it, so it has to be told.

A sinusoidal code is added to the tokens; a rotary one turns queries and keys; ALiBi
adds to the scores.
"""

import math

import numpy as np

from .arguments import as_doubles, check_flag, check_number, common_shape


def sinusoidal_positions(n, d, base=10000.0):
    """Give each of n positions, from 0 on, a code of d numbers, to add to its token.

    -> (n, d) of doubles. Column 2i is sin(p / base^(2i / d)) at position p, column
    2i + 1 the cosine of the same angle, in radians. The dot product of two codes
    depends on their distance alone.

    Raises ValueError or TypeError when n is no integer from 0 on, d none from 2 on,
    d is odd (quoting it) or base is not positive.
    Vaswani et al. 2017, section 3.5.
    """
    angles = np.arange(check_number("n", n, at_least=0))[:, None]
    angles = angles * frequencies(d, base)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


def rotary_embedding(x, positions, base=10000.0, interleaved=False):
    """Turn queries or keys by their positions, so that scores see the distance.

    (..., n, d), (..., n) -> (..., n, d). Pair i of the numbers of a token at position
    p turns by p / base^(2i / d) radians. The pairs are (x[i], x[i + d/2]), or
    neighbours (x[2i], x[2i + 1]) when `interleaved`: weights trained with one layout
    need it. `positions` broadcasts to x without its last dimension, and has an entry
    for each of the n tokens: with a cache np.arange(cached, cached + n), and each key
    is turned once, before it is stored. Values are not turned.
    Angles are worked out in doubles, whatever the type of x.

    Raises ValueError when the shapes do not fit or d is odd (quoting them) or base is
    not positive; TypeError when an array does not hold real numbers or interleaved is
    no bool.
    Su et al. 2021, section 3.2.2; the halves are those of GPT-NeoX and Llama's port.
    """
    x, dtype = as_doubles(x)
    positions, _ = as_doubles(positions)
    interleaved = check_flag("interleaved", interleaved)
    if x.ndim < 1:
        raise ValueError(f"x needs a dimension to turn: x {x.shape}")
    tokens = x.shape[:-1]
    fits = common_shape(tokens, positions.shape) == tokens
    if not fits or positions.shape[-1:] != tokens[-1:]:
        raise ValueError(
            "positions must broadcast to x without its last dimension, one for each "
            f"token: positions {positions.shape}, x {x.shape}"
        )
    angles = positions[..., None] * frequencies(x.shape[-1], base)
    return rotate_pairs(x, np.cos(angles), np.sin(angles), interleaved).astype(dtype)


def rotate_pairs(x, cosine, sine, interleaved):
    """Turn the pairs of numbers in the last dimension: (..., d), (..., d/2)."""
    if interleaved:
        first, second = x[..., 0::2], x[..., 1::2]
    else:
        first, second = np.split(x, 2, axis=-1)
    turned = first * cosine - second * sine, first * sine + second * cosine
    if interleaved:
        return np.stack(turned, axis=-1).reshape(x.shape)
    return np.concatenate(turned, axis=-1)


def frequencies(d, base):
    """Return the angles by which d / 2 pairs turn from one position to the next.

    Raises ValueError or TypeError as sinusoidal_positions does.
    """
    d = check_number("d", d, at_least=2)
    if d % 2:
        raise ValueError(f"numbers turn in pairs, so the width must be even: {d}")
    if not 0 < base < math.inf:
        raise ValueError(f"base must be a positive number: {base!r}")
    return base ** (-np.arange(0, d, 2) / d)


def alibi_slopes(num_heads):
    """Say for each head how much a key loses with each position that it is away.

    -> (num_heads,) of doubles. What to add to the scores is
    -slopes[:, None, None] * distance, as a floating attn_mask of (num_heads, n, n)
    with -inf for the future.
    For a power of 2 the slopes are 2^(-8 i / num_heads), i from 1 on. For another
    number they are, as in the authors' code, those of the next lower power of 2 and
    then every other one of the next higher. The paper's text has the formula alone.

    Raises ValueError or TypeError when num_heads is no positive integer.
    Press et al. 2021, section 3, and its published code.
    """
    num_heads = check_number("num_heads", num_heads, at_least=1)
    power = 2 ** (num_heads.bit_length() - 1)
    exponents = [8 * i / power for i in range(1, power + 1)]
    exponents += [8 * i / (2 * power) for i in range(1, 2 * power, 2)]
    return 2.0 ** -np.array(exponents[:num_heads])
