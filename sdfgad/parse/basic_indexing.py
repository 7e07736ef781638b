"""Basic indexing: integers, slices, None and Ellipsis, whose results are views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sdfgad.errors import InvalidIndex
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, as_linear, symbols_of
from sdfgad.ir.program import Params
from sdfgad.parse.builder import Builder
from sdfgad.parse.integers import as_int, integer_extremum
from sdfgad.parse.values import Index, Tensor, described, is_integer

# What to do about an index where negative ones do not count from the end.
WITHIN = "Keep indices within the bounds of the array; in this message they are counted from 0 on."


@dataclass(frozen=True)
class _Axis:
    """One index entry: the extent of its axis in the result, and result index -> old index; None if there is none."""

    extent: Lin | None
    old: Callable[[Lin], Lin] | None


def view(b: Builder, x: Tensor, entries: tuple[Any, ...]) -> Tensor:
    """``x[entries]`` for integers, slices, None and Ellipsis: a view, without axes if all entries are integers."""
    entries = tuple(expanded(b, x, entries))
    axes: list[_Axis] = []
    remaining = iter(x.shape)
    for entry in entries:
        axes.append(_Axis(Lin(1), None) if entry is None else axis_of(b, entry, next(remaining)))
    visible = [axis for axis in axes if axis.extent is not None]

    def old_index(p: Index) -> Index:
        coordinates = iter(p)
        values = [(axis, Lin(0) if axis.extent is None else next(coordinates)) for axis in axes]
        return tuple(axis.old(value) for axis, value in values if axis.old is not None)

    return x.reindexed(tuple(axis.extent for axis in visible if axis.extent is not None), old_index)


def expanded(b: Builder, x: Tensor, entries: tuple[Any, ...]) -> list[Any]:
    """Fill in the Ellipsis and missing trailing slices."""
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if used > x.ndim:
        raise InvalidIndex(
            f"{used} indices for an array of {x.ndim} dimensions",
            b.where,
            "Write as many indices as the array has axes, or fewer; `x[None]` adds an axis.",
        )
    missing = [slice(None)] * (x.ndim - used)
    for position, entry in enumerate(entries):
        if entry is Ellipsis:
            return [*entries[:position], *missing, *entries[position + 1 :]]
    return [*entries, *missing]


def axis_of(b: Builder, entry: Any, extent: Lin) -> _Axis:
    if isinstance(entry, slice):
        return _slice(b, entry, extent)
    if is_integer(entry):
        position = resolve(b, Lin.of(entry if isinstance(entry, Lin) else int(entry)), extent)
        return _Axis(None, lambda _: position)
    if isinstance(entry, Tensor) and entry.dtype.kind in "iu" and not entry.ndim:
        position = resolve(b, Lin.of(as_int(b, entry)), extent)
        return _Axis(None, lambda _: position)
    raise b.unsupported(
        f"indexing by {described(entry)} is not supported",
        "Use integers, slices, None, or an array of integers or booleans; convert by int(i) or i.astype(int).",
    )


def resolve(b: Builder, i: Lin, extent: Lin) -> Lin:
    """The non-negative form of a Python index, which counts from the end if negative; with a run-time check if needed.

    Raises:
        InvalidIndex: the index is certainly out of range, in a statement that certainly runs.
    """
    if b.domain.implies(i) and b.domain.implies(extent - 1 - i):
        return i
    if b.counts_back and b.domain.implies(-i - 1) and b.domain.implies(i + extent):
        return i + extent
    # Not in a loop or branch, which may never run.
    if i.is_const and extent.is_const and len(b.blocks) == 1:
        raise InvalidIndex(
            f"index {i} is out of range for an axis of {extent}",
            b.where,
            "Use an index from -n to n - 1 for n elements; NumPy raises IndexError here, too."
            if b.counts_back
            else WITHIN,
        )
    if not _is_data(i):
        if b.holds(i) and b.holds(extent - 1 - i):
            return i
        if b.counts_back and b.holds(-i - 1) and b.holds(i + extent):
            return i + extent
    require_range(b, i, extent, ())
    return wrapped(i, extent)


def _is_data(form: Lin) -> bool:
    return any(not isinstance(atom, str) and not symbols_of(atom) for atom, _ in form.terms)


def wrapped(i: Lin, extent: Lin) -> Lin:
    return as_linear(Op("wrap", (Int(i), Int(extent)), INT))


def require_range(b: Builder, i: Lin, extent: Lin, box: Params, unless: Expr | None = None) -> None:
    """Emit a check that an index is in range at each point of a box where `unless` does not hold."""
    above = Op("greater_equal", (Int(i), Int(-extent if b.counts_back else Lin(0))), BOOL)
    below = Op("less", (Int(i), Int(extent)), BOOL)
    inside = Op("logical_and", (above, below), BOOL)
    if unless is not None:
        inside = Op("logical_or", (unless, inside), BOOL)
    todo = "NumPy raises IndexError here, too." if b.counts_back else WITHIN
    b.check(inside, box, f"an index is out of range for an axis of {extent}", todo=todo)


def _slice(b: Builder, entry: slice, extent: Lin) -> _Axis:
    step = 1 if entry.step is None else b.constant(_integer(b, entry.step))
    if step == 0:
        raise b.unsupported("slice step cannot be zero", "Use a step that is not 0: x[::2] or x[::-1].")
    if not b.counts_back:
        _require_section(b, entry, step, extent)
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


def _require_section(b: Builder, entry: slice, step: int, extent: Lin) -> None:
    """Check that a section upwards has no element outside of its axis, where the language does not cut it off.

    Raises:
        InvalidIndex: it certainly has, in a statement that certainly runs.
    """
    if step < 0:
        return
    start = Lin(0) if entry.start is None else Lin.of(_integer(b, entry.start))
    stop = extent if entry.stop is None else Lin.of(_integer(b, entry.stop))
    last = start + (_ceil_divide(stop - start, step) - 1).scaled(step)
    if (b.holds(start) and b.holds(extent - 1 - last)) or b.holds(start - stop):
        return
    if all(form.is_const for form in (start, stop, extent)) and len(b.blocks) == 1:
        what = f"the section from {start} to {last} is out of range for an axis of {extent}"
        raise InvalidIndex(what, b.where, WITHIN)
    inside = [Op("greater_equal", (Int(start), Const(0, INT)), BOOL), Op("less", (Int(last), Int(extent)), BOOL)]
    is_empty = Op("less_equal", (Int(stop), Int(start)), BOOL)
    condition = Op("logical_or", (is_empty, Op("logical_and", tuple(inside), BOOL)), BOOL)
    b.check(condition, (), f"a section is out of range for an axis of {extent}", todo=WITHIN)


def _integer(b: Builder, value: Any) -> Any:
    if isinstance(value, Tensor) and value.ndim == 0 and value.dtype.kind in "iu":
        known = b.guessed(value)
        value = as_int(b, value) if known is None else known
    if isinstance(value, bool):
        value = int(value)
    if is_integer(value):
        known = b.by_value(value) if isinstance(value, Lin) else None
        return value if known is None else known
    raise b.unsupported(f"a slice bound that is {described(value)}", "Use integers: x[int(a):int(b)].")


def _bound(b: Builder, value: Any, default: Lin, extent: Lin, lowest: Lin, highest: Lin) -> Lin:
    """The non-negative form of a slice bound, clamped to lowest, …, highest as in Python."""
    if value is None:
        return default
    bound = Lin.of(_integer(b, value))
    if not b.holds(bound):
        if not b.counts_back:
            bound = Lin.of(integer_extremum(b, bound, Lin(0), "maximum"))
        elif b.holds(-bound - 1):
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
