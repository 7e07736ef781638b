"""Sums, means and extrema over axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.frontend.builder import Builder
from sdfgad.frontend.functions.elementwise import elementwise
from sdfgad.frontend.registry import function
from sdfgad.frontend.values import Index, Tensor, as_tensor, astype, is_integer, scalar
from sdfgad.ir.expr import Const, Int
from sdfgad.ir.linear import Lin


def normalise_axes(b: Builder, axis: Any, ndim: int) -> tuple[int, ...]:
    """`axis` as sorted positions; None is every axis.

    Raises:
        UnsupportedProgram: an axis is out of range or named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    axes = [b.constant(a) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    positions = sorted(a + ndim if a < 0 else a for a in axes)
    if len(set(positions)) < len(positions) or any(not 0 <= a < ndim for a in positions):
        raise b.unsupported(f"axis {axis} does not fit an array of {ndim} dimensions")
    return tuple(positions)


def reduce_over(b: Builder, x: Tensor, axes: tuple[int, ...], keepdims: bool, how: str, start: Any) -> Tensor:
    """Accumulate `x` over `axes`, from `start` on."""
    kept = tuple(e for position, e in enumerate(x.shape) if position not in axes)
    total = b.new_view("t", kept, x.dtype)
    b.assign(total, scalar(Const(start, x.dtype)))
    left = [position for position in range(x.ndim) if position not in axes]
    b.compute(x.shape, total, lambda p: tuple(p[position] for position in left), x, how)
    if keepdims:
        return with_axes(total, axes)
    return total if kept else total.as_value(settled=True)


def with_axes(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """`x` with extents of 1 inserted at the positions `axes` of the result."""
    ndim = x.ndim + len(axes)
    old = [position for position in range(ndim) if position not in axes]
    shape = [Lin(1)] * ndim
    for extent, position in zip(x.shape, old, strict=True):
        shape[position] = extent
    return x.reindexed(tuple(shape), lambda p: tuple(p[position] for position in old))


@function(np.sum, np.add.reduce, method="sum")
def sum_(b: Builder, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    x = as_tensor(x)
    wide = np.dtype(dtype) if dtype else np.sum(np.zeros(1, x.dtype)).dtype
    axes = normalise_axes(b, axis, x.ndim)
    return reduce_over(b, astype(x, wide), axes, keepdims, "add", 0)


@function(np.mean, method="mean")
def mean(b: Builder, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    x = as_tensor(x)
    wide = np.dtype(dtype) if dtype else np.mean(np.zeros(1, x.dtype)).dtype
    axes = normalise_axes(b, axis, x.ndim)
    total = reduce_over(b, astype(x, wide), axes, keepdims, "add", 0)
    return astype(elementwise(b, "divide", total, count_of(b, [x.shape[a] for a in axes])), wide)


def count_of(b: Builder, extents: list[Lin]) -> Any:
    """The number of elements in a box, as a weak number."""
    unknown = [extent for extent in extents if not extent.is_const]
    known = math.prod(extent.const for extent in extents if extent.is_const)
    if not unknown:
        return float(known)
    count = scalar(Int(unknown[0].scaled(known)), weak=True)
    for extent in unknown[1:]:
        count = elementwise(b, "multiply", count, extent)
    return count


@function(np.max, np.amax, np.maximum.reduce, method="max")
def max_(b: Builder, x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    return _extremum(b, x, axis, keepdims, "maximum")


@function(np.min, np.amin, np.minimum.reduce, method="min")
def min_(b: Builder, x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    return _extremum(b, x, axis, keepdims, "minimum")


def _extremum(b: Builder, x: Any, axis: Any, keepdims: bool, how: str) -> Tensor:
    x = as_tensor(x)
    axes = normalise_axes(b, axis, x.ndim)
    for position in axes:
        if not b.holds(x.shape[position] - 1):
            raise b.unsupported(f"the {how} over an axis that may be empty has no value")
    return reduce_over(b, x, axes, keepdims, how, _lowest(x.dtype) if how == "maximum" else _highest(x.dtype))


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -math.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def _highest(dtype: np.dtype[Any]) -> Any:
    return math.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


__all__ = ["Index", "count_of", "is_integer", "normalise_axes", "reduce_over", "with_axes"]
