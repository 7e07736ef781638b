"""Bounds of indices: which elements may be read speculatively, where their values may not be needed (if-conversion)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sdfgad.ir.expr import Lin
from sdfgad.ir.folding import division
from sdfgad.ir.program import Loop, Params

# Counter -> its first and last value, forms of the counters around it; the outermost comes first.
Ranges = Mapping[str, tuple[Lin, Lin]]
Axis = tuple[Lin, Lin]


def range_of(loop: Loop) -> tuple[Lin, Lin]:
    """The range of a loop's counter."""
    return loop.start, loop.start + loop.trips - 1


def ranges_of(params: Params) -> Ranges:
    """The ranges of the parameters of a statement over a box."""
    return {name: (Lin(0), extent - 1) for name, extent in params}


def is_inside(axes: Sequence[Axis], ranges: Ranges, is_slot: Callable[[Lin, Lin], bool]) -> bool:
    """Whether an element certainly exists in all trips.

    Args:
        axes: the index along each axis, and the axis's extent.
        is_slot: whether an index is a slot of a tape whose number of slots is counted.
    """
    rest = list(axes)
    while not _is_along(rest, ranges):
        if not rest or not (is_below(*rest[0], ranges) or is_slot(*rest[0])):
            return False
        rest.pop(0)
    return True


def _is_along(axes: Sequence[Axis], ranges: Ranges) -> bool:
    """Whether an offset in the memory of an array is in bounds, as a counter may run along several axes."""
    place, size = Lin(0), 1
    for lin, extent in reversed(axes):
        place, size = place + lin.scaled(size), size * extent.const
    return all(extent.is_const for _, extent in axes) and is_below(place, Lin(size), ranges)


def is_below(form: Lin, extent: Lin, ranges: Ranges) -> bool:
    """Whether a form of counters is certainly at least 0 and below an extent."""
    least, room = _extreme(form, ranges, is_greatest=False), extent - 1 - _extreme(form, ranges, is_greatest=True)
    return least.is_const and least.const >= 0 and room.is_const and room.const >= 0


def _extreme(form: Lin, ranges: Ranges, is_greatest: bool) -> Lin:
    """The least or greatest value of a form: each counter is at an end of its range, the inner ones first."""
    for atom, coefficient in form.terms:
        parts = division(atom)
        if parts is not None and parts[0] == "remainder":
            most = parts[2] - 1 if (coefficient > 0) == is_greatest else 0
            form = form - Lin.symbol(atom).scaled(coefficient) + coefficient * most
    for name, (first, last) in reversed(list(ranges.items())):
        coefficient = form.coefficient(name)
        if coefficient:
            form = form.substitute({name: last if (coefficient > 0) == is_greatest else first})
    return form
