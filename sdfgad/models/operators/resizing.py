"""Images in other sizes: the nearest element, or a line between two, along each axis."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def _positions(length: int, new: int, scale: float, mode: str) -> Array:
    """Where each new element lies among the old ones."""
    k = np.arange(new)
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and new > 1):
        return (k + 0.5) / scale - 0.5
    if mode == "align_corners" and new > 1:
        return k * (length - 1) / (new - 1)
    return k / scale if mode == "asymmetric" else k * 0.0


def _rounded(places: Array, mode: str) -> Array:
    """Positions as integers."""
    if mode == "floor":
        return np.floor(places)
    if mode == "ceil":
        return np.ceil(places)
    return np.ceil(places - 0.5) if mode == "round_prefer_floor" else np.floor(places + 0.5)


def _nearest(x: Array, axis: int, places: Array, mode: str) -> Array:
    """The elements nearest to positions along an axis."""
    index = np.clip(_rounded(places, mode), 0, x.shape[axis] - 1).astype(np.int64)
    return np.take(x, index, axis=axis)


def _linear(x: Array, axis: int, places: Array) -> Array:
    """Values on the lines between neighbours along an axis."""
    places = np.clip(places, 0, x.shape[axis] - 1)
    first = np.floor(places).astype(np.int64)
    second = np.minimum(first + 1, x.shape[axis] - 1)
    extent = [1] * x.ndim
    extent[axis] = len(places)
    share = np.reshape((places - first).astype(x.dtype), extent)
    return np.take(x, first, axis=axis) * (1 - share) + np.take(x, second, axis=axis) * share


def resize(
    x: Array,
    roi: Any = None,
    scales: Any = None,
    sizes: Any = None,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
    axes: Any = None,
) -> Array:
    """Another size of each axis, given as such or by a factor."""
    axes = range(x.ndim) if axes is None else axes
    for k in range(len(axes)):
        axis = axes[k]
        length = x.shape[axis]
        new = int(sizes[k]) if sizes is not None else int(length * scales[k])
        scale = new / length if sizes is not None else scales[k]
        if scale == 1.0 and new == length:
            continue
        places = _positions(length, new, scale, coordinate_transformation_mode)
        x = _nearest(x, axis, places, nearest_mode) if mode == "nearest" else _linear(x, axis, places)
    return x
