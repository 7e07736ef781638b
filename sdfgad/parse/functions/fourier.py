"""Discrete Fourier transforms: one library call for the last axis, and the functions of ``np.fft`` around it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.parse.builder import Builder
from sdfgad.parse.registry import function
from sdfgad.parse.values import Tensor, as_tensor, astype


def transform(x: np.ndarray[Any, Any], sign: int) -> np.ndarray[Any, Any]:
    """The unnormalised transform along the last axis, with ``exp(sign * 2j * pi * j * k / n)``."""
    n = x.shape[-1]
    return np.fft.fft(x) if sign < 0 else np.fft.ifft(x) * n


@function(transform)
def transform_handler(b: Builder, x: Any, sign: int) -> Tensor:
    x = as_tensor(x)
    dtype = np.result_type(x.dtype, np.complex64)
    sizes = [b.constant(extent) for extent in x.shape]
    if sizes[-1] == 0:
        raise ShapeMismatch("a Fourier transform of no elements", b.where, "Transform at least one element.")
    return b.call("fourier", [astype(x, dtype)], [(sizes, dtype)], (math.prod(sizes[:-1]), sizes[-1], sign))[0]
