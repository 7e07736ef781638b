"""Subscripts: basic indexing as views, single elements by run-time integers, and boolean masks in assignments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.errors import InvalidIndex, UpdateOfCopy
from sdfgad.frontend.builder import Builder
from sdfgad.frontend.functions.elementwise import where
from sdfgad.frontend.functions.python import int_, integer_extremum
from sdfgad.frontend.values import Index, Tensor, as_tensor, is_integer
from sdfgad.ir.expr import BOOL, INT, Const, Int, Op, Read, symbols_of
from sdfgad.ir.linear import Lin, as_linear


@dataclass(frozen=True)
class _Axis:
    """One axis of the result (`extent`; None if the axis disappears) and the old index it stands for."""

    extent: Lin | None
    old: Callable[[Lin], Lin] | None


def getitem(b: Builder, x: Tensor, index: Any) -> Tensor:
    """``x[index]``: a view for slices, None and Ellipsis, a scalar for integers, a copy for integer arrays.

    Raises:
        InvalidIndex: an index is out of range for certain.
    """
    chosen = select(b, x, index)
    entries = index if isinstance(index, tuple) else (index,)
    is_scalar = not chosen.ndim and Ellipsis not in [e for e in entries if not isinstance(e, Tensor)]
    return chosen.as_value(settled=chosen.settled) if is_scalar or _gathers(entries) else chosen


def _gathers(entries: tuple[Any, ...]) -> bool:
    return any(isinstance(entry, Tensor) and entry.ndim > 0 for entry in entries)


def select(b: Builder, x: Tensor, index: Any) -> Tensor:
    """The part of an array that ``x[index] = ...`` writes."""
    entries = _expand(b, x, index if isinstance(index, tuple) else (index,))
    axes: list[_Axis] = []
    remaining = iter(x.shape)
    for entry in entries:
        axes.append(_Axis(Lin(1), None) if entry is None else _axis(b, entry, next(remaining)))
    kept = [axis for axis in axes if axis.extent is not None]

    def old_index(p: Index) -> Index:
        coordinates = iter(p)
        values = [(axis, Lin(0) if axis.extent is None else next(coordinates)) for axis in axes]
        return tuple(axis.old(value) for axis, value in values if axis.old is not None)

    return x.reindexed(tuple(axis.extent for axis in kept if axis.extent is not None), old_index)


def setitem(b: Builder, x: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``."""
    if x.place is None:
        raise _not_assignable(b, x)
    if is_mask(index):
        chosen = as_tensor(value)
        if chosen.ndim or index.ndim != x.ndim:
            raise b.unsupported("assignment of an array to a boolean mask", "Assign a scalar, or use np.where.")
        b.assign(x, where(b, index, chosen, x))
    elif _gathers(index if isinstance(index, tuple) else (index,)):
        _scatter(b, x, index if isinstance(index, tuple) else (index,), as_tensor(value))
    else:
        b.assign(select(b, x, index), value)


def require_same_kind(b: Builder, result: Any, target: Tensor) -> None:
    """An update in place must not lose the kind of its result, such as floats added to integers."""
    dtype = as_tensor(result).dtype
    if not np.can_cast(dtype, target.dtype, "same_kind"):
        raise b.unsupported(
            f"an update in place cannot turn {dtype} into {target.dtype}; NumPy raises here, too", "Convert it first."
        )


def is_mask(index: Any) -> bool:
    return isinstance(index, Tensor) and index.dtype == BOOL


def _not_assignable(b: Builder, x: Tensor) -> Exception:
    if x.is_copy:
        element = x.at(*(Lin(0) for _ in x.shape))
        return UpdateOfCopy(element.buffer if isinstance(element, Read) else "", b.where)
    return b.unsupported(
        "what is assigned to is a computed value, or an array from outside the function",
        "Copy it to a name of its own first, or pass it as an argument.",
    )


def _scatter(b: Builder, x: Tensor, entries: tuple[Any, ...], value: Tensor) -> None:
    """Assign one element after the other: an index may occur twice, and then the last value stays."""
    shape = select(b, x, entries).shape
    fixed = b.stored(b.broadcast_to(value, shape))
    indices = tuple(b.materialise(e) if isinstance(e, Tensor) and e.ndim else e for e in entries)
    axis = _gathered_axis(b, indices)
    trip = b.fresh("k")
    counter, trips = Lin.symbol(trip), shape[axis]
    with b.block(counter, trips - 1 - counter) as body:
        one = tuple(getitem(b, e, counter) if isinstance(e, Tensor) and e.ndim else e for e in indices)
        row = getitem(b, fixed, (*(slice(None),) * axis, counter))
        b.assign(select(b, x, one), row)
    b.loop(trip, trips, (counter, trips - 1 - counter), body)


def _gathered_axis(b: Builder, entries: tuple[Any, ...]) -> int:
    """The axis of the result that the integer array makes."""
    arrays = [k for k, e in enumerate(entries) if isinstance(e, Tensor) and e.ndim]
    if len(arrays) != 1 or Ellipsis in [e for e in entries if not isinstance(e, Tensor)]:
        raise b.unsupported("assignment through several integer arrays", "Loop over the elements.")
    return sum(1 for e in entries[: arrays[0]] if e is None or isinstance(e, slice))


def _expand(b: Builder, x: Tensor, entries: tuple[Any, ...]) -> list[Any]:
    """Fill in the Ellipsis and missing trailing slices."""
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if used > x.ndim:
        raise InvalidIndex(f"{used} indices for an array of {x.ndim} dimensions", b.where, "Drop an index.")
    missing = [slice(None)] * (x.ndim - used)
    for position, entry in enumerate(entries):
        if entry is Ellipsis:
            return [*entries[:position], *missing, *entries[position + 1 :]]
    return [*entries, *missing]


