"""Shapes: attributes, transposition, reshaping, flips and broadcasting."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import Lin
from sdfgad.parse import broadcasting, selecting
from sdfgad.parse.builder import Builder
from sdfgad.parse.functions.creation import asarray, shape_of
from sdfgad.parse.functions.output import is_fortran
from sdfgad.parse.functions.reduction import normalise_axes, with_axes
from sdfgad.parse.layout import in_order, is_contiguous, shared, stays_view
from sdfgad.parse.registry import attribute, function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.strides import ravelled, unravelled
from sdfgad.parse.values import Index, Selection, Tensor


@attribute("shape")
def shape(b: Builder, x: Any) -> tuple[Any, ...]:
    if isinstance(x, Selection):
        return (selecting.count(b, x), *shape(b, x.dense)[x.mask.ndim :])
    return tuple(extent.const if extent.is_const else extent for extent in x.shape)


@attribute("ndim")
def ndim(b: Builder, x: Any) -> int:
    return x.dense.ndim - x.mask.ndim + 1 if isinstance(x, Selection) else x.ndim


@attribute("size")
def size(b: Builder, x: Any) -> Any:
    if isinstance(x, Selection):
        rest = math.prod(b.constant(extent) for extent in x.dense.shape[x.mask.ndim :])
        return selecting.count(b, x).scaled(rest)
    unknown = [extent for extent in x.shape if not extent.is_const]
    if len(unknown) == 1:
        return unknown[0].scaled(math.prod(extent.const for extent in x.shape if extent.is_const))
    return math.prod(b.constant(extent) for extent in x.shape)


@attribute("dtype")
def dtype(b: Builder, x: Tensor | Selection) -> np.dtype[Any]:
    return x.dtype


@attribute("itemsize")
def itemsize(b: Builder, x: Tensor | Selection) -> int:
    return x.dtype.itemsize


@attribute("nbytes")
def nbytes(b: Builder, x: Any) -> Any:
    elements = size(b, x)
    return elements.scaled(x.dtype.itemsize) if isinstance(elements, Lin) else elements * x.dtype.itemsize


@attribute("T")
def transposed(b: Builder, x: Any) -> Tensor:
    return transpose(b, x)


@function(np.shape)
def shape_function(b: Builder, a: Any) -> tuple[Any, ...]:
    return shape(b, stacked(b, a))


@function(np.transpose, np.permute_dims, method="transpose")
def transpose(b: Builder, a: Any, *order: Any, axes: Any = None) -> Tensor:
    x = stacked(b, a)
    order = order if axes is None else (axes,)
    if len(order) == 1:
        order = () if order[0] is None else tuple(b.known(order[0]))
    places = b.known(order) if order else list(reversed(range(x.ndim)))
    places = [axis + x.ndim if axis < 0 else axis for axis in places]
    if sorted(places) != list(range(x.ndim)):
        raise b.unsupported(
            f"axes {tuple(order)} are no permutation of {x.ndim} dimensions",
            "Name each axis once: np.transpose(x, (1, 0)).",
        )
    inverse = [places.index(position) for position in range(x.ndim)]
    return x.reindexed(tuple(x.shape[axis] for axis in places), lambda p: tuple(p[i] for i in inverse))


@function(np.swapaxes, method="swapaxes")
def swapaxes(b: Builder, a: Any, axis1: Any, axis2: Any) -> Tensor:
    x = stacked(b, a)
    order = list(range(x.ndim))
    (first,), (second,) = normalise_axes(b, axis1, x.ndim), normalise_axes(b, axis2, x.ndim)
    order[first], order[second] = second, first
    return transpose(b, x, order)


@function(np.reshape)
def reshape_function(b: Builder, a: Any, /, shape: Any, order: Any = "C", *, copy: Any = None) -> Tensor:
    return reshape(b, stacked(b, a), shape, order=order, copy=copy)


@function(method="reshape")
def reshape(b: Builder, x: Tensor, *new_shape: Any, order: Any = "C", copy: Any = None) -> Tensor:
    """A view in another shape; a copy where NumPy makes one."""
    sizes = _sizes(b, x, new_shape[0] if len(new_shape) == 1 else new_shape)
    if is_fortran(b, order):
        return transpose(b, reshape(b, transpose(b, x), *reversed(sizes), copy=copy))
    new = shape_of(b, sizes)
    old = [extent.const for extent in x.shape]
    shaped = x.reindexed(new, lambda p: unravelled(ravelled(p, sizes), old))
    is_view = x.place is None or stays_view(b, x, sizes)
    if copy is False and not is_view:
        known = "cannot be" if is_view is False else "may not be"
        raise b.unsupported(f"this array {known} reshaped without a copy; NumPy raises here, too", "Leave out `copy`.")
    return b.stored(shaped) if copy else shared(b, x, shaped, is_view)


def _sizes(b: Builder, x: Tensor, entries: Any) -> list[int]:
    """A new shape for the elements of an array, in which one extent may be left open as -1."""
    sizes = b.known(entries)
    total = math.prod(b.constant(e) for e in x.shape)
    if -1 in sizes:
        rest = -math.prod(sizes)
        sizes[sizes.index(-1)] = total // rest if rest else 0
    if math.prod(sizes) != total:
        raise ShapeMismatch(
            f"{total} elements do not fit the shape {tuple(sizes)}",
            b.where,
            "Use a shape whose product is the number of elements; -1 stands for one length: x.reshape(n, -1).",
        )
    return sizes


@function(np.ravel, method="ravel")
def ravel(b: Builder, a: Any, order: Any = "C") -> Tensor:
    """A flat view where the array is contiguous, else a copy."""
    x = stacked(b, a)
    x = transpose(b, x) if is_fortran(b, order) else x
    flat = reshape(b, x, -1)
    is_copy = x.place is None or flat.buffer != x.buffer
    return flat if is_copy else shared(b, x, flat, is_contiguous(b, x))


@function(np.ascontiguousarray)
def ascontiguousarray(b: Builder, a: Any, dtype: Any = None) -> Tensor:
    """The array itself where it is contiguous, else a copy."""
    return in_order(b, _with_axis(asarray(b, a, dtype)), "C")


@function(np.asfortranarray)
def asfortranarray(b: Builder, a: Any, dtype: Any = None) -> Tensor:
    """The array itself where it is contiguous in column-major order, else a copy."""
    return in_order(b, _with_axis(asarray(b, a, dtype)), "F")


def _with_axis(x: Tensor) -> Tensor:
    return x if x.ndim else x.reindexed((Lin(1),), lambda _: ())


@function(method="flatten")
def flatten(b: Builder, a: Tensor, order: Any = "C") -> Tensor:
    return b.stored(reshape(b, a, -1, order=order))


@function(np.expand_dims)
def expand_dims(b: Builder, a: Any, axis: Any) -> Tensor:
    x = stacked(b, a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    return with_axes(x, normalise_axes(b, axis, x.ndim + count))


@function(np.squeeze, method="squeeze")
def squeeze(b: Builder, a: Any, axis: Any = None) -> Tensor:
    x = stacked(b, a)
    ones = tuple(position for position, extent in enumerate(x.shape) if extent == Lin(1))
    axes = ones if axis is None else normalise_axes(b, axis, x.ndim)
    if not set(axes) <= set(ones):
        raise ShapeMismatch(
            "only axes of length 1 can be squeezed", b.where, "Name an axis of length 1, or leave `axis` out."
        )
    if not axes:
        return x
    extents = tuple(e for position, e in enumerate(x.shape) if position not in axes)

    def old_index(p: Index) -> Index:
        rest = iter(p)
        return tuple(Lin(0) if position in axes else next(rest) for position in range(x.ndim))

    return x.reindexed(extents, old_index)


@function(np.flip)
def flip(b: Builder, m: Any, axis: Any = None) -> Tensor:
    x = stacked(b, m)
    axes = normalise_axes(b, axis, x.ndim)
    return x.reindexed(x.shape, lambda p: tuple(x.shape[k] - 1 - i if k in axes else i for k, i in enumerate(p)))


@function(np.broadcast_to)
def broadcast_to(b: Builder, array: Any, shape: Any, subok: bool = False) -> Tensor:
    """A view that cannot be updated."""
    return replace(broadcasting.broadcast_to(b, stacked(b, array), shape_of(b, shape)), weak=False, read_only=True)
