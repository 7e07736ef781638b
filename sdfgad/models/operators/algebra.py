"""Products of matrices, quotients and remainders, types."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def gemm(
    a: Array, b: Array, c: Array = None, *, alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0
) -> Array:
    """``alpha * a @ b + beta * c``, with transposes."""
    y = (a.T if transA else a) @ (b.T if transB else b)
    y = y if alpha == 1.0 else alpha * y
    if c is None:
        return y
    return y + (c if beta == 1.0 else beta * c)


def einsum(*arrays: Array, equation: str) -> Array:
    """Sums of products by letters of axes."""
    return np.einsum(equation.replace(" ", ""), *arrays)


def mod(a: Array, b: Array, *, fmod: int = 0) -> Array:
    """The remainder, with the sign of the divisor, or with that of what is divided if `fmod`."""
    return np.fmod(a, b) if fmod else np.mod(a, b)


def clip(x: Array, least: Any = None, most: Any = None) -> Array:
    """Between two values; the gradient passes where x is inside or on a bound."""
    x = x if least is None else np.where(x < least, least, x)
    return x if most is None else np.where(x > most, most, x)


def is_inf(x: Array, *, detect_negative: int = 1, detect_positive: int = 1) -> Array:
    """Where there are infinities, of the signs that are asked for."""
    found = np.isinf(x)
    found = found if detect_negative else found & (x > 0)
    return found if detect_positive else found & (x < 0)


def integer_div(a: Array, b: Array) -> Array:
    """The quotient of integers without its fraction."""
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def cast(x: Array, *, dtype: Any) -> Array:
    """The same numbers of another dtype."""
    return np.asarray(x).astype(dtype)


def cast_like(x: Array, like: Array) -> Array:
    """The same numbers with the dtype of another array."""
    return np.asarray(x).astype(like.dtype)


def power(x: Array, exponent: Any) -> Array:
    """A power with the dtype of the base."""
    return x**exponent if np.ndim(exponent) == 0 else x ** np.asarray(exponent).astype(x.dtype)


def integer_range(start: Any, limit: Any, delta: Any) -> Array:
    """Integers from one on, in steps, up to a limit that is left out."""
    return np.arange(int(start), int(limit), int(delta))
