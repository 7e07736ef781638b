"""Pooling, with ATen's arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.models import operators as op

Array = Any


def max_pool2d_with_indices(
    x: Array, kernel: Any, stride: Any = (), padding: Any = (0,), dilation: Any = (1,), ceil_mode: bool = False
) -> tuple[Array, None]:
    """The maximum of each window; its place is not worked out."""
    return _max_pool(x, 2, kernel, stride, padding, dilation, ceil_mode), None


def max_pool3d_with_indices(
    x: Array, kernel: Any, stride: Any = (), padding: Any = (0,), dilation: Any = (1,), ceil_mode: bool = False
) -> tuple[Array, None]:
    """The maximum of each window; its place is not worked out."""
    return _max_pool(x, 3, kernel, stride, padding, dilation, ceil_mode), None


def _each(value: Any, axes: int) -> tuple[Any, ...]:
    """A number for each axis, where one may be given for all."""
    value = value if isinstance(value, (tuple, list)) else (value,)
    return tuple(value) if len(value) == axes else tuple(value) * axes


def _max_pool(x: Array, axes: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Array:
    """Maxima of windows of arrays with or without a batch."""
    kernel, padding = _each(kernel, axes), _each(padding, axes)
    stride = kernel if stride == () else _each(stride, axes)
    y = op.max_pool(
        x if x.ndim == axes + 2 else x[None],
        kernel_shape=kernel,
        strides=stride,
        pads=padding + padding,
        dilations=_each(dilation, axes),
        ceil_mode=int(ceil_mode),
    )
    return y if x.ndim == axes + 2 else y[0]


def _avg_pool(x: Array, axes: int, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, with_border: bool) -> Array:
    """Means of windows of arrays with or without a batch."""
    kernel, padding = _each(kernel, axes), _each(padding, axes)
    stride = kernel if stride == () else _each(stride, axes)
    y = op.average_pool(
        x if x.ndim == axes + 2 else x[None],
        kernel_shape=kernel,
        strides=stride,
        pads=padding + padding,
        ceil_mode=int(ceil_mode),
        count_include_pad=int(with_border),
    )
    return y if x.ndim == axes + 2 else y[0]


def avg_pool1d(
    x: Array, kernel: Any, stride: Any = (), padding: Any = (0,), ceil_mode: bool = False, with_border: bool = True
) -> Array:
    """The mean of each window."""
    return _avg_pool(x, 1, kernel, stride, padding, ceil_mode, with_border)


def avg_pool2d(
    x: Array, kernel: Any, stride: Any = (), padding: Any = (0,), ceil_mode: bool = False, with_border: bool = True
) -> Array:
    """The mean of each window."""
    return _avg_pool(x, 2, kernel, stride, padding, ceil_mode, with_border)


def avg_pool3d(
    x: Array, kernel: Any, stride: Any = (), padding: Any = (0,), ceil_mode: bool = False, with_border: bool = True
) -> Array:
    """The mean of each window."""
    return _avg_pool(x, 3, kernel, stride, padding, ceil_mode, with_border)


def adaptive_avg_pool2d(x: Array, size: Any) -> Array:
    """Means of as many parts along each of the last two axes as are asked for."""
    for k in range(2):
        axis, length = x.ndim - 2 + k, x.shape[x.ndim - 2 + k]
        starts = [j * length // size[k] for j in range(size[k])]
        ends = [-(-(j + 1) * length // size[k]) for j in range(size[k])]
        parts = [
            np.mean(np.take(x, np.arange(starts[j], ends[j]), axis=axis), axis=axis, keepdims=True)
            for j in range(size[k])
        ]
        x = np.concatenate(parts, axis=axis)
    return x
