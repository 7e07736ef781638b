"""Views: permutations of axes, diagonals, and parts along an axis."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import Lin
from sdfgad.parse.broadcasting import broadcast_shapes, broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.creation import filled
from sdfgad.parse.functions.facts import tensor_of
from sdfgad.parse.functions.reduction import normalise_axes, with_axes
from sdfgad.parse.functions.shape import flip, reshape, transpose
from sdfgad.parse.indexing import getitem
from sdfgad.parse.registry import attribute, function
from sdfgad.parse.values import Index, Tensor, is_integer


def axis_of(b: Builder, axis: Any, ndim: int) -> int:
    """An axis as a non-negative integer."""
    (position,) = normalise_axes(b, b.constant(axis), ndim)
    return position


@function(np.moveaxis)
def moveaxis(b: Builder, a: Any, source: Any, destination: Any) -> Tensor:
    a = tensor_of(b, a)
    sources, places = ([axis_of(b, one, a.ndim) for one in b.known(axes)] for axes in (source, destination))
    if len(sources) != len(places):
        raise b.unsupported(
            f"{len(sources)} axes for {len(places)} places",
            "Give as many places as axes: np.moveaxis(x, (0, 1), (1, 0)).",
        )
    order = [axis for axis in range(a.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return transpose(b, a, order)


@function(np.rollaxis)
def rollaxis(b: Builder, a: Any, axis: Any, start: Any = 0) -> Tensor:
    a = tensor_of(b, a)
    position, place = axis_of(b, axis, a.ndim), b.constant(start)
    place = place + a.ndim if place < 0 else place
    order = [k for k in range(a.ndim) if k != position]
    order.insert(place - 1 if position < place else place, position)
    return transpose(b, a, order)


@function(np.matrix_transpose, np.linalg.matrix_transpose)
@attribute("mT")
def matrix_transpose(b: Builder, x: Any) -> Tensor:
    return moveaxis(b, x, -1, -2)


@function(np.fliplr)
def fliplr(b: Builder, m: Any) -> Tensor:
    return flip(b, tensor_of(b, m), 1)


@function(np.flipud)
def flipud(b: Builder, m: Any) -> Tensor:
    return flip(b, tensor_of(b, m), 0)


@function(np.rot90)
def rot90(b: Builder, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Tensor:
    m = tensor_of(b, m)
    first, second = (axis_of(b, a, m.ndim) for a in axes)
    order = list(range(m.ndim))
    order[first], order[second] = order[second], order[first]
    turns = b.constant(k) % 4
    if turns == 2:
        return flip(b, m, (first, second))
    if turns == 1:
        return transpose(b, flip(b, m, second), order)
    return flip(b, transpose(b, m, order), second) if turns == 3 else flip(b, m, ())


@function(np.diagonal, method="diagonal")
def diagonal(b: Builder, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """A diagonal, its axis last, as a view that cannot be updated."""
    return replace(along_diagonal(b, tensor_of(b, a), offset, axis1, axis2), read_only=True)


def along_diagonal(b: Builder, a: Tensor, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """The same as a view that can be updated."""
    first, second = axis_of(b, axis1, a.ndim), axis_of(b, axis2, a.ndim)
    shift = b.constant(offset)
    rows, columns = b.constant(a.shape[first]), b.constant(a.shape[second])
    down, right = max(-shift, 0), max(shift, 0)
    length = max(min(rows - down, columns - right), 0)
    others = [k for k in range(a.ndim) if k not in (first, second)]

    def old_index(p: Index) -> Index:
        index = dict(zip(others, p[:-1], strict=True)) | {first: p[-1] + down, second: p[-1] + right}
        return tuple(index[k] for k in range(a.ndim))

    return a.reindexed((*(a.shape[k] for k in others), Lin(length)), old_index)


@function(np.diag)
def diag(b: Builder, v: Any, k: Any = 0) -> Tensor:
    """A diagonal of a matrix, or a matrix with a given diagonal."""
    v = tensor_of(b, v)
    if v.ndim != 1:
        return diagonal(b, v, k)
    size = Lin(b.constant(v.shape[0]) + abs(b.constant(k)))
    matrix = filled(b, (size, size), 0, v.dtype)
    b.assign(along_diagonal(b, matrix, k), v)
    return matrix


@function(np.diagflat)
def diagflat(b: Builder, v: Any, k: Any = 0) -> Tensor:
    return diag(b, reshape(b, tensor_of(b, v), -1), k)


def at_least(b: Builder, a: Any, shape: Any) -> Tensor:
    """`a` with new axes; `shape`: number of dimensions -> positions of the new axes in the result."""
    a = tensor_of(b, a)
    places = shape.get(a.ndim)
    return a if places is None else with_axes(a, places)


@function(np.atleast_1d)
def atleast_1d(b: Builder, *arys: Any) -> Any:
    return _each(b, arys, {0: (0,)})


@function(np.atleast_2d)
def atleast_2d(b: Builder, *arys: Any) -> Any:
    return _each(b, arys, {0: (0, 1), 1: (0,)})


@function(np.atleast_3d)
def atleast_3d(b: Builder, *arys: Any) -> Any:
    return _each(b, arys, {0: (0, 1, 2), 1: (0, 2), 2: (2,)})


def _each(b: Builder, arrays: Any, shape: Any) -> Any:
    results = tuple(at_least(b, a, shape) for a in arrays)
    return results[0] if len(results) == 1 else results


@function(np.broadcast_arrays)
def broadcast_arrays(b: Builder, *args: Any) -> tuple[Tensor, ...]:
    tensors = [tensor_of(b, a) for a in args]
    shape = broadcast_shapes(b, *(t.shape for t in tensors))
    return tuple(stretched(b, t, shape) for t in tensors)


def stretched(b: Builder, x: Tensor, shape: Index) -> Tensor:
    """An array broadcast to a shape; a view that repeats elements cannot be updated."""
    wide = broadcast_to(b, x, shape)
    return wide if wide is x else replace(wide, weak=False, read_only=True)


# --- parts


def part(a: Tensor, axis: int, start: int, stop: int) -> Tensor:
    """``a[..., start:stop, ...]`` at an axis, for bounds within it."""
    shape = (*a.shape[:axis], Lin(max(stop - start, 0)), *a.shape[axis + 1 :])
    return a.reindexed(shape, lambda p: (*p[:axis], p[axis] + start, *p[axis + 1 :]))


@function(np.array_split)
def array_split(b: Builder, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Tensor]:
    """Parts as views, of nearly equal lengths or between given indices."""
    ary = tensor_of(b, ary)
    position = axis_of(b, axis, ary.ndim)
    length = b.constant(ary.shape[position])
    if is_integer(indices_or_sections):
        sections = b.constant(indices_or_sections)
        if sections <= 0:
            raise b.unsupported(
                "the number of sections must be larger than 0", "Use at least one section; NumPy raises here, too."
            )
        size, longer = divmod(length, sections)
        ends = [size * k + min(k, longer) for k in range(sections + 1)]
    else:
        ends = [0, *b.known(indices_or_sections), length]
    bounds = [slice(i, j).indices(length) for i, j in pairwise(ends)]
    return [part(ary, position, start, stop) for start, stop, _ in bounds]


@function(np.split)
def split(b: Builder, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Tensor]:
    ary = tensor_of(b, ary)
    if is_integer(indices_or_sections):
        length = b.constant(ary.shape[axis_of(b, axis, ary.ndim)])
        if b.constant(indices_or_sections) > 0 and length % b.constant(indices_or_sections):
            what = f"an axis of {length} does not split into {b.constant(indices_or_sections)} equal parts"
            raise ShapeMismatch(what, b.where, "Write np.array_split(x, n), whose parts may differ in length.")
    return array_split(b, ary, indices_or_sections, axis)


@function(np.hsplit)
def hsplit(b: Builder, ary: Any, indices_or_sections: Any) -> list[Tensor]:
    ary = tensor_of(b, ary)
    return split(b, ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@function(np.vsplit)
def vsplit(b: Builder, ary: Any, indices_or_sections: Any) -> list[Tensor]:
    return split(b, ary, indices_or_sections, 0)


@function(np.dsplit)
def dsplit(b: Builder, ary: Any, indices_or_sections: Any) -> list[Tensor]:
    return split(b, ary, indices_or_sections, 2)


@function(np.unstack)
def unstack(b: Builder, x: Any, /, *, axis: Any = 0) -> tuple[Tensor, ...]:
    x = moveaxis(b, x, axis, 0)
    return tuple(getitem(b, x, k) for k in range(b.constant(x.shape[0])))


@function(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    b: Builder, x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Tensor:
    """A read-only view of all windows: the positions along the axes, and then the elements of a window."""
    if writeable:
        raise b.unsupported(
            "windows that can be written to are not supported",
            "Leave out `writeable`, and update the array that the windows are of.",
        )
    x, sizes = tensor_of(b, x), b.known(window_shape)
    places = list(range(x.ndim)) if axis is None else [k % x.ndim for k in b.known(axis)]
    if len(sizes) != len(places):
        raise ShapeMismatch(
            f"{len(sizes)} window sizes for {len(places)} axes", b.where, "Give one size for each axis."
        )
    outer = list(x.shape)
    for place, size in zip(places, sizes, strict=True):
        outer[place] = outer[place] - size + 1
    if any(b.constant(extent) < 1 for extent in outer):
        raise ShapeMismatch(
            "a window is larger than the array", b.where, "Make the window smaller; NumPy raises here, too."
        )

    def old_index(p: Index) -> Index:
        inner = list(p[: x.ndim])
        for place, offset in zip(places, p[x.ndim :], strict=True):
            inner[place] = inner[place] + offset
        return tuple(inner)

    return replace(x.reindexed((*outer, *map(Lin, sizes)), old_index), read_only=True)
