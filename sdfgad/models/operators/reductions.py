"""Sums, means, extrema and norms along axes, and what is accumulated along one."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def _axes(axes: Any, noop: int) -> Any:
    """NumPy's `axis`: None for all; an empty tuple for none."""
    if axes is None or len(axes) == 0:
        return () if noop else None
    return tuple(axes)


def reduce_sum(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The sum along axes."""
    return np.sum(x, axis=_axes(axes, noop_with_empty_axes), keepdims=bool(keepdims))


def reduce_mean(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The mean along axes."""
    return np.mean(x, axis=_axes(axes, noop_with_empty_axes), keepdims=bool(keepdims))


def reduce_max(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The maximum along axes; ties share the gradient."""
    return np.max(x, axis=_axes(axes, noop_with_empty_axes), keepdims=bool(keepdims))


def reduce_min(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The minimum along axes; ties share the gradient."""
    return np.min(x, axis=_axes(axes, noop_with_empty_axes), keepdims=bool(keepdims))


def reduce_prod(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The product along axes."""
    return np.prod(x, axis=_axes(axes, noop_with_empty_axes), keepdims=bool(keepdims))


def reduce_l1(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The sum of absolute values along axes."""
    return reduce_sum(np.abs(x), axes, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


def reduce_l2(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The root of the sum of squares along axes, with derivative 0 at 0."""
    square = reduce_sum(x * x, axes, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)
    return np.where(square == 0, 0.0, np.sqrt(np.where(square == 0, 1.0, square)))


def reduce_sum_square(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The sum of squares along axes."""
    return reduce_sum(x * x, axes, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


def reduce_log_sum(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The logarithm of the sum along axes."""
    return np.log(reduce_sum(x, axes, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes))


def reduce_log_sum_exp(x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    """The logarithm of the sum of exponentials along axes."""
    along = _axes(axes, noop_with_empty_axes)
    most = np.max(x, axis=along, keepdims=True)
    found = most + np.log(np.sum(np.exp(x - most), axis=along, keepdims=True))
    return found if keepdims else np.sum(found, axis=along)


def arg_max(x: Array, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Array:
    """The place of the first maximum along an axis."""
    found = np.argmax(x, axis=axis)
    return np.expand_dims(found, axis) if keepdims else found


def arg_min(x: Array, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Array:
    """The place of the first minimum along an axis."""
    found = np.argmin(x, axis=axis)
    return np.expand_dims(found, axis) if keepdims else found


def cum_sum(x: Array, axis: int, *, exclusive: int = 0, reverse: int = 0) -> Array:
    """Sums up to each element, without it if `exclusive`, from the end on if `reverse`."""
    x = np.flip(x, axis) if reverse else x
    y = np.cumsum(x, axis=int(axis))
    y = y - x if exclusive else y
    return np.flip(y, axis) if reverse else y


def maximum(*arrays: Array) -> Array:
    """The maximum of arrays, element by element."""
    found = arrays[0]
    for one in arrays[1:]:
        found = np.maximum(found, one)
    return found


def minimum(*arrays: Array) -> Array:
    """The minimum of arrays, element by element."""
    found = arrays[0]
    for one in arrays[1:]:
        found = np.minimum(found, one)
    return found


def total(*arrays: Array) -> Array:
    """The sum of arrays, element by element."""
    found = arrays[0]
    for one in arrays[1:]:
        found = found + one
    return found


def mean(*arrays: Array) -> Array:
    """The mean of arrays, element by element."""
    return total(*arrays) / len(arrays)
