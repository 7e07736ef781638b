"""Activations, element by element, and softmax. At kinks, gradients are those of PyTorch, such as 0 for relu at 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erf, expit

Array = Any


def relu(x: Array) -> Array:
    """max(x, 0), with derivative 0 at 0."""
    return np.where(x <= 0, 0.0, x)


def leaky_relu(x: Array, *, alpha: float = 0.01) -> Array:
    """x where it is positive, else a multiple of it."""
    return np.where(x > 0, x, alpha * x)


def p_relu(x: Array, slope: Array) -> Array:
    """As `leaky_relu`, with a factor that is an array."""
    return np.where(x > 0, x, slope * x)


def thresholded_relu(x: Array, *, alpha: float = 1.0) -> Array:
    """x where it is above a threshold, else 0."""
    return np.where(x > alpha, x, 0.0)


def elu(x: Array, *, alpha: float = 1.0) -> Array:
    """Exponential linear unit."""
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0)))


def selu(x: Array, *, alpha: float = 1.6732631921768188, gamma: float = 1.0507010221481323) -> Array:
    """Scaled exponential linear unit."""
    return gamma * elu(x, alpha=alpha)


def celu(x: Array, *, alpha: float = 1.0) -> Array:
    """Continuously differentiable exponential linear unit."""
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0) / alpha))


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    return expit(x)


def hard_sigmoid(x: Array, *, alpha: float = 0.2, beta: float = 0.5) -> Array:
    """A line between 0 and 1."""
    y = alpha * x + beta
    return np.where(y <= 0, 0.0, np.where(y >= 1, 1.0, y))


def hard_swish(x: Array) -> Array:
    """x times a line between 0 and 1."""
    return x * hard_sigmoid(x, alpha=1 / 6, beta=0.5)


def swish(x: Array, *, alpha: float = 1.0) -> Array:
    """x times its sigmoid."""
    return x * expit(alpha * x)


def softplus(x: Array) -> Array:
    """log(1 + exp(x))."""
    return np.logaddexp(x, 0.0)


def softsign(x: Array) -> Array:
    """x / (1 + |x|)."""
    return x / (1.0 + np.abs(x))


def mish(x: Array) -> Array:
    """x times the hyperbolic tangent of its softplus."""
    return x * np.tanh(softplus(x))


def shrink(x: Array, *, bias: float = 0.0, lambd: float = 0.5) -> Array:
    """x with what is near zero cut off."""
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0.0))


def gelu(x: Array, *, approximate: str = "none") -> Array:
    """x times the normal distribution function, or, for "tanh", what is near it."""
    if approximate == "tanh":
        return 0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1.0 + erf(x * 0.7071067811865476))


def softmax(x: Array, *, axis: int = -1) -> Array:
    """Exponentials that sum to 1 along an axis."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x: Array, *, axis: int = -1) -> Array:
    """The logarithm of `softmax`."""
    x = x - np.max(x, axis=axis, keepdims=True)
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


def hardmax(x: Array, *, axis: int = -1) -> Array:
    """1 at the first maximum along an axis, else 0."""
    place = np.expand_dims(np.argmax(x, axis=axis), axis)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return np.where(np.reshape(np.arange(x.shape[axis]), shape) == place, 1.0, 0.0).astype(x.dtype)
