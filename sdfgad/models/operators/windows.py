"""Sliding windows over the last axes: padding as networks state it, and all windows of an array as one array."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def padded_sides(x: Array, size: Any, strides: Any, dilations: Any, auto_pad: str, pads: Any) -> list[tuple[int, int]]:
    """How many elements are added before and after each spatial axis: as given, or so that windows fit (``SAME_*``)."""
    axes = len(size)
    if auto_pad == "VALID":
        return [(0, 0) for _ in range(axes)]
    if auto_pad == "NOTSET":
        return [(0, 0) if pads is None else (int(pads[k]), int(pads[k + axes])) for k in range(axes)]
    sides = []
    for k in range(axes):
        length, reach = x.shape[k + 2], (size[k] - 1) * dilations[k] + 1
        missing = max((-(-length // strides[k]) - 1) * strides[k] + reach - length, 0)
        less, more = missing // 2, missing - missing // 2
        sides.append((less, more) if auto_pad == "SAME_UPPER" else (more, less))
    return sides


def with_border(x: Array, sides: Any, value: float) -> Array:
    """The array with elements of a value around its spatial axes."""
    if all(before == 0 and after == 0 for before, after in sides):
        return x
    return np.pad(x, [(0, 0), (0, 0), *sides], constant_values=value)


def counts(x: Array, size: Any, strides: Any, dilations: Any) -> list[int]:
    """How many windows there are along each spatial axis."""
    reaches = [(size[k] - 1) * dilations[k] + 1 for k in range(len(size))]
    return [(x.shape[k + 2] - reaches[k]) // strides[k] + 1 for k in range(len(size))]


def part(place: Any, steps: Any, strides: Any, dilations: Any) -> tuple[Any, ...]:
    """The slices that select, of all windows, the element at a place in the window."""
    starts = [place[k] * dilations[k] for k in range(len(place))]
    ends = [starts[k] + (steps[k] - 1) * strides[k] + 1 for k in range(len(place))]
    return tuple([slice(None), slice(None)] + [slice(starts[k], ends[k], strides[k]) for k in range(len(place))])


def places(size: Any) -> list[tuple[int, ...]]:
    """The places in a window, in order."""
    found: list[tuple[int, ...]] = [()]
    for length in size:
        found = [(*place, k) for place in found for k in range(length)]
    return found


def columns(x: Array, size: Any, strides: Any, dilations: Any) -> Array:
    """All windows (im2col): batch × channels × places in the window × windows along each axis."""
    steps = counts(x, size, strides, dilations)
    found = np.empty((x.shape[0], x.shape[1], int(np.prod(size)), *steps), x.dtype)
    for k, place in enumerate(places(size)):
        found[:, :, k] = x[part(place, steps, strides, dilations)]
    return found
