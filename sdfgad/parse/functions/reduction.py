"""Reductions: sums, means and extrema over axes."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op
from sdfgad.parse import selecting
from sdfgad.parse.broadcasting import broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise
from sdfgad.parse.elementwise import where as elementwise_where
from sdfgad.parse.functions.output import into
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.values import Index, Selection, Tensor, astype, is_integer, scalar


def normalise_axes(b: Builder, axis: Any, ndim: int) -> tuple[int, ...]:
    """`axis` as sorted positions; None is every axis.

    Raises:
        UnsupportedProgram: an axis is out of range or named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    axes = b.known(axis)
    positions = sorted(a + ndim if a < 0 else a for a in axes)
    if len(set(positions)) < len(positions) or any(not 0 <= a < ndim for a in positions):
        raise b.unsupported(
            f"axis {axis} does not fit an array of {ndim} dimensions",
            "Use an axis from 0 to ndim - 1, or -1 for the last; NumPy raises here, too.",
        )
    return tuple(positions)


def reduce_over(b: Builder, x: Tensor, axes: tuple[int, ...], keepdims: bool, how: str, start: Any) -> Tensor:
    """Reduce `x` over `axes` by the accumulation `how`, beginning with `start`."""
    shape = tuple(e for position, e in enumerate(x.shape) if position not in axes)
    total = b.new_view("", shape, x.dtype)
    b.assign(total, scalar(Const(start, x.dtype)))
    left = [position for position in range(x.ndim) if position not in axes]
    b.compute(x.shape, total, lambda p: tuple(p[position] for position in left), x, how)
    b.ordered(total, x.reindexed(shape, partial(_without, left, x.ndim)))
    if keepdims:
        return with_axes(total, axes)
    return total if shape else total.as_value(settled=True)


def _without(left: list[int], ndim: int, index: Index) -> Index:
    """The index of the first of the elements that are reduced to that at `index`."""
    kept = dict(zip(left, index, strict=True))
    return tuple(kept.get(position, Lin(0)) for position in range(ndim))


