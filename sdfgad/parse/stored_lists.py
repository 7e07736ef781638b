"""Lists whose items loops replace: ``xs[k] = m[k] + G @ (xs[k + 1] - p[k])``, as the rows of an array.

Which place a statement reads or writes is known at all points of the loops (`iteration_domains`). So what an item is at
a read, one from before the loop or one that an earlier trip has stored, is known when the body has been parsed, and
whether a later trip replaces what is read. Where either is needed, the body is parsed again: with the items from before
that are read as rows, and with copies of the rows that are read.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from sdfgad.ir.expr import Int, Lin, as_linear
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.appending import filler
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Filling, Fills, ItemAccess, Rolling, Storing
from sdfgad.parse.dtypes import has_singles
from sdfgad.parse.iteration_domains import Points, form_of, known_at, places_of, points_here
from sdfgad.parse.ranges import fewest
from sdfgad.parse.rows import copy_of_row, put_row, row_of, rows_of
from sdfgad.parse.values import NotNumeric, Tensor, as_tensor, is_integer, is_whole

REPLACED = "an item of a list is replaced in a loop that runs at run time"


# --- which lists


def expect(b: Builder, names: Mapping[str, Any], values: Any, index: Any) -> None:
    """Where an item is chosen at run time from a list of which a loop around replaces items, by a name.

    Raises:
        Fills: it does.
    """
    body = filler(b, values) if id(values) not in b.filling and has_many_trips(b, index) else None
    if body is not None and any(names.get(name) is values for name in _stored_names(body.node)):
        raise Fills(body.node, values, storing=Storing())


@lru_cache(maxsize=1 << 10)
def _stored_names(node: ast.AST) -> frozenset[str]:
    """The names to items of which statements assign."""
    targets = (one.value for one in ast.walk(node) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store))
    return frozenset(target.id for target in targets if isinstance(target, ast.Name))


def store(b: Builder, values: Any, index: Any, value: Any) -> bool:
    """``values[index] = value`` of a list whose items a loop around replaces; else False.

    Raises:
        Fills: the loop may, once its body is parsed as one that does.
        NeedsConstant: the place is not known at all points, or the value is not like the others.
    """
    filling = b.filling.get(id(values))
    if filling is None:
        is_chosen = is_whole(index) and not is_known(index) and has_many_trips(b, index)
        body = filler(b, values) if is_chosen else None
        if body is not None and points_here(b, body.depth - 1) is not None:
            raise Fills(body.node, values, storing=Storing())
        return False
    if filling.storing is None:
        return False
    points, places = _places(b, filling, index)
    item = _as_item(value)
    if item is None or _may_be_updated(b, item):
        raise _refused(b, filling)
    array = filling.array
    if array is None:
        array = b.new_view("", (Lin(len(values)), *item.shape), item.dtype, item.weak)
    _require_alike(b, filling, array, item)
    put_row(b, array, form_of(b, points, places), item)
    _note(b, replace(filling, array=array), ItemAccess(True, points, tuple(places.tolist()), item.weak))
    b.contents.count_change(values, b.loops)
    b.has_rolled = True
    return True


def read(b: Builder, values: Any, index: Any) -> Any:
    """``values[index]`` of such a list.

    Raises:
        NeedsConstant: the place is not known at all points.
        Fills: nothing is stored before, so that it is an item from before the loop.
    """
    filling = b.filling[id(values)]
    points, places = _places(b, filling, index)
    b.has_rolled = True
    if filling.array is None:
        raise Fills(filling.node, values, storing=replace(filling.storing, before=frozenset(places[:1].tolist())))
    _note(b, filling, ItemAccess(False, points, tuple(places.tolist()), filling.array.weak))
    found = row_of(filling.array, form_of(b, points, places))
    if filling.storing.copies:
        found = _copied(b, filling, found)
    return replace(found, read_only=True, settled=True) if found.ndim else found


def has_many_trips(b: Builder, index: Any) -> bool:
    """Whether a loop of many trips chooses the place; loops of few are unrolled, and the items are names."""
    counters = Lin.of(index).symbols if is_integer(index) else frozenset()
    trips = [trips for _, var, trips in b.loops if var in counters]
    return not trips or any(not count.is_const or count.const >= fewest(b) for count in trips)


def is_known(index: Any) -> bool:
    return is_integer(index) and Lin.of(index).is_const


# --- items


def _copied(b: Builder, filling: Filling, found: Tensor) -> Tensor:
    """What is read as it is now, as a later trip replaces the row."""
    if found.ndim and b.rolling is Rolling.VALUES:
        raise _refused(b, filling)
    return copy_of_row(b, found)


def _places(b: Builder, filling: Filling, index: Any) -> tuple[Points, Any]:
    """The points that come to the present statement, and the place at each."""
    points, count = points_here(b, filling.depth - 1), len(filling.values)
    if points is None or not len(points) or not is_whole(index):
        raise _refused(b, filling)
    form = as_linear(index.at()) if isinstance(index, Tensor) else Lin.of(index)
    found = known_at(b, Int(form), points)
    if found is None:
        raise _refused(b, filling)
    places = np.where(found < 0, found + count, found) if b.counts_back else np.asarray(found)
    if places.min() < 0 or places.max() >= count:
        raise _refused(b, filling)
    return points, places


def _as_item(value: Any) -> Tensor | None:
    try:
        item = as_tensor(value)
    except NotNumeric:
        return None
    is_alike = item.dtype.kind in "fc" and all(extent.is_const for extent in item.shape)
    return item if is_alike else None


def _may_be_updated(b: Builder, value: Tensor) -> bool:
    return value.is_shared and b.rolling is Rolling.VALUES


def _require_alike(b: Builder, filling: Filling, array: Tensor, item: Tensor) -> None:
    """Require one shape and dtype; which items are Python's numbers makes no difference without single precision."""
    is_alike = (item.shape, item.dtype) == (array.shape[1:], array.dtype)
    if not is_alike or (item.weak != array.weak and has_singles(b.buffers.values())):
        raise _refused(b, filling)


