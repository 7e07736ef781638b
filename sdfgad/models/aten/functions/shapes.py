"""Parts, joins and indices, with ATen's arguments."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from sdfgad.parse.functions.special import stop_gradient

Array = Any


def expand(x: Array, size: Any, implicit: bool = False) -> Array:
    """Repeated along axes of one element; -1 keeps an extent."""
    before = len(size) - x.ndim
    shape = [x.shape[k - before] if size[k] == -1 else size[k] for k in range(len(size))]
    return np.broadcast_to(x, tuple(shape))


def squeeze(x: Array, dim: Any) -> Array:
    """Without those of the axes that have one element."""
    axes = (dim,) if isinstance(dim, int) else dim
    return np.squeeze(x, tuple([axis for axis in axes if x.shape[axis] == 1]))


def split(x: Array, size: int, dim: int = 0) -> Any:
    """Parts of one size along an axis, the last of what is left."""
    return np.split(x, list(range(size, x.shape[dim], size)), axis=dim)


def split_with_sizes(x: Array, sizes: Any, dim: int = 0) -> Any:
    """Parts of sizes along an axis."""
    return np.split(x, [builtins.sum(sizes[: k + 1]) for k in range(len(sizes) - 1)], axis=dim)


def _along(x: Array, dim: int, place: Any) -> tuple[Any, ...]:
    """The index that selects a place along an axis, and all along the others."""
    axis = dim + x.ndim if dim < 0 else dim
    return (slice_of(None, None), *[slice_of(None, None) for _ in range(axis - 1)], place) if axis else (place,)


def slice_of(start: Any, end: Any, step: int = 1) -> Any:
    """A slice."""
    return builtins.slice(start, end, step)


def slice(x: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    """Every so many elements along an axis."""
    return x[_along(x, dim, slice_of(start, end, step))]


def select(x: Array, dim: int, index: int) -> Array:
    """The elements at a place along an axis."""
    return x[_along(x, dim, index)]


def slice_scatter(x: Array, part: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    """A copy in which elements along an axis are replaced."""
    y = x.copy()
    y[_along(x, dim, slice_of(start, end, step))] = part
    return y


def select_scatter(x: Array, part: Array, dim: int, index: int) -> Array:
    """A copy in which the elements at a place along an axis are replaced."""
    y = x.copy()
    y[_along(x, dim, index)] = part
    return y


def constant_pad_nd(x: Array, pad: Any, value: Any = 0) -> Array:
    """A border of a value around the last axes; negative ones cut off."""
    sides, inside = [(0, 0)] * x.ndim, [slice_of(None, None)] * x.ndim
    for k in range(len(pad) // 2):
        before, after, axis = pad[2 * k], pad[2 * k + 1], x.ndim - 1 - k
        sides[axis] = (max(before, 0), max(after, 0))
        inside[axis] = slice_of(max(-before, 0), x.shape[axis] + min(after, 0))
    return np.pad(x[tuple(inside)], sides, constant_values=value)


def copy(x: Array, source: Array) -> Array:
    """An array of the first one's shape and dtype with the elements of another."""
    return np.broadcast_to(source, x.shape).astype(x.dtype)


def full(size: Any, value: Any, dtype: Any = None) -> Array:
    """An array of one value."""
    return np.full(tuple(size), value, dtype)


def full_like(x: Array, value: Any, dtype: Any = None) -> Array:
    """An array of one value, of the shape of another."""
    return np.full(x.shape, value, x.dtype if dtype is None else dtype)


def scalar_tensor(value: Any, dtype: Any = None) -> Array:
    """A number."""
    return np.full((), value, dtype)


def to_copy(x: Array, dtype: Any = None) -> Array:
    """A copy, of another dtype if one is given."""
    return x.copy() if dtype is None else x.astype(dtype)


def index(x: Array, indices: Any) -> Array:
    """Elements by integer arrays, for all axes at the front or for some of them."""
    return x[tuple([slice_of(None, None) if one is None else one for one in indices])]


def gather(x: Array, dim: int, index: Array, sparse_grad: bool = False) -> Array:
    """For each place of `index` the element that it names along an axis."""
    parts = [slice_of(0, None if k == dim % x.ndim else index.shape[k]) for k in range(x.ndim)]
    return np.take_along_axis(x[tuple(parts)], index, dim)


def embedding(weight: Array, indices: Array, padding: int = -1, scaled: bool = False, sparse: bool = False) -> Array:
    """Rows of a table by their numbers; the row `padding` has no gradient."""
    rows = weight[indices]
    if padding < 0:
        return rows
    kept = np.expand_dims(indices != padding, -1)
    return np.where(kept, rows, stop_gradient(rows))


def pixel_shuffle(x: Array, factor: int) -> Array:
    """Channels as blocks of pixels."""
    n, c, h, w = x.shape
    y = np.reshape(x, (n, c // factor**2, factor, factor, h, w))
    return np.reshape(np.transpose(y, (0, 1, 4, 2, 5, 3)), (n, c // factor**2, h * factor, w * factor))
