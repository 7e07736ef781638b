"""Reductions, with ATen's arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def _axes(dim: Any) -> Any:
    """NumPy's `axis`."""
    if dim is None or dim == ():
        return None
    return dim if isinstance(dim, int) else tuple(dim)


def sum(x: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    """The sum along axes."""
    return np.sum(x, axis=_axes(dim), keepdims=keepdim, dtype=dtype)


def mean(x: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    """The mean along axes."""
    return np.mean(x, axis=_axes(dim), keepdims=keepdim, dtype=dtype)


def prod(x: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    """The product along axes."""
    return np.prod(x, axis=_axes(dim), keepdims=keepdim, dtype=dtype)


def amax(x: Array, dim: Any = (), keepdim: bool = False) -> Array:
    """The maximum along axes; ties share the gradient."""
    return np.max(x, axis=_axes(dim), keepdims=keepdim)


def amin(x: Array, dim: Any = (), keepdim: bool = False) -> Array:
    """The minimum along axes; ties share the gradient."""
    return np.min(x, axis=_axes(dim), keepdims=keepdim)


def max_of_all(x: Array) -> Array:
    """The maximum of all elements; ties share the gradient."""
    return np.max(x)


def min_of_all(x: Array) -> Array:
    """The minimum of all elements; ties share the gradient."""
    return np.min(x)


def _at(x: Array, place: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements at a place along an axis, and the places."""
    place = np.expand_dims(place, dim)
    found = np.take_along_axis(x, place, dim)
    return (found, place) if keepdim else (np.squeeze(found, dim), np.squeeze(place, dim))


def max_along(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The first maximum along an axis, and its place."""
    return _at(x, np.argmax(x, axis=dim), dim, keepdim)


def min_along(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The first minimum along an axis, and its place."""
    return _at(x, np.argmin(x, axis=dim), dim, keepdim)


def argmax(x: Array, dim: Any = None, keepdim: bool = False) -> Array:
    """The place of the first maximum."""
    return np.argmax(x, axis=dim, keepdims=keepdim)


def argmin(x: Array, dim: Any = None, keepdim: bool = False) -> Array:
    """The place of the first minimum."""
    return np.argmin(x, axis=dim, keepdims=keepdim)


def var(x: Array, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Array:
    """The variance along axes."""
    return np.var(x, axis=_axes(dim), ddof=1 if correction is None else correction, keepdims=keepdim)


def var_mean(x: Array, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> tuple[Array, Array]:
    """The variance and the mean along axes."""
    return var(x, dim, correction=correction, keepdim=keepdim), mean(x, dim, keepdim)


def logsumexp(x: Array, dim: Any, keepdim: bool = False) -> Array:
    """The logarithm of the sum of exponentials along axes."""
    most = np.max(x, axis=_axes(dim), keepdims=True)
    found = most + np.log(np.sum(np.exp(x - most), axis=_axes(dim), keepdims=True))
    return found if keepdim else np.sum(found, axis=_axes(dim))


def linalg_vector_norm(x: Array, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    """The p-norm along axes."""
    if p == 2:
        # At zero the derivative is 0.
        square = np.sum(x * x, axis=_axes(dim), keepdims=keepdim)
        return np.where(square == 0, 0.0, np.sqrt(np.where(square == 0, 1.0, square)))
    if p == np.inf:
        return np.max(np.abs(x), axis=_axes(dim), keepdims=keepdim)
    return np.sum(np.abs(x) ** p, axis=_axes(dim), keepdims=keepdim) ** (1.0 / p)


def cumsum(x: Array, dim: int, dtype: Any = None) -> Array:
    """Sums up to each element."""
    return np.cumsum(x, axis=dim)


def any(x: Array, dim: Any = None, keepdim: bool = False) -> Array:
    """Whether some element is true, along axes."""
    return np.any(x, axis=_axes(dim), keepdims=keepdim)


def all(x: Array) -> Array:
    """Whether all elements are true."""
    return np.all(x)