def _axis(b: Builder, entry: Any, extent: Lin) -> _Axis:
    if isinstance(entry, slice):
        return _slice(b, entry, extent)
    if is_integer(entry):
        position = resolve(b, Lin.of(entry if isinstance(entry, Lin) else int(entry)), extent)
        return _Axis(None, lambda _: position)
    if isinstance(entry, Tensor) and entry.dtype.kind in "iu":
        return _gather(b, entry, extent)
    raise b.unsupported(f"indexing by {_describe(entry)}", "Use integers, slices, None, or an integer array.")


def _describe(entry: Any) -> str:
    return f"an array of {entry.dtype}" if isinstance(entry, Tensor) else f"{entry!r}"


def _gather(b: Builder, entry: Tensor, extent: Lin) -> _Axis:
    if entry.ndim == 0:
        position = resolve(b, Lin.of(int_(b, entry)), extent)
        return _Axis(None, lambda _: position)
    if entry.ndim > 1:
        raise b.unsupported(f"indexing by an integer array of {entry.ndim} dimensions", "Loop over its rows.")
    # The index array may change later, and the result refers to its present values.
    fixed = b.materialise(entry)
    symbol = b.fresh("p")
    _check_range(b, as_linear(fixed.at(Lin.symbol(symbol))), extent, ((symbol, fixed.shape[0]),))
    return _Axis(fixed.shape[0], lambda p: _wrapped(as_linear(fixed.at(p)), extent))


def resolve(b: Builder, i: Lin, extent: Lin) -> Lin:
    """The index that ``i`` means in Python: counted from the end where negative, checked at run time if need be."""
    if b.domain.implies(i) and b.domain.implies(extent - 1 - i):
        return i
    if b.domain.implies(-i - 1) and b.domain.implies(i + extent):
        return i + extent
    if i.is_const and extent.is_const:
        raise InvalidIndex(f"index {i} is out of range for an axis of {extent}", b.where, "Check the index.")
    if not _is_data(i):
        if b.holds(i) and b.holds(extent - 1 - i):
            return i
        if b.holds(-i - 1) and b.holds(i + extent):
            return i + extent
    _check_range(b, i, extent, ())
    return _wrapped(i, extent)


def _is_data(form: Lin) -> bool:
    return any(not isinstance(atom, str) and not symbols_of(atom) for atom, _ in form.terms)


def _wrapped(i: Lin, extent: Lin) -> Lin:
    return as_linear(Op("wrap", (Int(i), Int(extent)), INT))


def _check_range(b: Builder, i: Lin, extent: Lin, box: tuple[tuple[str, Lin], ...]) -> None:
    above = Op("greater_equal", (Int(i), Int(-extent)), BOOL)
    below = Op("less", (Int(i), Int(extent)), BOOL)
    b.check(Op("logical_and", (above, below), BOOL), box, f"an index is out of range for an axis of {extent}")


def _slice(b: Builder, entry: slice, extent: Lin) -> _Axis:
    step = 1 if entry.step is None else b.constant(_integer(b, entry.step))
    if step == 0:
        raise b.unsupported("slice step cannot be zero")
    if step > 0:
        start = _bound(b, entry.start, Lin(0), extent, Lin(0), extent)
        stop = _bound(b, entry.stop, extent, extent, Lin(0), extent)
        length = _ceil_divide(stop - start, step)
    else:
        start = _bound(b, entry.start, extent - 1, extent, Lin(-1), extent - 1)
        stop = _bound(b, entry.stop, Lin(-1), extent, Lin(-1), extent - 1)
        length = _ceil_divide(start - stop, -step)
    if not b.holds(length):
        length = Lin.of(integer_extremum(b, length, Lin(0), "maximum"))
    return _Axis(length, lambda p: start + p.scaled(step))


def _integer(b: Builder, value: Any) -> Any:
    if is_integer(value):
        return value
    if isinstance(value, Tensor) and value.ndim == 0 and value.dtype.kind in "iu":
        return int_(b, value)
    raise b.unsupported(f"a slice bound that is {value!r}", "Use integers.")


def _bound(b: Builder, value: Any, default: Lin, extent: Lin, lowest: Lin, highest: Lin) -> Lin:
    """A slice bound, counted from the end where negative and clamped as Python does."""
    if value is None:
        return default
    bound = Lin.of(_integer(b, value))
    if not b.holds(bound):
        if b.holds(-bound - 1):
            bound = bound + extent
        else:
            bound = _select_end(bound, extent)
    if not b.holds(bound - lowest):
        bound = Lin.of(integer_extremum(b, bound, lowest, "maximum"))
    if not b.holds(highest - bound):
        bound = Lin.of(integer_extremum(b, bound, highest, "minimum"))
    return bound


def _select_end(bound: Lin, extent: Lin) -> Lin:
    negative = Op("less", (Int(bound), Const(0, INT)), BOOL)
    return as_linear(Op("select", (negative, Int(bound + extent), Int(bound)), INT))


def _ceil_divide(form: Lin, divisor: int) -> Lin:
    if divisor == 1:
        return form
    if form.is_const:
        return Lin(-(-form.const // divisor))
    return as_linear(Op("floor_divide", (Int(form + divisor - 1), Const(divisor, INT)), INT))


__all__ = ["getitem", "is_mask", "resolve", "select", "setitem"]
