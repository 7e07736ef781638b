"""Predication of sub-boxes: a statement over a part of a box runs in each thread of the box, where a condition holds.

``u[p + 1] = …`` for the inside of an array and ``v[q] = … u[q] …`` for all of it become statements over q, the first
one with ``1 <= q < n - 1 ? … : u[q]``: then they can share a thread for each point. So can ``u[k] += …``, one element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from sdfgad.ir.expr import Expr, Int, Lin, Op, Read, reads, rewrite
from sdfgad.ir.program import Access, Buffer, Compute, Params
from sdfgad.schedule.device_sums import Sum, points
from sdfgad.schedule.stores import nothing

BOOL = np.dtype(bool)
Index = tuple[Lin, ...]
# The box may have so many times the points of a part of it, or so many in all, which cost no more than a launch.
MOST_POINTS = 1.5
FEW_POINTS = 1 << 13


@dataclass(frozen=True)
class Part:
    """Where a part of a box is.

    Attributes:
        params: those of the box.
        index: the element that a point of the box selects.
        places: the part's parameters as forms of those of the box.
        conditions: they hold in the part.
        element: the index of the one element that the part is, if it is one.
    """

    params: Params
    index: Index
    places: Mapping[str, Lin]
    conditions: tuple[Expr, ...]
    element: Index | None


def part_of(statement: Compute, around: Compute, buffers: Mapping[str, Buffer]) -> Part | None:
    """Which part of the box of another statement one is over, by the first array that both of them index."""
    order = Sum(around)
    if order.summed or not order.order.is_injective:
        return None
    for own, at, shape in _indices(statement, around, buffers):
        if _is_part(own, statement.params, at, around.params, shape):
            return _part(own, statement.params, at, around.params)
    return None


def _indices(
    statement: Compute, around: Compute, buffers: Mapping[str, Buffer]
) -> Iterator[tuple[Index, Index, Index]]:
    """Indices of one array by both of them, or of two of one shape, of which one is written, with the shape."""
    own, at = statement.target, around.target
    shape, other = buffers[own.buffer].shape, buffers[at.buffer].shape
    if shape == other:
        yield own.index, at.index, shape
    if statement.params:
        # One element is where the statement writes, wherever it reads.
        yield from ((read.index, at.index, other) for read in reads(statement.value) if read.buffer == at.buffer)
    yield from ((own.index, read.index, shape) for read in reads(around.value) if read.buffer == own.buffer)


def _part(index: Index, params: Params, around: Index, box: Params) -> Part:
    extents, whole = dict(params), {name: extent.const for name, extent in box}
    places, conditions = dict[str, Lin](), list[Expr]()
    for own, at in zip(index, around, strict=True):
        names = own.symbols & extents.keys()
        if not names:
            conditions.append(Op("equal", (Int(at), Int(own)), BOOL))
            continue
        name = str(*names)
        start = own - Lin.symbol(name)
        places[name] = at - start
        conditions += _between(at, whole, start.const, start.const + extents[name].const)
    return Part(box, around, places, tuple(conditions), None if params else index)


def in_box(statement: Compute, part: Part, buffers: Mapping[str, Buffer]) -> Compute | None:
    """A statement over a part of a box as one over all of it, which leaves its other elements as they are."""
    if statement.accumulate not in (None, "add") or statement.fresh or Sum(statement).summed:
        return None
    name, dtype = statement.target.buffer, buffers[statement.target.buffer].dtype
    index = part.index
    if part.element is None:
        index = tuple(form.substitute(part.places) for form in statement.target.index)
    target = Access(name, index)

    def at_target(node: Expr) -> Expr | None:
        is_own = isinstance(node, Read) and (node.buffer, node.index) == (name, part.element)
        return target.read(node.dtype) if is_own else None

    moved = replace(statement, params=part.params, target=target)
    value = rewrite(statement.value, part.places, at_target)
    if part.conditions:
        is_inside = reduce(lambda a, b: Op("logical_and", (a, b), BOOL), part.conditions)
        value = Op("select", (is_inside, value, nothing(moved, dtype)), dtype)
    return replace(moved, value=value)


def _is_part(index: Index, params: Params, around: Index, box: Params, shape: Index) -> bool:
    """Whether all points of the first index are in the box of the second one, which has not many more.

    One element may be anywhere in an array: the box is all of it then.
    """
    if not box or not _is_plain(around, box) or (params and not _is_plain(index, params)):
        return False
    part, whole = points([extent for _, extent in params]), points([extent for _, extent in box])
    if part is None or whole is None or (params and not part <= whole <= max(MOST_POINTS * part, FEW_POINTS)):
        return False
    wanted = _ranges(index, params) if params else [(Lin(0), extent) for extent in shape]
    pairs = zip(wanted, _ranges(around, box), strict=True)
    return all(_is_at_most(start, first) and _is_at_most(last, end) for (first, last), (start, end) in pairs)


def _ranges(index: Index, params: Params) -> list[tuple[Lin, Lin]]:
    """The first and the last index + 1 along each axis."""
    extents = dict(params)
    names = [str(*(form.symbols & extents.keys())) for form in index]
    starts = [form - Lin.symbol(name) for form, name in zip(index, names, strict=True)]
    return [(start, start + extents[name]) for start, name in zip(starts, names, strict=True)]


def _is_at_most(a: Lin, b: Lin) -> bool:
    return (b - a).is_const and (b - a).const >= 0


def _is_plain(index: Index, params: Params) -> bool:
    """Whether each parameter, from a known first index on, is the index along an axis."""
    names = [tuple(form.symbols & dict(params).keys()) for form in index]
    starts = (
        (form - Lin.symbol(name) for form, (name, *_) in zip(index, names, strict=True) if name) if all(names) else ()
    )
    return sorted(names) == sorted((name,) for name, _ in params) and all(start.is_const for start in starts)


def _between(at: Lin, box: Mapping[str, int], first: int, last: int) -> Iterator[Expr]:
    """The conditions on an index of the box that do not hold anyway."""
    (name,) = at.symbols & box.keys()
    start = (at - Lin.symbol(name)).const
    if first > start:
        yield Op("greater_equal", (Int(at), Int(Lin(first))), BOOL)
    if last < start + box[name]:
        yield Op("less", (Int(at), Int(Lin(last))), BOOL)
