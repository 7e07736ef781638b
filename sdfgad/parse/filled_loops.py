"""Loops that fill lists, or replace items of them: the lists that a body does so, and their items after the loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, NamedTuple

from sdfgad.ir.expr import Lin, reads
from sdfgad.ir.program import Block, Loop, reads_of, walk, written
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import stored_lists, trajectories
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Body, Filling, Fills, Layout, Slot
from sdfgad.parse.iteration_domains import places_of
from sdfgad.parse.rows import MANY_STATEMENTS, row_of
from sdfgad.parse.values import Tensor


class Converted(NamedTuple):
    """The buffers of Python's integers with which a loop begins, as in ``t = 0``, and which are floats in later trips.

    Attributes:
        integers: of those that are floats of Python's then.
        doubles: of those that are numbers of NumPy's then, where all floats are doubles: either computes the same
            numbers, but integers of arrays of integers, which cut off what is written into them.
    """

    integers: frozenset[str]
    doubles: frozenset[str]


@contextmanager
def body_of(b: Builder, node: Any, var: str, arrays: Mapping[int, Tensor]) -> Iterator[list[Filling]]:
    """The body of a loop; yields the lists that it fills, which are there at its end.

    Args:
        arrays: of those that it reads, by id.
    """
    before, filled, depth = (b.filling, b.fillers), list[Filling](), len(b.blocks)
    lists = b.to_fill.get(id(node))
    b.filling = b.filling | {
        id(values): Filling(
            *(values, depth, var, node),
            array=arrays.get(id(values)),
            layout=b.layouts.get((id(node), id(values)), ()),
            storing=b.storing.get((id(node), id(values))),
        )
        for values in lists or ()
    }
    b.fillers = b.fillers if lists is None else (*b.fillers, Body(node, depth, var))
    try:
        yield filled
        filled += [b.filling[id(values)] for values in lists or ()]
        # Those of loops around have more items now.
        before = {key: b.filling[key] for key in before[0]}, before[1]
    finally:
        b.filling, b.fillers = before


def finish(b: Builder, var: str, trips: Lin, body: Block, fillings: list[Filling], first: Converted | None) -> None:
    """After a loop: its lists have its rows as items.

    Args:
        first: the buffers of what is a Python integer in the first trip, and a float in the others; None where the
            first trip computes with other dtypes in other ways.

    Raises:
        NeedsConstant: the first trip's item differs, or the loop is too small to be worth one.
        Fills: several appends of a list can share an array, or more is known of what reads and replaces items.
    """
    filled = [one for one in fillings if one.rows or one.accesses]
    are_alike = not filled or (first is not None and _are_alike(filled, body, first))
    statements = [at.points for one in filled for at in one.rows] + [at.points for one in filled for at in one.accesses]
    count = max(trips.const * _size(body), sum(map(len, statements)))
    if filled and (not are_alike or count < MANY_STATEMENTS):
        raise NeedsConstant({var}, b.where, "a list is filled in a loop that is better unrolled")
    for filling in fillings:
        trajectories.require_one_each(b, filling, trips.const)
    for filling in filled:
        if filling.accesses:
            stored_lists.finish(b, filling)
    _append_items(b, var, [one for one in fillings if one.rows])


def _append_items(b: Builder, var: str, filled: list[Filling]) -> None:
    places = [places_of([row.points for row in one.rows]) for one in filled]
    layouts = {id(one.values): _layout(one, at) for one, at in zip(filled, places, strict=True)}
    new = {id(one.values): layouts[id(one.values)] for one in filled if layouts[id(one.values)] != one.layout}
    if any(one.layout and id(one.values) in new for one in filled):
        raise NeedsConstant({var}, b.where, "a list is filled with items of other kinds from trip to trip")
    if new:
        raise Fills(filled[0].node, None, new)
    for filling, at in zip(filled, places, strict=True):
        items = [
            (place, row, number) for row, own in zip(filling.rows, at, strict=True) for number, place in enumerate(own)
        ]
        items.sort(key=lambda item: item[0])
        filling.values.extend(row.item(Lin(number)) for _, row, number in items)


def _size(body: Block) -> int:
    """How many statements run, those of all trips of loops with known trips."""
    total = 0
    for one in body:
        if isinstance(one, Loop):
            total += 1 + _size(one.body) * (max(one.trips.const, 0) if one.trips.is_const else 1)
        else:
            total += sum(1 for _ in walk((one,)))
    return total


def _layout(filling: Filling, places: list[Any]) -> Layout:
    """Which appends of a list share an array, and where in it; none where each may have its own."""
    stored = [row.kind for row in filling.rows if row.is_stored]
    shared = {kind for kind in stored if sum(row.kind == kind for row in filling.rows) > 1}
    if not shared:
        return ()
    groups = {kind: [k for k, row in enumerate(filling.rows) if row.kind == kind] for kind in shared}
    slots = dict[int, Slot]()
    for kind, members in groups.items():
        taken = sorted(place for k in members for place in places[k].tolist())
        number = {place: rank for rank, place in enumerate(taken)}
        for k in members:
            slots[k] = Slot(kind, len(taken), tuple(number[place] for place in places[k].tolist()))
    return tuple(slots.get(k) for k in range(len(filling.rows)))


def _are_alike(filled: list[Filling], body: Block, first: Converted) -> bool:
    """Whether items are of one dtype, or numbers that are used alike, if some buffers hold one of another first."""
    items = [row.item(Lin(0)) for one in filled for row in one.rows if len(row.points)]
    items += [row_of(one.array, Lin(0)) for one in filled if one.accesses]
    tensors = [item for item in items if isinstance(item, Tensor) and not item.weak]
    arrays = [item for item in tensors if item.ndim]
    return _read_none(tensors, _behind(body, first.integers)) and _read_none(arrays, _behind(body, first.doubles))


def _read_none(tensors: list[Tensor], buffers: frozenset[str]) -> bool:
    elements = [tensor.element(tuple(Lin(0) for _ in tensor.shape)) for tensor in tensors]
    return buffers.isdisjoint(read.buffer for element in elements for read in reads(element))


def _behind(body: Block, buffers: Set[str]) -> frozenset[str]:
    """The buffers that a block computes of others, and these."""
    found, before = set(buffers), -1
    while buffers and len(found) != before:
        before = len(found)
        for statement in walk(body):
            if not found.isdisjoint(read.buffer for read in reads_of(statement)):
                found |= written((statement,))
    return frozenset(found)
