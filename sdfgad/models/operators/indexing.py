"""Elements by integer arrays: gathering, scattering, sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def gather(x: Array, indices: Array, *, axis: int = 0) -> Array:
    """Elements along an axis, by their places."""
    return np.take(x, indices, axis=axis)


def gather_elements(x: Array, indices: Array, *, axis: int = 0) -> Array:
    """For each place of `indices` the element that it names along an axis."""
    return x[_open_grid(indices, axis)]


def _open_grid(indices: Array, axis: int) -> tuple[Any, ...]:
    """Indices for all axes: those given for one, each place's own for the others."""
    axis = axis + indices.ndim if axis < 0 else axis
    found = []
    for k in range(indices.ndim):
        extent = [1] * indices.ndim
        extent[k] = indices.shape[k]
        found.append(indices if k == axis else np.reshape(np.arange(indices.shape[k]), extent))
    return tuple(found)


def gather_nd(x: Array, indices: Array, *, batch_dims: int = 0) -> Array:
    """Parts of an array by rows of indices."""
    return x[tuple([indices[..., k] for k in range(indices.shape[-1])])]


def scatter_elements(x: Array, indices: Array, updates: Array, *, axis: int = 0, reduction: str = "none") -> Array:
    """A copy in which the elements that `indices` names along an axis are replaced, or added to."""
    y = x.copy()
    if reduction == "add":
        np.add.at(y, _open_grid(indices, axis), updates)
    else:
        y[_open_grid(indices, axis)] = updates
    return y


def scatter_nd(x: Array, indices: Array, updates: Array, *, reduction: str = "none") -> Array:
    """A copy in which the parts that rows of indices name are replaced, or added to."""
    y = x.copy()
    place = tuple([indices[..., k] for k in range(indices.shape[-1])])
    if reduction == "add":
        np.add.at(y, place, updates)
    else:
        y[place] = updates
    return y


def one_hot(indices: Array, depth: Any, values: Array, *, axis: int = -1) -> Array:
    """A new axis, with the second value at the place that the index names, and the first one elsewhere."""
    axis = axis + indices.ndim + 1 if axis < 0 else axis
    extent = [1] * (indices.ndim + 1)
    extent[axis] = int(depth)
    there = np.reshape(np.arange(int(depth)), extent) == np.expand_dims(indices % int(depth), axis)
    return np.where(there, values[1], values[0])


def top_k(x: Array, k: Any, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> tuple[Array, Array]:
    """The largest, or smallest, elements along an axis, and their places."""
    order = np.argsort(-x if largest else x, axis=axis, kind="stable")
    place = np.take(order, np.arange(int(np.reshape(k, -1)[0]) if np.ndim(k) else int(k)), axis=axis)
    return gather_elements(x, place, axis=axis), place
