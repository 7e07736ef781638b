"""Concatenation and repetition of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import Lin
from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.facts import tensor_of
from sdfgad.parse.functions.output import into, require_cast
from sdfgad.parse.functions.reduction import normalise_axes
from sdfgad.parse.functions.shape import expand_dims, ravel, reshape, transpose
from sdfgad.parse.functions.views import atleast_1d, atleast_2d, atleast_3d, part
from sdfgad.parse.indexing import getitem
from sdfgad.parse.registry import function, optional
from sdfgad.parse.rows import segments
from sdfgad.parse.values import Index, Tensor, is_integer, shape_text


def parts_of(b: Builder, arrays: Any) -> list[Tensor]:
    """The tensors of a sequence of arrays, or of one array along its first axis."""
    if isinstance(arrays, Tensor):
        rows = range(b.constant(arrays.shape[0]))
        return [arrays.reindexed(arrays.shape[1:], lambda p, k=k: (Lin(k), *p)) for k in rows]  # type: ignore[misc]
    return [tensor_of(b, array) for array in arrays]


@function(np.concatenate, np.concat)
def concatenate(
    b: Builder, arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Tensor:
    tensors = _joined_rows(b, parts_of(b, arrays), axis)
    if not tensors:
        raise b.unsupported(
            "need at least one array to concatenate; NumPy raises here, too", "Pass at least one array."
        )
    if axis is None:
        tensors, axis = [ravel(b, tensor) for tensor in tensors], 0
    (position,) = normalise_axes(b, axis, tensors[0].ndim)
    lengths = [_length(b, tensor, tensors[0], position) for tensor in tensors]
    if out is not None and dtype is not None:
        raise b.unsupported("np.concatenate with both `out` and `dtype`; NumPy raises here, too", "Leave out `dtype`.")
    if not isinstance(dtype, np.dtype):
        dtype = np.dtype(dtype) if dtype is not None else common_dtype(tensors)
    for tensor in tensors:
        require_cast(b, tensor, dtype if out is None else out.dtype, casting)
    extents = list(tensors[0].shape)
    extents[position] = Lin(sum(lengths))
    result = b.ordered(b.new_view("", tuple(extents), dtype), *tensors)
    start = 0
    for tensor, length in zip(tensors, lengths, strict=True):
        b.assign(part(result, position, start, start + length), tensor)
        start += length
    return into(b, out, result)


def _joined_rows(b: Builder, parts: list[Tensor], axis: Any) -> list[Tensor]:
    """The parts, of which those that are rows of one array are joined already where that is the axis to join."""
    if not is_integer(axis) or axis != 0 or not all(part_.ndim for part_ in parts):
        return parts
    return [_without_rows(b, rows) for rows in segments(b, parts)]


def _without_rows(b: Builder, rows: Tensor) -> Tensor:
    count, length, *others = rows.shape
    if count == Lin(1):
        return rows.reindexed(rows.shape[1:], lambda p: (Lin(0), *p))
    return reshape(b, rows, (b.constant(count) * b.constant(length), *others))


def common_dtype(tensors: list[Tensor]) -> np.dtype[Any]:
    """The dtype to which NumPy promotes these tensors."""
    return np.result_type(*(tensor.dtype for tensor in tensors))


def _length(b: Builder, tensor: Tensor, first: Tensor, axis: int) -> int:
    others = [(x, y) for k, (x, y) in enumerate(zip(tensor.shape, first.shape, strict=False)) if k != axis]
    if tensor.ndim != first.ndim or not all(b.is_zero(x - y) for x, y in others):
        shapes = " and ".join(shape_text(t.shape) for t in (first, tensor))
        raise ShapeMismatch(
            f"shapes {shapes} cannot be joined along axis {axis}",
            b.where,
            "Make the lengths of all other axes equal, or join along another axis: axis=1, say.",
        )
    return b.constant(tensor.shape[axis])


@function(np.stack)
def stack(
    b: Builder, arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Tensor:
    parts = parts_of(b, arrays)
    (position,) = normalise_axes(b, axis, parts[0].ndim + 1) if parts else (axis,)
    joined = [_with_rows_at(b, rows, position) for rows in segments(b, parts)]
    return concatenate(b, joined, axis, out, dtype=dtype, casting=casting)


def _with_rows_at(b: Builder, rows: Tensor, axis: int) -> Tensor:
    """An array with its first axis moved."""
    others = list(range(1, rows.ndim))
    return transpose(b, rows, [*others[:axis], 0, *others[axis:]])


@function(np.hstack)
def hstack(b: Builder, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
    tensors = [atleast_1d(b, t) for t in parts_of(b, tup)]
    return concatenate(b, tensors, 0 if tensors[0].ndim == 1 else 1, dtype=dtype, casting=casting)


# Another name for it, which NumPy advises against.
@optional("numpy", "row_stack")
@function(np.vstack)
def vstack(b: Builder, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
    parts = parts_of(b, tup)
    are_rows = all(t.ndim == 1 for t in parts)
    tensors = segments(b, parts) if are_rows else [atleast_2d(b, t) for t in parts]
    return concatenate(b, tensors, 0, dtype=dtype, casting=casting)


@function(np.dstack)
def dstack(b: Builder, tup: Any) -> Tensor:
    return concatenate(b, [atleast_3d(b, t) for t in parts_of(b, tup)], 2)


@function(np.column_stack)
def column_stack(b: Builder, tup: Any) -> Tensor:
    parts = parts_of(b, tup)
    if all(t.ndim == 1 for t in parts):
        return concatenate(b, [transpose(b, rows) for rows in segments(b, parts)], 1)
    return concatenate(b, [expand_dims(b, atleast_1d(b, t), -1) if t.ndim < 2 else t for t in parts], 1)


@function(np.block)
def block(b: Builder, arrays: Any) -> Tensor:
    """A block matrix: the innermost lists are concatenated along the last axis, the next ones along the axis before."""
    depth = _depth(arrays)
    ndim = max(depth, *(t.ndim for t in _leaves(b, arrays)))
    joined = _joined(b, arrays, depth, ndim)
    return joined if depth else b.stored(joined)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _leaves(b: Builder, arrays: Any) -> list[Tensor]:
    return [t for a in arrays for t in _leaves(b, a)] if isinstance(arrays, list) else [tensor_of(b, arrays)]


def _joined(b: Builder, arrays: Any, depth: int, ndim: int) -> Tensor:
    if depth == 0:
        tensor = tensor_of(b, arrays)
        extra = ndim - tensor.ndim
        return tensor.reindexed((*(Lin(1),) * extra, *tensor.shape), lambda p: p[extra:])
    return concatenate(b, [_joined(b, a, depth - 1, ndim) for a in arrays], ndim - depth)


# --- repetitions

# An array whose elements are repeated by different numbers is put together of so many pieces at most.
MOST_PIECES = 16


@function(np.tile)
def tile(b: Builder, A: Any, reps: Any) -> Tensor:
    a = tensor_of(b, A)
    counts = b.known(reps)
    ndim = max(a.ndim, len(counts))
    counts = [1] * (ndim - len(counts)) + counts
    shape = (*(Lin(1),) * (ndim - a.ndim), *a.shape)
    sizes = [b.constant(extent) for extent in shape]
    result = b.new_view("", tuple(Lin(n * r) for n, r in zip(sizes, counts, strict=True)), a.dtype)
    repeated = tuple(Lin(e) for pair in zip(counts, sizes, strict=True) for e in pair)

    def place(p: Index) -> Index:
        return tuple(p[2 * k].scaled(size) + p[2 * k + 1] for k, size in enumerate(sizes))

    def source(p: Index) -> Index:
        return tuple(p[1::2])[ndim - a.ndim :]

    b.assign(result.reindexed(repeated, place), a.reindexed(repeated, source))
    return result


@function(np.repeat, method="repeat")
def repeat(b: Builder, a: Any, repeats: Any, axis: Any = None) -> Tensor:
    """``np.repeat`` by one number, or by numbers for each element that are known while parsing."""
    a = tensor_of(b, a)
    if axis is None:
        a, axis = ravel(b, a), 0
    (position,) = normalise_axes(b, axis, a.ndim)
    length = b.constant(a.shape[position])
    counts = b.known(repeats)
    if len(counts) == 1:
        return _repeated(b, a, position, counts[0])
    if len(counts) != length:
        raise ShapeMismatch(
            f"{len(counts)} numbers of repetitions for {length} elements",
            b.where,
            "Give one number, or one for each element.",
        )
    if length > MOST_PIECES:
        places = b.constant_array(np.repeat(np.arange(length), counts))
        return b.stored(getitem(b, a, (*(slice(None),) * position, places)))
    pieces = [_repeated(b, part(a, position, k, k + 1), position, count) for k, count in enumerate(counts)]
    return concatenate(b, pieces, position)


def _repeated(b: Builder, a: Tensor, axis: int, count: int) -> Tensor:
    size = b.constant(a.shape[axis])
    result = b.new_view("", (*a.shape[:axis], Lin(size * count), *a.shape[axis + 1 :]), a.dtype)
    repeated = (*a.shape[:axis], Lin(size), Lin(count), *a.shape[axis + 1 :])

    def place(p: Index) -> Index:
        return (*p[:axis], p[axis].scaled(count) + p[axis + 1], *p[axis + 2 :])

    b.assign(result.reindexed(repeated, place), a.reindexed(repeated, lambda p: (*p[: axis + 1], *p[axis + 2 :])))
    return result
