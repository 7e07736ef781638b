"""Gathers by index arrays, histograms of integers, and choices between arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Int, Lin, Op, as_linear
from sdfgad.parse.broadcasting import broadcast_shapes, broadcast_to
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise, where
from sdfgad.parse.functions.creation import filled
from sdfgad.parse.functions.facts import tensor_of
from sdfgad.parse.functions.output import into
from sdfgad.parse.functions.reduction import max_, normalise_axes
from sdfgad.parse.functions.shape import ravel
from sdfgad.parse.functions.views import axis_of
from sdfgad.parse.known_arrays import known_array
from sdfgad.parse.registry import function
from sdfgad.parse.values import Index, Tensor, as_tensor, astype

Place = Callable[[Index], Lin]


def checked(b: Builder, indices: Tensor, extent: Lin, from_end: bool = True) -> Place:
    """The positions on an axis for integer indices, with a run-time range check.

    Negative ones count from the end, or are out of range if not `from_end`.
    """
    if indices.dtype.kind not in "iu":
        raise b.unsupported(
            f"indexing by an array of {indices.dtype} is not supported", "Convert the indices: i.astype(int)."
        )
    present = b.materialise(astype(indices, INT))
    symbols = tuple(b.fresh("p") for _ in present.shape)
    i = Int(as_linear(present.element(tuple(map(Lin.symbol, symbols)))))
    least = -extent if from_end else Lin(0)
    inside = (Op("greater_equal", (i, Int(least)), BOOL), Op("less", (i, Int(extent)), BOOL))
    box = tuple(zip(symbols, present.shape, strict=True))
    b.check(Op("logical_and", inside, BOOL), box, f"an index is out of range for an axis of {extent}")
    return lambda p: as_linear(Op("wrap", (Int(as_linear(present.element(p))), Int(extent)), INT))


def limited(b: Builder, indices: Tensor, extent: Lin, mode: str) -> Place:
    """The positions on an axis for integer indices, by one of the modes of ``np.take``."""
    if mode == "raise":
        return checked(b, indices, extent)
    if mode == "wrap":
        inside = elementwise(b, "remainder", indices, extent)
    elif mode == "clip":
        inside = elementwise(b, "minimum", elementwise(b, "maximum", indices, 0), extent - 1)
    else:
        raise b.unsupported(f"the mode {mode!r} is not known", "Use 'raise', 'wrap' or 'clip'.")
    present = b.materialise(astype(inside, INT))
    return lambda p: as_linear(present.element(p))


@function(np.take, method="take")
def take(b: Builder, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Tensor:
    """Elements at the positions `indices` of an axis, unevaluated."""
    a, where = tensor_of(b, a), tensor_of(b, indices)
    if axis is None:
        a, axis = ravel(b, a), 0
    (position,) = normalise_axes(b, axis, a.ndim)
    place, n = limited(b, where, a.shape[position], mode), where.ndim
    shape = (*a.shape[:position], *where.shape, *a.shape[position + 1 :])

    def old_index(p: Index) -> Index:
        return (*p[:position], place(p[position : position + n]), *p[position + n :])

    return into(b, out, a.reindexed(shape, old_index).as_value(settled=False))


@function(np.take_along_axis)
def take_along_axis(b: Builder, arr: Any, indices: Any, axis: Any = -1) -> Tensor:
    """Elements at positions of an axis that differ along the other axes, unevaluated."""
    a, where = tensor_of(b, arr), tensor_of(b, indices)
    if axis is None:
        a, axis = ravel(b, a), 0
    position = axis_of(b, axis, a.ndim)
    others = [Lin(1) if k == position else e for k, e in enumerate(a.shape)]
    shape = broadcast_shapes(b, tuple(others), where.shape)
    where = broadcast_to(b, where, shape)
    place = checked(b, where, a.shape[position])

    def old_index(p: Index) -> Index:
        narrow = tuple(Lin(0) if e == Lin(1) else i for i, e in zip(p, a.shape, strict=True))
        return (*narrow[:position], place(p), *narrow[position + 1 :])

    return a.reindexed(shape, old_index).as_value(settled=False)


# --- sums into selected elements


@function(np.bincount)
def bincount(b: Builder, x: Any, /, weights: Any = None, minlength: Any = 0) -> Tensor:
    """How often each integer below `minlength` occurs, or the sums of weights; larger ones are refused at run time."""
    where, size = tensor_of(b, x), b.constant(minlength)
    if not size and (known := known_array(b, where)) is not None:
        size = int(known.max(initial=-1)) + 1
    if not size:
        last = max_(b, astype(where, INT), initial=-1)
        what = "np.bincount without `minlength` has a length that is known only at run time"
        size = b.constant(
            elementwise(b, "add", last, 1), what, "Pass `minlength=n`, where all numbers are less than n."
        )
    values = as_tensor(1) if weights is None else astype(tensor_of(b, weights), np.dtype(np.float64))
    counts = filled(b, (Lin(size),), 0, INT if weights is None else np.float64)
    symbol = b.fresh("p")
    present = b.materialise(where)
    i = present.at(Lin.symbol(symbol))
    inside = Op("greater_equal", (i, Int(0)), BOOL)
    b.check(inside, ((symbol, present.shape[0]),), "np.bincount takes no negative integers")
    place = checked(b, present, counts.shape[0])
    b.assign(counts.reindexed(present.shape, lambda p: (place(p),)), values, "add")
    return counts


# --- choices between arrays


@function(np.select)
def select_function(b: Builder, condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """The first choice whose condition holds, unevaluated."""
    if len(condlist) != len(choicelist):
        raise b.unsupported("np.select needs as many choices as conditions", "Pass lists of equal length.")
    result: Any = as_tensor(default)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = where(b, condition, tensor_of(b, choice), result)
    return as_tensor(result)


@function(np.choose, method="choose")
def choose(b: Builder, a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Tensor:
    """At each index the element of choice number ``a[index]``, unevaluated."""
    number = tensor_of(b, a)
    if isinstance(choices, Tensor):
        return into(b, out, _row_by_row(b, number, choices, mode))
    parts = [tensor_of(b, c) for c in choices]
    place = _number_of_choice(b, number, Lin(len(parts)), mode)
    number = Tensor(number.shape, INT, lambda p: Int(place(p)))
    result = broadcast_to(b, parts[-1], broadcast_shapes(b, number.shape, parts[-1].shape)).as_value(settled=False)
    for k in reversed(range(len(parts) - 1)):
        result = where(b, elementwise(b, "equal", number, k), parts[k], result)
    return into(b, out, result)


def _row_by_row(b: Builder, number: Tensor, choices: Tensor, mode: str) -> Tensor:
    """The choices are the rows of one array."""
    if not choices.ndim:
        raise b.unsupported("np.choose takes no single number as choices", "Pass a list of arrays, or their stack.")
    count, shape = choices.shape[0], broadcast_shapes(b, number.shape, choices.shape[1:])
    place = _number_of_choice(b, broadcast_to(b, number, shape), count, mode)
    ones = len(shape) + 1 - choices.ndim
    spread = choices.reindexed((count, *(Lin(1),) * ones, *choices.shape[1:]), lambda p: (p[0], *p[1 + ones :]))
    wide = broadcast_to(b, spread, (count, *shape))
    return wide.reindexed(shape, lambda p: (place(p), *p)).as_value(settled=False)


def _number_of_choice(b: Builder, number: Tensor, count: Lin, mode: str) -> Place:
    """Other than an index, it does not count from the end."""
    return checked(b, number, count, from_end=False) if mode == "raise" else limited(b, number, count, mode)