def with_axes(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """`x` with extents of 1 inserted at the positions `axes` of the result."""
    ndim = x.ndim + len(axes)
    old = [position for position in range(ndim) if position not in axes]
    shape = [Lin(1)] * ndim
    for extent, position in zip(x.shape, old, strict=True):
        shape[position] = extent
    return x.reindexed(tuple(shape), lambda p: tuple(p[position] for position in old))


@function(np.sum, method="sum")
def sum_(
    b: Builder,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = 0,
    where: Any = True,
) -> Tensor:
    x = _summands(b, a, axis)
    axis = None if _is_over_selection(a, axis) else axis
    wide = np.dtype(dtype) if dtype else np.sum(np.zeros(1, x.dtype)).dtype
    x = x if where is True else elementwise_where(b, where, x, 0)
    axes = normalise_axes(b, axis, x.ndim)
    # Booleans are added by a logical or.
    how = "maximum" if wide.kind == "b" else "add"
    total = reduce_over(b, astype(x, wide), axes, keepdims, how, 0)
    if not (isinstance(initial, (int, float)) and initial == 0):
        total = elementwise(b, "add", total, astype(stacked(b, initial), wide))
    return into(b, out, _with_kept_axes(a, total, keepdims))


@function(np.mean, method="mean")
def mean(
    b: Builder,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Tensor:
    if where is not True:
        return _mean_of_chosen(b, stacked(b, a), axis, dtype, out, keepdims, where)
    number = _count_of_selection(b, a, axis)
    x = _summands(b, a, axis)
    wide = np.dtype(dtype) if dtype else np.mean(np.zeros(1, x.dtype)).dtype
    axes = normalise_axes(b, None if number is not None else axis, x.ndim)
    total = reduce_over(b, astype(x, wide), axes, keepdims, "add", 0)
    number = count_of(b, [x.shape[k] for k in axes]) if number is None else number
    return into(b, out, _with_kept_axes(a, astype(elementwise(b, "divide", total, number), wide), keepdims))


def _mean_of_chosen(b: Builder, x: Tensor, axis: Any, dtype: Any, out: Any, keepdims: bool, where: Any) -> Tensor:
    """The mean of the elements where a condition holds."""
    wide = np.dtype(dtype) if dtype else np.mean(np.zeros(1, x.dtype)).dtype
    total = sum_(b, x, axis, wide, keepdims=keepdims, where=where)
    chosen = broadcast_to(b, astype(stacked(b, where), INT), x.shape)
    number = sum_(b, chosen, axis, keepdims=keepdims)
    return into(b, out, astype(elementwise(b, "divide", total, number), wide))


def _is_over_selection(x: Any, axis: Any) -> bool:
    """Whether a reduction is over all elements of a selection, whose order does not matter."""
    if not isinstance(x, Selection):
        return False
    return axis is None or (x.dense.ndim == x.mask.ndim and axis in (0, -1, (0,), (-1,)))


def _with_kept_axes(x: Any, total: Tensor, keepdims: bool) -> Tensor:
    """A reduction's result; over a selection with `keepdims`, one axis in place of all axes of the mask."""
    if not isinstance(x, Selection) or not keepdims:
        return total
    shape = (Lin(1),) * (1 + x.dense.ndim - x.mask.ndim)
    return total.reindexed(shape, lambda _: (Lin(0),) * total.ndim)


def _summands(b: Builder, x: Any, axis: Any) -> Tensor:
    """The operand of a sum: of a selection, an array with zeros where no element is selected."""
    return selecting.filled(b, x, 0) if _is_over_selection(x, axis) else stacked(b, x)


def _count_of_selection(b: Builder, x: Any, axis: Any) -> Any:
    if not _is_over_selection(x, axis):
        return None
    return elementwise(b, "multiply", selecting.count(b, x), count_of(b, list(x.dense.shape[x.mask.ndim :])))


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


@function(np.max, np.amax, method="max")
def max_(
    b: Builder,
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Tensor:
    return into(b, out, _extremum(b, a, axis, keepdims, "maximum", initial, where))


@function(np.min, np.amin, method="min")
def min_(
    b: Builder,
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Tensor:
    return into(b, out, _extremum(b, a, axis, keepdims, "minimum", initial, where))


def _extremum(b: Builder, a: Any, axis: Any, keepdims: bool, how: str, initial: Any, where: Any) -> Tensor:
    if _is_over_selection(a, axis) and initial is None:
        a, axis = _filled_for_extremum(b, a, how), None
    x = stacked(b, a)
    if x.dtype.kind == "c":
        raise b.unsupported(f"the {how} of complex numbers is not supported", "Take that of their absolute values.")
    start = _lowest(x.dtype) if how == "maximum" else _highest(x.dtype)
    if x.dtype.kind == "f":
        # The adjoint compares elements with the extremum: recomputed ones might be rounded differently.
        x = b.settle(x)
    axes = normalise_axes(b, axis, x.ndim)
    if initial is None:
        for position in axes:
            if not b.holds(x.shape[position] - 1):
                raise b.unsupported(
                    f"the {how} over an axis that may be empty has no value",
                    "Pass `initial`, the value for no elements: np.max(x, initial=0.0), say.",
                )
    if where is not True:
        if initial is None:
            raise b.unsupported(
                f"the {how} of chosen elements without an initial value",
                "Pass `initial`, the value for no elements: np.max(x, initial=0.0), say.",
            )
        x = astype(elementwise_where(b, where, x, start), x.dtype)
    result = reduce_over(b, x, axes, keepdims, how, start)
    return result if initial is None else elementwise(b, how, result, astype(stacked(b, initial), x.dtype))


def _filled_for_extremum(b: Builder, x: Selection, how: str) -> Tensor:
    """The operand of an extremum over a selection, with a run-time check that an element is selected."""
    some = Op("greater", (Int(selecting.count(b, x)), Const(0, INT)), BOOL)
    b.check(some, (), f"the {how} of no elements", ShapeMismatch, "NumPy raises ValueError here, too.")
    return _filled(b, x, how)


def _filled(b: Builder, x: Selection, how: str) -> Tensor:
    return selecting.filled(b, x, _lowest(x.dtype) if how == "maximum" else _highest(x.dtype))


def extremum_of_filled(b: Builder, x: Selection, how: str) -> Tensor:
    """The extremum over a selection; the one that changes no other where nothing is selected."""
    return _extremum(b, _filled(b, x, how), None, False, how, None, True)


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -math.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def _highest(dtype: np.dtype[Any]) -> Any:
    return math.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


__all__ = ["Index", "count_of", "is_integer", "normalise_axes", "reduce_over", "with_axes"]
