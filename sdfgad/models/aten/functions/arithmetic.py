"""Arithmetic, activations and products, with ATen's arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.models import operators as op
from sdfgad.parse.functions.special import stop_gradient

Array = Any


# --- arithmetic


def add(x: Array, y: Array, alpha: Any = 1) -> Array:
    """x + alpha y."""
    return x + y if alpha == 1 else x + alpha * y


def sub(x: Array, y: Array, alpha: Any = 1) -> Array:
    """x - alpha y."""
    return x - y if alpha == 1 else x - alpha * y


def rsub(x: Array, y: Array, alpha: Any = 1) -> Array:
    """y - alpha x."""
    return y - x if alpha == 1 else y - alpha * x


def div(x: Array, y: Array, rounding_mode: Any = None) -> Array:
    """The quotient, rounded down or towards zero if that is asked for."""
    if rounding_mode is None:
        return x / y
    return np.floor_divide(x, y) if rounding_mode == "floor" else np.trunc(x / y)


def detach(x: Array) -> Array:
    """The values, without a derivative."""
    return stop_gradient(x)


# --- activations


def elu(x: Array, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Array:
    """Scaled exponential linear unit."""
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0) * input_scale))


def leaky_relu(x: Array, negative_slope: float = 0.01) -> Array:
    """x where it is positive, else a multiple of it."""
    return op.leaky_relu(x, alpha=negative_slope)


def hardtanh(x: Array, least: Any = -1, most: Any = 1) -> Array:
    """x between two values, with derivative 0 at them."""
    return np.where(x <= least, least, np.where(x >= most, most, x))


def hardsigmoid(x: Array) -> Array:
    """A line between 0 and 1."""
    return op.hard_sigmoid(x, alpha=1 / 6, beta=0.5)


def softplus(x: Array, beta: Any = 1, threshold: Any = 20) -> Array:
    """log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold."""
    return np.where(x * beta > threshold, x, np.logaddexp(x * beta, 0.0) / beta)


def softmax(x: Array, dim: int, dtype: Any = None) -> Array:
    """Exponentials that sum to 1 along an axis."""
    return op.softmax(x.astype(dtype) if dtype else x, axis=dim)


def log_softmax(x: Array, dim: int, dtype: Any = None) -> Array:
    """The logarithm of `softmax`."""
    return op.log_softmax(x.astype(dtype) if dtype else x, axis=dim)


# --- products


def addmm(c: Array, a: Array, b: Array, beta: Any = 1, alpha: Any = 1) -> Array:
    """beta c + alpha a b."""
    return op.gemm(a, b, c, alpha=alpha, beta=beta)


def baddbmm(c: Array, a: Array, b: Array, beta: Any = 1, alpha: Any = 1) -> Array:
    """beta c + alpha a b, for each element of a batch."""
    return (c if beta == 1 else beta * c) + (a @ b if alpha == 1 else alpha * (a @ b))


def linear(x: Array, w: Array, b: Array = None) -> Array:
    """x wᵀ + b, for rows along the last axis."""
    rows = np.reshape(x, (-1, x.shape[-1])) @ w.T
    y = np.reshape(rows, (*x.shape[:-1], w.shape[0]))
    return y if b is None else y + b


def einsum(equation: str, arrays: Any, path: Any = None) -> Array:
    """Sums of products by letters of axes."""
    return np.einsum(equation.replace(" ", ""), *arrays)


def convolution(
    x: Array,
    w: Array,
    b: Array,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Array:
    """Convolution of any number of axes, or its transpose."""
    pads = (*padding, *padding)
    if transposed:
        return op.conv_transpose(
            x, w, b, strides=stride, pads=pads, dilations=dilation, output_padding=output_padding, group=groups
        )
    return op.conv(x, w, b, strides=stride, pads=pads, dilations=dilation, group=groups)
