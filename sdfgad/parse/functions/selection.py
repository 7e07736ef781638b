"""Sorting, searching, and updates at index arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Int, Lin, as_linear
from sdfgad.parse import selecting
from sdfgad.parse.builder import Builder
from sdfgad.parse.elementwise import elementwise, to_bool
from sdfgad.parse.functions.output import refuse
from sdfgad.parse.functions.reduction import normalise_axes
from sdfgad.parse.functions.shape import reshape
from sdfgad.parse.gathering import gather
from sdfgad.parse.indexing import getitem, setitem
from sdfgad.parse.known_arrays import array_if_known
from sdfgad.parse.mixed_dtypes import require_holds
from sdfgad.parse.registry import function
from sdfgad.parse.stacking import stacked
from sdfgad.parse.updating import updatable
from sdfgad.parse.values import Index, Tensor, as_tensor, astype


def _mask(x: Any) -> Tensor:
    x = as_tensor(x)
    return Tensor(x.shape, BOOL, lambda p: to_bool(x.element(p)))


@function(np.nonzero, method="nonzero")
def nonzero(b: Builder, a: Any) -> tuple[Tensor, ...]:
    """The indices of true elements; their number is data, unless the mask is known."""
    mask = _mask(a)
    found = array_if_known(b, mask)
    return tuple(selecting.positions(b, mask) if found is None else map(b.constant_array, np.nonzero(found)))


@function(np.flatnonzero)
def flatnonzero(b: Builder, a: Any) -> Tensor:
    mask = _mask(a)
    found = array_if_known(b, mask)
    if found is not None:
        return b.constant_array(np.flatnonzero(found))
    size = math.prod(b.constant(extent) for extent in mask.shape)
    sizes = [b.constant(extent) for extent in mask.shape]
    indices = selecting.positions(b, mask)

    def element(p: Index) -> Any:
        flat = Lin(0)
        for axis, index in enumerate(indices):
            flat = as_linear(index.element(p)).scaled(math.prod(sizes[axis + 1 :])) + flat
        return Int(flat)

    assert size >= 0
    return Tensor(indices[0].shape, INT, element)


@function(np.argsort, method="argsort")
def argsort(b: Builder, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
    """The stable sorting permutation, which has no derivative; so `kind` and `stable` do not matter."""
    refuse(b, "np.argsort", order=order)
    rows, position = _rows(b, stacked(b, a), axis)
    if rows.dtype.kind == "c":
        raise b.unsupported("sorting complex numbers is not supported", "Sort by a part: z[np.argsort(z.real)].")
    sizes = [b.constant(extent) for extent in rows.shape]
    (found,) = b.call("argsort", [rows], [(sizes, INT)], (math.prod(sizes[:-1]), sizes[-1]))
    return _back(found, position)


@function(np.sort)
def sort(b: Builder, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
    refuse(b, "np.sort", order=order)
    a = stacked(b, a)
    rows, position = _rows(b, a, axis)
    order_ = argsort(b, rows)
    result = Tensor(rows.shape, rows.dtype, lambda p: rows.element((*p[:-1], as_linear(order_.element(p)))))
    return b.ordered(b.stored(_back(result, position)), a)


@function(method="sort")
def sort_method(b: Builder, a: Tensor, axis: Any = -1, kind: Any = None, order: Any = None) -> None:
    """Sort in place."""
    place = updatable(b, a, "an array that cannot be updated in place is sorted in place", "Use np.sort.")
    b.assign(place, sort(b, a, axis, order=order))


@function(np.extract)
def extract(b: Builder, condition: Any, arr: Any) -> Any:
    """The elements of the flattened array at the places of true elements of the flattened condition."""
    x, mask = as_tensor(arr), _mask(condition)
    if x.shape != mask.shape:
        x, mask = reshape(b, x, -1), reshape(b, mask, -1)
        if b.holds(x.shape[0] - mask.shape[0]):
            x = x.reindexed(mask.shape, lambda p: p)
    return selecting.selection(b, x, mask)


@function(np.ix_)
def ix_(b: Builder, *indices: Any) -> tuple[Tensor, ...]:
    """Index arrays of an open mesh."""
    arrays = [stacked(b, index) for index in indices]
    if any(array.ndim != 1 or array.dtype.kind not in "iu" for array in arrays):
        raise b.unsupported(
            "np.ix_ takes vectors of integers",
            "Pass vectors of integers; np.flatnonzero turns a constant mask into one.",
        )

    def spread(array: Tensor, axis: int) -> Tensor:
        shape = [Lin(1)] * len(arrays)
        shape[axis] = array.shape[0]
        return array.reindexed(tuple(shape), lambda p: (p[axis],))

    return tuple(spread(array, axis) for axis, array in enumerate(arrays))


def _rows(b: Builder, x: Tensor, axis: Any) -> tuple[Tensor, int]:
    """The array with an axis moved last, and that axis; None is the axis of the flattened array."""
    if axis is None:
        x, axis = reshape(b, x, -1), 0
    (position,) = normalise_axes(b, axis, x.ndim)
    x = x if x.is_stored else b.materialise(x)
    return _moved(x, position, x.ndim - 1), position


def _back(x: Tensor, position: int) -> Tensor:
    return _moved(x, x.ndim - 1, position)


def _moved(x: Tensor, source: int, target: int) -> Tensor:
    order = [axis for axis in range(x.ndim) if axis != source]
    order.insert(target, source)
    inverse = [order.index(axis) for axis in range(x.ndim)]
    return x.reindexed(tuple(x.shape[axis] for axis in order), lambda p: tuple(p[axis] for axis in inverse))


@function(np.searchsorted, method="searchsorted")
def searchsorted(b: Builder, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Positions at which elements would have to be inserted, which have no derivative."""
    if sorter is not None:
        raise b.unsupported(
            "np.searchsorted with a sorter is not supported", "Sort the array: np.searchsorted(a[sorter], v)."
        )
    if side not in ("left", "right"):
        raise b.unsupported(f"the side {side!r} of np.searchsorted is not known", "Use 'left' or 'right'.")
    a, v = stacked(b, a), stacked(b, v)
    dtype = np.result_type(a.dtype, v.dtype)
    if dtype.kind == "c":
        raise b.unsupported("np.searchsorted of complex numbers is not supported", "Search for their real parts.")
    sizes = [b.constant(extent) for extent in v.shape]
    arguments = (b.constant(a.shape[0]), math.prod(sizes), int(side == "right"))
    (found,) = b.call("searchsorted", [astype(a, dtype), astype(v, dtype)], [(sizes, INT)], arguments)
    return found.result


