"""Rolled appends: a list to which trips of a loop append an array, as the rows of an array that the loop fills: each
trip, or those that the counter tells (``if k % 10 == 0``, ``if k in shown``).

In Python an item and the appended array are one object, but a row is a copy. That makes no difference for a value that
has no name, and for others only if the program updates that array in place: then it is parsed again (see `references`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.ir.evaluate import evaluated
from sdfgad.ir.expr import INT, Const, Int, Lin, Op, as_linear, reads
from sdfgad.ir.program import Block, reads_of, walk, written
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import trajectories, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Body, Filling, Fills, Rolling, Row
from sdfgad.parse.number_lists import integers, known_tables
from sdfgad.parse.rows import MANY_STATEMENTS, row_of
from sdfgad.parse.values import Tensor, is_integer


@contextmanager
def body_of(b: Builder, node: Any, var: str, arrays: Mapping[int, Tensor]) -> Iterator[list[Filling]]:
    """The body of a loop; yields the lists that it fills, which are there at its end.

    Args:
        arrays: of those that it reads, by id.
    """
    before, filled, depth = (b.filling, b.filler), list[Filling](), len(b.blocks)
    lists = b.to_fill.get(id(node))
    b.filling = b.filling | {
        id(values): Filling(values, depth, var, node, array=arrays.get(id(values))) for values in lists or ()
    }
    b.filler = b.filler if lists is None else Body(node, depth, var)
    try:
        yield filled
        filled += [b.filling[id(values)] for values in lists or ()]
    finally:
        b.filling, b.filler = before


def append(b: Builder, values: list[Any], value: Any) -> bool:
    """Append to a row of an array if `values` is a list that the present loop fills; else False.

    Raises:
        Fills: the loop may fill it, once its body is parsed as one that does.
        NeedsConstant: the value is none that a row may stand for.
    """
    body = b.filler
    if body is None or b.loops[-1][0] != body.depth:
        return False
    filling, trips = b.filling.get(id(values)), _trips_here(b, body)
    if trips is None:
        return False
    if filling is None and _may_fill(b, values, body.depth):
        raise Fills(body.node, values)
    if filling is None or filling.depth != body.depth:
        return False
    row = Row(_item(b, value, trips) if filling.array is None else trajectories.put(b, filling, value), trips)
    b.filling = b.filling | {id(values): replace(filling, rows=(*filling.rows, row))}
    b.contents.count_change(values)
    b.has_rolled = True
    return True


def expect(b: Builder, values: Any) -> None:
    """Where an item is chosen at run time from a list that the present loop may fill, before it appends to it.

    Raises:
        Fills: it may.
    """
    body = b.filler
    if body is not None and id(values) not in b.filling and _may_fill(b, values, body.depth):
        trajectories.expect(b, body.node, values)
        raise Fills(body.node, values)


def _trips_here(b: Builder, body: Body) -> Sequence[int] | None:
    """The trips of the loop that come to the present statement; None unless the counter alone decides that."""
    _, var, number = b.loops[-1]
    around = [one.holds for one in b.decisions if one.depth > body.depth]
    if not number.is_const or len(around) != len(b.blocks) - body.depth:
        return None
    every = np.arange(number.const)
    come = [evaluated(holds, {var: every}, known_tables(b)) for holds in around]
    if any(one is None for one in come):
        return None
    trips = np.flatnonzero(np.all([np.broadcast_to(one, every.shape) for one in [True, *come]], axis=0))
    first, step = (int(trips[0]), int(trips[1] - trips[0])) if trips.size > 1 else (int(trips.max(initial=0)), 1)
    found = range(first, first + step * trips.size, step)
    return found if np.array_equal(trips, found) else trips.tolist()


def _item(b: Builder, value: Any, trips: Sequence[int]) -> Callable[[Lin], Any]:
    """What gives the item of each trip: a row of an array that the trip writes, or an integer as a form of the trip.

    Raises:
        NeedsConstant: the value is none of those.
    """
    _, var, _ = b.loops[-1]
    if is_integer(value) and Lin.of(value).symbols <= {var, *b.integers} and Lin.of(value).is_affine:
        return lambda trip: Lin.of(value).substitute({var: trip}).plain
    if isinstance(value, (float, complex, np.inexact)):
        # A name that the loop carries is a constant until it is known to be carried.
        return lambda trip: value
    is_alike = isinstance(value, Tensor) and all(extent.is_const for extent in value.shape)
    is_kept = is_alike and not (value.is_shared and b.rolling is Rolling.VALUES)
    if not is_kept or not (value.ndim or value.dtype.kind in "fc"):
        raise NeedsConstant({var}, b.where, "a list is filled in a loop that runs at run time")
    array = b.new_view("", (Lin(len(trips)), *value.shape), value.dtype, value.weak)
    here = _place(b, Lin.symbol(var), trips)
    b.refer(array.reindexed(value.shape, lambda p: (here, *p)), value, is_row=True)
    return lambda trip: row_of(array, _place(b, trip, trips))


def _place(b: Builder, trip: Lin, trips: Sequence[int]) -> Lin:
    """The position of a trip among those that append."""
    if trip.is_const:
        return Lin(trips.index(trip.const))
    if not isinstance(trips, range):
        return integers(b, np.searchsorted(trips, range(trips[-1] + 1)))(trip)
    past = trip - trips.start
    return past if trips.step == 1 else as_linear(Op("floor_divide", (Int(past), Const(trips.step, INT)), INT))


def _may_fill(b: Builder, values: list[Any], depth: int) -> bool:
    """Whether a list is one list of the program, made in the block that the loop is in, and nothing is its copy."""
    contents = b.contents
    is_own = type(values) is list and contents.has(values) and contents.depth(values) == depth - 1
    if not is_own or id(values) in b.taken or id(values) in b.outside:
        return False
    copies = [one for copy, others in contents.copies for one in (copy, *others)]
    return not trees.holds_any(copies, {id(values)})


def finish(b: Builder, var: str, trips: Lin, body: Block, fillings: list[Filling], integer: Set[str] | None) -> None:
    """After a loop: its lists have its rows as items.

    Args:
        integer: the buffers of what is a Python integer in the first trip, and a float in the others; None where the
            first trip computes with other dtypes in other ways.

    Raises:
        NeedsConstant: the first trip's item differs, or the loop is too small to be worth one.
    """
    filled = [one for one in fillings if one.rows]
    are_alike = not filled or (integer is not None and _are_alike(filled, _behind(body, integer)))
    if filled and (not are_alike or trips.const * sum(1 for _ in walk(body)) < MANY_STATEMENTS):
        raise NeedsConstant({var}, b.where, "a list is filled in a loop that is better unrolled")
    for filling in fillings:
        trajectories.require_one_each(b, filling, trips.const)
    for filling in filled:
        filling.values.extend(row.item(Lin(k)) for k in range(trips.const) for row in filling.rows if k in row.trips)


def _are_alike(filled: list[Filling], other: frozenset[str]) -> bool:
    """Whether items are of one dtype, or Python's numbers, if what the buffers `other` hold has another dtype first."""
    items = [row.item(Lin(row.trips[0])) for one in filled for row in one.rows if len(row.trips)]
    tensors = [item for item in items if isinstance(item, Tensor) and not item.weak]
    elements = [item.element(tuple(Lin(0) for _ in item.shape)) for item in tensors]
    return other.isdisjoint(read.buffer for element in elements for read in reads(element))


def _behind(body: Block, buffers: Set[str]) -> frozenset[str]:
    """The buffers that a block computes of others, and these."""
    found, before = set(buffers), -1
    while buffers and len(found) != before:
        before = len(found)
        for statement in walk(body):
            if not found.isdisjoint(read.buffer for read in reads_of(statement)):
                found |= written((statement,))
    return frozenset(found)
