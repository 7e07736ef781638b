"""Pooling: maxima, means and norms of windows, and of whole images."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.models.operators.windows import Array, counts, padded_sides, part, places, with_border


def _filled(x: Array, size: Any, strides: Any, dilations: Any, sides: Any, ceil_mode: int) -> list[tuple[int, int]]:
    """The sides of the border with what windows reach beyond its end, where those count (``ceil_mode``)."""
    found = []
    for k in range(len(size)):
        before, after = sides[k]
        reach, length = (size[k] - 1) * dilations[k] + 1, x.shape[k + 2] + before + after
        steps = -(-(length - reach) // strides[k]) + 1
        # No window starts in the border after the array.
        steps = steps - 1 if (steps - 1) * strides[k] >= x.shape[k + 2] + before else steps
        beyond = max((steps - 1) * strides[k] + reach - length, 0) if ceil_mode else 0
        found.append((before, after + beyond))
    return found


def max_pool(
    x: Array,
    *,
    kernel_shape: Any,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Array:
    """The maximum of each window; where several elements are the largest, the gradient is that of the first."""
    axes = len(kernel_shape)
    strides = (1,) * axes if strides is None else strides
    dilations = (1,) * axes if dilations is None else dilations
    sides = padded_sides(x, kernel_shape, strides, dilations, auto_pad, pads)
    x = with_border(x, _filled(x, kernel_shape, strides, dilations, sides, ceil_mode), -np.inf)
    steps = counts(x, kernel_shape, strides, dilations)
    order = places(kernel_shape)
    y = x[part(order[0], steps, strides, dilations)]
    for place in order[1:]:
        other = x[part(place, steps, strides, dilations)]
        y = np.where(other > y, other, y)
    return y


def _sums(x: Array, size: Any, strides: Any, dilations: Any) -> Array:
    """The sum of each window."""
    steps, order = counts(x, size, strides, dilations), places(size)
    y = x[part(order[0], steps, strides, dilations)]
    for place in order[1:]:
        y = y + x[part(place, steps, strides, dilations)]
    return y


def average_pool(
    x: Array,
    *,
    kernel_shape: Any,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Array:
    """The mean of each window: of its elements in the array, or, with `count_include_pad`, in the border, too."""
    axes = len(kernel_shape)
    strides = (1,) * axes if strides is None else strides
    dilations = (1,) * axes if dilations is None else dilations
    sides = padded_sides(x, kernel_shape, strides, dilations, auto_pad, pads)
    filled = _filled(x, kernel_shape, strides, dilations, sides, ceil_mode)
    total = _sums(with_border(x, filled, 0.0), kernel_shape, strides, dilations)
    if all(before == 0 and after == 0 for before, after in filled):
        return total / int(np.prod(kernel_shape))
    counted = [(0, 0) for _ in sides]
    inner = [x.shape[k + 2] for k in range(axes)]
    if count_include_pad:
        inner = [inner[k] + sides[k][0] + sides[k][1] for k in range(axes)]
        counted = [(0, filled[k][1] - sides[k][1]) for k in range(axes)]
    else:
        counted = filled
    ones = with_border(np.ones((1, 1, *inner), x.dtype), counted, 0.0)
    return total / _sums(ones, kernel_shape, strides, dilations)


def lp_pool(
    x: Array,
    *,
    kernel_shape: Any,
    auto_pad: str = "NOTSET",
    dilations: Any = None,
    p: int = 2,
    pads: Any = None,
    strides: Any = None,
) -> Array:
    """The p-norm of each window."""
    axes = len(kernel_shape)
    strides = (1,) * axes if strides is None else strides
    dilations = (1,) * axes if dilations is None else dilations
    x = with_border(x, padded_sides(x, kernel_shape, strides, dilations, auto_pad, pads), 0.0)
    return _sums(np.abs(x) ** p, kernel_shape, strides, dilations) ** (1.0 / p)


def global_average_pool(x: Array) -> Array:
    """The mean of each channel."""
    return np.mean(x, axis=tuple(range(2, x.ndim)), keepdims=True)


def global_max_pool(x: Array) -> Array:
    """The maximum of each channel."""
    return np.max(x, axis=tuple(range(2, x.ndim)), keepdims=True)


def global_lp_pool(x: Array, *, p: int = 2) -> Array:
    """The p-norm of each channel."""
    return np.sum(np.abs(x) ** p, axis=tuple(range(2, x.ndim)), keepdims=True) ** (1.0 / p)
