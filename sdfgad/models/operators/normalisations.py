"""Normalisations by means and variances."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def _along_channels(a: Array, x: Array) -> Array:
    """One number for each channel, shaped to be combined with batch × channels × spatial axes."""
    return np.reshape(a, (-1, *((1,) * (x.ndim - 2))))


def _centred(x: Array, axes: Any) -> tuple[Array, Array, Array]:
    """The mean, the differences from it, and their mean square."""
    mean = np.mean(x, axis=axes, keepdims=True)
    rest = x - mean
    return mean, rest, np.mean(rest * rest, axis=axes, keepdims=True)


def batch_normalization(
    x: Array,
    scale: Array,
    b: Array,
    input_mean: Array,
    input_var: Array,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> tuple[Array, Array, Array]:
    """Normalisation of each channel, by running statistics, or by those of the batch while training.

    Returns:
        The result, and the running mean and variance afterwards.
    """
    if not training_mode:
        factor = scale / np.sqrt(input_var + epsilon)
        y = (x - _along_channels(input_mean, x)) * _along_channels(factor, x) + _along_channels(b, x)
        return y, input_mean, input_var
    mean, rest, variance = _centred(x, (0, *range(2, x.ndim)))
    y = rest / np.sqrt(variance + epsilon) * _along_channels(scale, x) + _along_channels(b, x)
    running_mean = input_mean * momentum + np.reshape(mean, -1) * (1.0 - momentum)
    return y, running_mean, input_var * momentum + np.reshape(variance, -1) * (1.0 - momentum)


def instance_normalization(x: Array, scale: Array, b: Array, *, epsilon: float = 1e-5) -> Array:
    """Normalisation of each channel of each element of the batch."""
    _, rest, variance = _centred(x, tuple(range(2, x.ndim)))
    return rest / np.sqrt(variance + epsilon) * _along_channels(scale, x) + _along_channels(b, x)


def layer_normalization(
    x: Array, scale: Array = None, b: Array = None, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> tuple[Array, Array, Array]:
    """Normalisation over the axes from one on.

    Returns:
        The result, the means, and the reciprocals of the standard deviations.
    """
    mean, rest, variance = _centred(x, tuple(range(axis % x.ndim, x.ndim)))
    inverse = 1.0 / np.sqrt(variance + epsilon)
    y = rest * inverse
    y = y if scale is None else y * scale
    return (y if b is None else y + b), mean, inverse


def rms_normalization(x: Array, scale: Array, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Array:
    """Division by the root of the mean square over the axes from one on."""
    square = np.mean(x * x, axis=tuple(range(axis % x.ndim, x.ndim)), keepdims=True)
    return x / np.sqrt(square + epsilon) * scale


def group_normalization(
    x: Array, scale: Array, bias: Array, *, num_groups: int, epsilon: float = 1e-5, stash_type: int = 1
) -> Array:
    """Normalisation of groups of channels of each element of the batch."""
    _, rest, variance = _centred(np.reshape(x, (x.shape[0], num_groups, -1)), (2,))
    y = np.reshape(rest / np.sqrt(variance + epsilon), x.shape)
    if scale.shape[0] != x.shape[1]:
        # Before opset 21 there is one factor for each group.
        scale, bias = np.repeat(scale, x.shape[1] // num_groups), np.repeat(bias, x.shape[1] // num_groups)
    return y * _along_channels(scale, x) + _along_channels(bias, x)


def mean_variance_normalization(x: Array, *, axes: Any = (0, 2, 3)) -> Array:
    """Differences from the mean, over the standard deviation."""
    _, rest, variance = _centred(x, tuple(axes))
    return rest / (np.sqrt(variance) + 1e-9)


def lp_normalization(x: Array, *, axis: int = -1, p: int = 2) -> Array:
    """Division by the norm along an axis."""
    if p == 1:
        return x / np.sum(np.abs(x), axis=axis, keepdims=True)
    return x / np.sqrt(np.sum(x * x, axis=axis, keepdims=True))


def lrn(x: Array, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Array:
    """Local response normalisation: division by a power of the sum of squares of neighbouring channels."""
    before, channels = (size - 1) // 2, x.shape[1]
    around = [(0, 0)] * x.ndim
    around[1] = (before, size - 1 - before)
    squares = np.pad(x * x, around)
    total = squares[:, 0:channels]
    for k in range(1, size):
        total = total + squares[:, k : k + channels]
    return x / (bias + alpha / size * total) ** beta
