"""Loops that fill lists, or replace items of them: the lists that a body does so, and their items after the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from sdfgad.errors import SdfgadError
from sdfgad.ir.expr import Lin, reads
from sdfgad.ir.program import Block, Loop, reads_of, walk, written
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import keyed_trajectories, stored_lists, trajectories, trees
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Body, Filling, Fills, Layout, Slot
from sdfgad.parse.dtypes import has_singles
from sdfgad.parse.frame import Frame
from sdfgad.parse.iteration_domains import places_of
from sdfgad.parse.loop_state import LoopNode
from sdfgad.parse.rows import MANY_STATEMENTS, row_of
from sdfgad.parse.values import Tensor

Result = TypeVar("Result")


def parsed(
    frame: Frame, node: LoopNode, may_fill: bool, attempt: Callable[[], Result], first: Callable[[], None]
) -> Result:
    """Parse a loop by `attempt`, again for all that its body shows of lists that it fills.

    Args:
        first: parses the first trip by itself.
    """
    b, point = frame.b, ChoicePoint.of(frame)
    before = b.to_fill, b.layouts, b.storing, b.first_items
    try:
        b.to_fill = {key: lists for key, lists in b.to_fill.items() if key != id(node)}
        b.layouts, b.storing = _but(node, b.layouts), _but(node, b.storing)
        b.first_items = _but(node, b.first_items)
        if may_fill:
            b.to_fill[id(node)] = []
        while True:
            try:
                return attempt()
            except Fills as found:
                if found.node is not node:
                    raise
                _learn(b, found)
                new, is_unlike = found.values, found.is_unlike
            point.backtrack(frame)
            if is_unlike:
                b.first_items |= _first_items(b, node, first)
                point.backtrack(frame)
            if new is not None and not b.contents.has(new):
                # A peeled trip has made the list, and each attempt would make another one.
                b.to_fill = {key: one for key, one in b.to_fill.items() if key != id(node)}
    finally:
        b.to_fill, b.layouts, b.storing, b.first_items = before


def _but(node: LoopNode, known: dict[tuple[int, int], Result]) -> dict[tuple[int, int], Result]:
    return {key: value for key, value in known.items() if key[0] != id(node)}


def _learn(b: Builder, found: Fills) -> None:
    node, new = id(found.node), found.values
    lists = b.to_fill[node]
    lists += [new] if new is not None and all(new is not one for one in lists) else []
    lists[:] = [one for one in lists if (node, id(one)) not in b.only_read]
    b.layouts |= {(node, key): layout for key, layout in found.layouts.items()}
    b.storing |= {(node, id(new)): found.storing} if found.storing is not None else {}


def _first_items(b: Builder, node: LoopNode, first: Callable[[], None]) -> dict[tuple[int, int], list[Any]]:
    """What the first trip by itself appends to each list that a loop fills; nothing where it cannot be parsed so."""
    lists = b.to_fill[id(node)]
    counts = [len(values) for values in lists]
    try:
        first()
        items = [list(trajectories.items_of(values))[count:] for values, count in zip(lists, counts, strict=True)]
    except (NeedsConstant, SdfgadError):
        items = [[] for _ in lists]
    return {(id(node), id(values)): own for values, own in zip(lists, items, strict=True)}


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


def finish(b: Builder, var: str, trips: Lin, body: Block, fillings: list[Filling], integer: Set[str] | None) -> None:
    """After a loop: its lists have its rows as items.

    Args:
        integer: the buffers of what is a Python integer in the first trip, and a float in the others; None where the
            first trip computes with other dtypes in other ways.

    Raises:
        NeedsConstant: the first trip's item differs, or the loop is too small to be worth one.
        Fills: several appends of a list can share an array, more is known of what reads and replaces items, or what the
            first trip appends must be known.
    """
    filled = [one for one in fillings if one.rows or one.accesses]
    are_alike = not filled or (integer is not None and _are_alike(filled, _behind(body, integer)))
    are_alike = are_alike or _begins_alike(b, filled)
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
        if isinstance(filling.values, dict):
            keyed_trajectories.require_as_expected(b, filling)
            filling.values.update((row.keys[number], row.item(Lin(number))) for _, row, number in items)
        else:
            _put(filling.values, [(row.is_front, row.item(Lin(number))) for _, row, number in items])


def _put(values: list[Any], items: list[tuple[bool, Any]]) -> None:
    """Put items at the front or end of a list, in order."""
    values[:0] = [item for is_front, item in reversed(items) if is_front]
    values.extend(item for is_front, item in items if not is_front)


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


def _are_alike(filled: list[Filling], other: frozenset[str]) -> bool:
    """Whether items are of one dtype, or Python's numbers, if what the buffers `other` hold has another dtype first."""
    items = [row.item(Lin(0)) for one in filled for row in one.rows if len(row.points)]
    items += [row_of(one.array, Lin(0)) for one in filled if one.accesses]
    tensors = [item for item in items if isinstance(item, Tensor) and not item.weak]
    elements = [item.element(tuple(Lin(0) for _ in item.shape)) for item in tensors]
    return other.isdisjoint(read.buffer for element in elements for read in reads(element))


def _begins_alike(b: Builder, filled: list[Filling]) -> bool:
    """Whether the first trip by itself appends items of the types that those of the loop have.

    Raises:
        Fills: it has not been parsed by itself.
    """
    if any(one.accesses for one in filled):
        return False
    keys = [(id(one.node), id(one.values)) for one in filled]
    if not b.first_items.keys() >= {*keys}:
        raise Fills(filled[0].node, None, is_unlike=True)
    are_doubles = not has_singles(b.buffers.values())
    pairs = [(b.first_items[key], _of_first_trip(one)) for key, one in zip(keys, filled, strict=True)]
    return all(
        len(first) == len(own) and all(_have_one_type(x, y, are_doubles) for x, y in zip(first, own, strict=True))
        for first, own in pairs
    )


def _of_first_trip(filling: Filling) -> list[Any]:
    """What the first trip of a loop appends."""
    places = places_of([row.points for row in filling.rows])
    items = [
        (place, row, number)
        for row, own in zip(filling.rows, places, strict=True)
        for number, place in enumerate(own)
        if row.points.columns[filling.var][number] == 0
    ]
    return [row.item(Lin(number)) for _, row, number in sorted(items, key=lambda item: item[0])]


def _have_one_type(x: Any, y: Any, are_doubles: bool) -> bool:
    """Whether items are of the same structure, and their numbers and arrays of the same types and shapes.

    Args:
        are_doubles: whether all floats are: then a number of Python's is as good as one of NumPy's.
    """
    if trees.matched([x, y]) is None:
        return False
    return all(_is_of_type(*leaves, are_doubles) for leaves in zip(trees.leaves(x), trees.leaves(y), strict=True))


def _is_of_type(x: Any, y: Any, are_doubles: bool) -> bool:
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return (x.shape, x.dtype, x.weak, x.types) == (y.shape, y.dtype, y.weak, y.types)
    if isinstance(y, Tensor):
        return are_doubles and type(x) in (int, float) and not y.ndim and y.dtype == np.float64
    return isinstance(x, (int, Lin)) and isinstance(y, (int, Lin)) and isinstance(x, bool) == isinstance(y, bool)


def _behind(body: Block, buffers: Set[str]) -> frozenset[str]:
    """The buffers that a block computes of others, and these."""
    found, before = set(buffers), -1
    while buffers and len(found) != before:
        before = len(found)
        for statement in walk(body):
            if not found.isdisjoint(read.buffer for read in reads_of(statement)):
                found |= written((statement,))
    return frozenset(found)
