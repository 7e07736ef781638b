"""Discrete Fourier transforms along one axis, as library calls, for the functions of ``np.fft`` around them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.parse.builder import Builder
from sdfgad.parse.registry import function
from sdfgad.parse.values import Tensor, as_tensor, astype

Array = np.ndarray[Any, Any]


def transform(x: Array, axis: int, sign: int) -> Array:
    """The unnormalised transform along an axis, with ``exp(sign * 2j * pi * j * k / n)``."""
    return np.fft.fft(x, axis=axis) if sign < 0 else np.fft.ifft(x, axis=axis) * x.shape[axis]


def real_transform(x: Array, axis: int) -> Array:
    """The first ``n // 2 + 1`` values of the unnormalised transform of real numbers."""
    return np.fft.rfft(x, axis=axis)


def half_transform(x: Array, axis: int, n: int) -> Array:
    """The `n` real numbers whose unnormalised transform starts with ``x / n``; of the mean (and, for an even n, of the
    Nyquist frequency) the imaginary part is ignored."""
    return np.fft.irfft(x, n, axis) * n


@function(transform)
def transform_handler(b: Builder, x: Any, axis: int, sign: int) -> Tensor:
    x, sizes, axis = _lines(b, x, axis)
    dtype = _complex(x.dtype)
    numbers = (*_around(sizes, axis), sign)
    result = b.call("fourier", [astype(x, dtype)], [(sizes, dtype)], numbers)[0]
    return b.ordered(result, x)


@function(real_transform)
def real_transform_handler(b: Builder, x: Any, axis: int) -> Tensor:
    x, sizes, axis = _lines(b, x, axis)
    dtype = _complex(x.dtype)
    half = [*sizes[:axis], sizes[axis] // 2 + 1, *sizes[axis + 1 :]]
    result = b.call("real_fourier", [astype(x, _real(dtype))], [(half, dtype)], _around(sizes, axis))[0]
    return b.ordered(result, x)


@function(half_transform)
def half_transform_handler(b: Builder, x: Any, axis: int, n: int) -> Tensor:
    x, sizes, axis = _lines(b, x, axis)
    dtype = _complex(x.dtype)
    whole = [*sizes[:axis], n, *sizes[axis + 1 :]]
    result = b.call("half_fourier", [astype(x, dtype)], [(whole, _real(dtype))], _around(whole, axis))[0]
    return b.ordered(result, x)


def axis_of(x: Array, outer: int, n: int, inner: int) -> int:
    """The axis of length `n`, before which there are `outer` and behind which `inner` elements."""
    return next(axis for axis in range(x.ndim) if _around(list(x.shape), axis) == (outer, n, inner))


@function(axis_of)
def axis_handler(b: Builder, x: Any, outer: int, n: int, inner: int) -> int:
    sizes = [b.constant(extent) for extent in x.shape]
    return next(axis for axis in range(len(sizes)) if _around(sizes, axis) == (outer, n, inner))


def _lines(b: Builder, x: Any, axis: int) -> tuple[Tensor, list[int], int]:
    """An array, its shape, and its axis counted from the first."""
    x = as_tensor(x)
    sizes = [b.constant(extent) for extent in x.shape]
    if not -len(sizes) <= axis < len(sizes):
        raise ShapeMismatch(
            f"an array of {len(sizes)} dimensions has no axis {axis}",
            b.where,
            "Name one of its axes: axis=-1 is the last.",
        )
    if sizes[axis] == 0:
        raise ShapeMismatch(
            "a Fourier transform needs at least one element",
            b.where,
            "Pass an array that is not empty; NumPy raises here, too.",
        )
    return x, sizes, axis % len(sizes)


def _around(sizes: list[int], axis: int) -> tuple[int, int, int]:
    """The array as (outer, n, inner)."""
    return math.prod(sizes[:axis]), sizes[axis], math.prod(sizes[axis + 1 :])


def _complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a transform: of integers, also of small ones, it is in double precision."""
    return np.result_type(dtype if dtype.kind in "fc" else np.float64, np.complex64)


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.empty(0, dtype).real.dtype