@function(np.add.at)
def add_at(b: Builder, a: Any, indices: Any, values: Any) -> None:
    """``a[indices] += values``, once for each time that an index occurs."""
    _accumulate_at(b, a, indices, _promoted(b, as_tensor(a), stacked(b, values)))


@function(np.subtract.at)
def subtract_at(b: Builder, a: Any, indices: Any, values: Any) -> None:
    # The negative of an unsigned integer would wrap around before it is converted.
    _accumulate_at(b, a, indices, elementwise(b, "negative", _promoted(b, as_tensor(a), stacked(b, values))))


def _promoted(b: Builder, target: Tensor, values: Tensor) -> Tensor:
    """The operand of a sum with `target` in the dtype in which NumPy adds, for which Python numbers are arrays, too."""
    dtype = np.result_type(target.dtype, values.dtype)
    if target.dtype.kind in "biu" and dtype.kind in "fc":
        what = f"`ufunc.at` that adds {dtype} to an array of {target.dtype} is not supported: NumPy cuts each sum off"
        raise b.unsupported(what, "Convert the array first, as in `a = a.astype(float)`.")
    return astype(values, dtype)


def _accumulate_at(b: Builder, a: Any, indices: Any, values: Any) -> None:
    what = (
        "the first argument is not an array that can be updated in place: it is computed, or from outside the function"
    )
    target = updatable(b, as_tensor(a), what, "Copy it first.")
    require_holds(b, target, as_tensor(values))
    entries = indices if isinstance(indices, tuple) else (indices,)
    if not any(isinstance(e, list) or getattr(e, "ndim", 0) for e in entries):
        # No position occurs twice.
        setitem(b, target, indices, elementwise(b, "add", as_tensor(getitem(b, target, indices)), values))
        return
    found = gather(b, target, tuple(stacked(b, e) if isinstance(e, list) else e for e in entries))
    b.assign(found.chosen, values, "add")
