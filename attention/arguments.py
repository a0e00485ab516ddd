"""Arguments of the public functions: numbers, types and shapes, checked in one place.

Numbers of any width are worked out in at least double precision and rounded once, at
the end, to the type that came in; integers and booleans give doubles.
"""

import operator

import numpy as np


def check_number(name, value, at_least=None):
    """Return an integer argument, or raise an error that repeats it.

    Raises TypeError when it is not an integer, ValueError when it is below
    `at_least`.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer: {value!r}") from None
    if at_least is not None and number < at_least:
        raise ValueError(f"{name} must be at least {at_least}: {value!r}")
    return number


def check_real(x):
    """Return x as an array, and the type its result should have.

    Raises TypeError when x does not hold real numbers.
    """
    x = np.asarray(x)
    if x.dtype.kind not in "biuf":
        raise TypeError(f"expected real numbers: {x.dtype}")
    return x, x.dtype if x.dtype.kind == "f" else np.dtype(float)


def to_double(x):
    """Return an array in at least double precision."""
    return x.astype(np.result_type(x.dtype, float), copy=False)


def as_doubles(x):
    """Return x in at least double precision, and the type its result should have.

    Raises TypeError when x does not hold real numbers.
    """
    x, dtype = check_real(x)
    return to_double(x), dtype


def check_shapes(**arrays):
    """Return query, key and perhaps value as arrays, and the type of their result.

    Raises ValueError when their shapes do not fit (quoting them).
    """
    pairs = [check_real(array) for array in arrays.values()]
    dtype = np.result_type(*(dtype for _, dtype in pairs))
    shapes = [array.shape for array, _ in pairs]
    given = ", ".join(f"{name} {np.shape(array)}" for name, array in arrays.items())
    if min(map(len, shapes)) < 2:
        raise ValueError(f"each needs two dimensions, a row a position: {given}")
    query, key, *value = shapes
    if query[-1] != key[-1]:
        raise ValueError(f"query and key differ in width: {given}")
    if value and key[-2] != value[0][-2]:
        raise ValueError(f"key and value differ in number: {given}")
    if common_shape(*(shape[:-2] for shape in shapes)) is None:
        raise ValueError(f"leading dimensions do not broadcast: {given}")
    return [array for array, _ in pairs], dtype


def check_doubles(**arrays):
    """Return query, key and perhaps value in doubles, and the type of their result.

    Raises ValueError when their shapes do not fit (quoting them).
    """
    arrays, dtype = check_shapes(**arrays)
    return [to_double(array) for array in arrays], dtype


def common_shape(*shapes):
    """Return the shape that these broadcast to, or None when they do not."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def default_scale(width):
    """Return 1 / sqrt(d_k), by which scores of vectors of that width are multiplied."""
    return 1 / np.sqrt(max(width, 1))
