"""Other shapes of the same elements: joins, cuts, borders, repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def reshape(x: Array, shape: Any, *, allowzero: int = 0) -> Array:
    """Another shape; 0 keeps the extent of an axis unless `allowzero`, and -1 stands for what is left."""
    if allowzero:
        return np.reshape(x, tuple(shape))
    return np.reshape(x, tuple([x.shape[k] if k < x.ndim and shape[k] == 0 else shape[k] for k in range(len(shape))]))


def flatten(x: Array, *, axis: int = 1) -> Array:
    """A matrix: the axes before one as rows, the others as columns."""
    axis = axis + x.ndim if axis < 0 else axis
    return np.reshape(x, (int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))))


def transpose(x: Array, *, perm: Any = None) -> Array:
    """The axes in another order, by default in reverse."""
    return np.transpose(x, perm)


def squeeze(x: Array, axes: Any = None) -> Array:
    """Without axes of one element."""
    return np.squeeze(x) if axes is None else np.squeeze(x, tuple(axes))


def unsqueeze(x: Array, axes: Any) -> Array:
    """With new axes of one element."""
    return np.expand_dims(x, tuple(axes))


def concat(*arrays: Array, axis: int) -> Array:
    """Arrays one behind the other along an axis."""
    return np.concatenate(arrays, axis=axis)


def split(x: Array, sizes: Any = None, *, axis: int = 0, num_outputs: int = 0) -> Any:
    """Parts along an axis, of sizes, or of one size but for the last."""
    length = x.shape[axis]
    if sizes is None:
        each = -(-length // num_outputs)
        sizes = [each] * (num_outputs - 1) + [length - each * (num_outputs - 1)]
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes) - 1)]
    return np.split(x, ends, axis=axis)


def slice_axes(x: Array, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Array:
    """Slices along axes; steps may be negative."""
    parts = [slice(None)] * x.ndim
    for k in range(len(starts)):
        axis = k if axes is None else axes[k]
        step = 1 if steps is None else steps[k]
        # From the end on, what lies before the first element is none that is counted from the end.
        end = None if step < 0 and ends[k] < -x.shape[axis] else ends[k]
        parts[axis] = slice(starts[k], end, step)
    return x[tuple(parts)]


def expand(x: Array, shape: Any) -> Array:
    """Repeated along axes of one element, by NumPy's rules in both directions."""
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape)))


def tile(x: Array, repeats: Any) -> Array:
    """Repeated as a whole along each axis."""
    return np.tile(x, tuple(repeats))


def pad(x: Array, pads: Any, constant_value: Any = 0, axes: Any = None, *, mode: Any = "constant") -> Array:
    """With a border: of a value, of the nearest elements, reflected, or from the other side; negative ones cut off."""
    axes = tuple(range(x.ndim)) if axes is None else axes
    sides, inside = [(0, 0)] * x.ndim, [slice(None)] * x.ndim
    for k in range(len(axes)):
        before, after = int(pads[k]), int(pads[k + len(axes)])
        sides[axes[k]] = (max(before, 0), max(after, 0))
        inside[axes[k]] = slice(max(-before, 0), x.shape[axes[k]] + min(after, 0))
    x = x[tuple(inside)]
    if mode == "constant":
        return np.pad(x, sides, constant_values=constant_value)
    return np.pad(x, sides, mode=mode)


def shape(x: Array, *, start: int = 0, end: Any = None) -> Array:
    """The extents of axes."""
    return np.array(x.shape[start:end], dtype=np.int64)


def size(x: Array) -> Array:
    """The number of elements."""
    return x.size


def constant_of_shape(shape: Any, *, value: Any = 0.0) -> Array:
    """An array of one value."""
    return np.full(tuple(shape), value)


def trilu(x: Array, k: Any = 0, *, upper: int = 1) -> Array:
    """The triangle above, or below, a diagonal."""
    return np.triu(x, int(k)) if upper else np.tril(x, int(k))


def depth_to_space(x: Array, *, blocksize: int, mode: str = "DCR") -> Array:
    """Channels as blocks of pixels."""
    n, c, h, w = x.shape
    if mode == "DCR":
        y = np.reshape(x, (n, blocksize, blocksize, c // blocksize**2, h, w))
        y = np.transpose(y, (0, 3, 4, 1, 5, 2))
    else:
        y = np.reshape(x, (n, c // blocksize**2, blocksize, blocksize, h, w))
        y = np.transpose(y, (0, 1, 4, 2, 5, 3))
    return np.reshape(y, (n, c // blocksize**2, h * blocksize, w * blocksize))


def space_to_depth(x: Array, *, blocksize: int) -> Array:
    """Blocks of pixels as channels."""
    n, c, h, w = x.shape
    y = np.reshape(x, (n, c, h // blocksize, blocksize, w // blocksize, blocksize))
    return np.reshape(np.transpose(y, (0, 3, 5, 1, 2, 4)), (n, c * blocksize**2, h // blocksize, w // blocksize))


def identity(x: Array) -> Array:
    """The array itself."""
    return x


def dropout(x: Array, ratio: Any = 0.5, training_mode: Any = False, *, seed: int = 0) -> Array:
    """The array itself, as nothing is left out but while training."""
    return x


def eye_like(x: Array, *, dtype: Any = None, k: int = 0) -> Array:
    """Ones on a diagonal, in the shape of a matrix."""
    return np.eye(x.shape[0], x.shape[1], k, dtype=x.dtype if dtype is None else dtype)
