"""Normalisations, with ATen's arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.models import operators as op

Array = Any


def _along_channels(a: Array, x: Array) -> Array:
    """One number for each channel, shaped to be combined with batch × channels × spatial axes."""
    return np.reshape(a, (-1, *((1,) * (x.ndim - 2))))


def _scaled(y: Array, weight: Array, bias: Array, x: Array) -> Array:
    """Times a weight and plus a bias for each channel, if there are any."""
    y = y if weight is None else y * _along_channels(weight, x)
    return y if bias is None else y + _along_channels(bias, x)


def native_batch_norm_legit_no_training(
    x: Array, weight: Array, bias: Array, mean: Array, variance: Array, momentum: float, eps: float
) -> tuple[Array, None, None]:
    """Normalisation of each channel by running statistics."""
    factor = 1.0 / np.sqrt(variance + eps)
    factor = factor if weight is None else factor * weight
    y = (x - _along_channels(mean, x)) * _along_channels(factor, x)
    return (y if bias is None else y + _along_channels(bias, x)), None, None


def native_batch_norm_legit_functional(
    x: Array, weight: Array, bias: Array, mean: Array, variance: Array, training: bool, momentum: float, eps: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Normalisation of each channel by the batch, and the running statistics afterwards."""
    if not training:
        y = native_batch_norm_legit_no_training(x, weight, bias, mean, variance, momentum, eps)[0]
        return y, mean, variance, mean, variance
    axes = (0, *range(2, x.ndim))
    ours = np.mean(x, axis=axes)
    rest = x - _along_channels(ours, x)
    square = np.mean(rest * rest, axis=axes)
    inverse = 1.0 / np.sqrt(square + eps)
    y = _scaled(rest * _along_channels(inverse, x), weight, bias, x)
    n = x.size // x.shape[1]
    after = variance * (1.0 - momentum) + momentum * square * (n / max(n - 1, 1))
    return y, ours, inverse, mean * (1.0 - momentum) + momentum * ours, after


def batch_norm_no_stats(
    x: Array, weight: Array, bias: Array, training: bool, momentum: float, eps: float
) -> tuple[Array, None, None]:
    """Normalisation of each channel by the batch."""
    axes = (0, *range(2, x.ndim))
    rest = x - np.mean(x, axis=axes, keepdims=True)
    inverse = 1.0 / np.sqrt(np.mean(rest * rest, axis=axes, keepdims=True) + eps)
    return _scaled(rest * inverse, weight, bias, x), None, None


def native_layer_norm(x: Array, shape: Any, weight: Array, bias: Array, eps: float) -> tuple[Array, Array, Array]:
    """Normalisation over the last axes."""
    return op.layer_normalization(x, weight, bias, axis=-len(shape), epsilon=eps)


def layer_norm(
    x: Array, shape: Any, weight: Array = None, bias: Array = None, eps: float = 1e-5, _: Any = None
) -> Array:
    """Normalisation over the last axes."""
    return op.layer_normalization(x, weight, bias, axis=-len(shape), epsilon=eps)[0]


def rms_norm(x: Array, shape: Any, weight: Array = None, eps: Any = None) -> Array:
    """Division by the root of the mean square over the last axes."""
    eps = np.finfo(x.dtype).eps if eps is None else eps
    return op.rms_normalization(x, 1.0 if weight is None else weight, axis=-len(shape), epsilon=eps)


def group_norm(
    x: Array, groups: int, weight: Array = None, bias: Array = None, eps: float = 1e-5, _: Any = None
) -> Array:
    """Normalisation of groups of channels of each element of the batch."""
    parts = np.reshape(x, (x.shape[0], groups, -1))
    rest = parts - np.mean(parts, axis=2, keepdims=True)
    inverse = 1.0 / np.sqrt(np.mean(rest * rest, axis=2, keepdims=True) + eps)
    return _scaled(np.reshape(rest * inverse, x.shape), weight, bias, x)


def native_group_norm(
    x: Array, weight: Array, bias: Array, n: int, channels: int, size: int, groups: int, eps: float
) -> tuple[Array, None, None]:
    """Normalisation of groups of channels of each element of the batch."""
    return group_norm(x, groups, weight, bias, eps), None, None