def _note(b: Builder, filling: Filling, access: ItemAccess) -> None:
    b.filling = b.filling | {id(filling.values): replace(filling, accesses=(*filling.accesses, access))}


def _refused(b: Builder, filling: Filling) -> NeedsConstant:
    return NeedsConstant({filling.var}, b.where, REPLACED)


# --- before and after the loop


def arrays_for(b: Builder, node: Any, var: str) -> dict[int, Tensor]:
    """Before a loop: arrays of the lists of which it reads items from before it, with these.

    Raises:
        NeedsConstant: they are not alike.
    """
    found = {}
    for values in b.to_fill.get(id(node)) or ():
        storing = b.storing.get((id(node), id(values)))
        if storing is not None and storing.before:
            found[id(values)] = _with_items(b, Filling(values, 0, var, node), sorted(storing.before))
    return found


def _with_items(b: Builder, filling: Filling, places: Sequence[int]) -> Tensor:
    values = filling.values
    first = _as_item(values[places[0]])
    if first is None:
        raise _refused(b, filling)
    array = b.new_view("", (Lin(len(values)), *first.shape), first.dtype, first.weak)
    # Places that follow each other and have one object get it at once.
    for _, pairs in groupby(enumerate(places), key=lambda pair: (pair[1] - pair[0], id(values[pair[1]]))):
        run = [place for _, place in pairs]
        item = _as_item(values[run[0]])
        if item is None or _may_be_updated(b, item):
            raise _refused(b, filling)
        _require_alike(b, filling, array, item)
        b.refer(rows_of(array, run[0], len(run)), item, is_row=True)
    return array


def finish(b: Builder, filling: Filling) -> None:
    """After the loop: the places that it has written have its rows as items.

    Raises:
        Fills: what is read needs items from before the loop, or copies.
    """
    times = places_of([access.points for access in filling.accesses])
    events = sorted(
        (time, access.is_write, place, access.weak)
        for access, own in zip(filling.accesses, times, strict=True)
        for time, place in zip(own.tolist(), access.places, strict=True)
    )
    written, weak, read_before = set[int](), dict[int, bool](), set[int]()
    reads, is_replaced = set[int](), False
    for _, is_write, place, is_weak in events:
        if is_write:
            is_replaced |= place in reads
            written.add(place)
            weak[place] = is_weak
        else:
            reads.add(place)
            read_before |= set() if place in written else {place}
    storing = Storing(filling.storing.before | read_before, filling.storing.copies or is_replaced)
    if storing != filling.storing:
        raise Fills(filling.node, filling.values, storing=storing)
    for place in sorted(written):
        filling.values[place] = replace(row_of(filling.array, Lin(place)), weak=weak[place])
