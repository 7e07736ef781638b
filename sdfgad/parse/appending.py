"""Rolled appends: a list to which each trip of a loop appends an array, as the rows of an array that the loop fills.

In Python an item and the appended array are one object, but a row is a copy. So no array that is such an item may be
updated in place afterwards: `ItemUpdated` has the program parsed again, with such loops unrolled.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, walk
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import ItemUpdated
from sdfgad.parse.rows import MANY_STATEMENTS, row_of
from sdfgad.parse.values import Tensor


def begin(b: Builder, var: str) -> Counter[str]:
    """At the start of a trip: how often each buffer has been written."""
    for filling in b.filling.values():
        if filling.depth == len(b.blocks):
            filling.before = frozenset(b.buffers)
            filling.rows.pop(var, None)
            filling.aliases.pop(var, None)
    return Counter(b.writes) if b.filling else Counter()


def append(b: Builder, values: list[Any], value: Any) -> bool:
    """Append to a row of an array if `values` is a list that the present loop fills; else False."""
    filling = b.filling.get(id(values))
    if filling is None or filling.depth != len(b.blocks) or not b.loops or b.loops[-1][0] != filling.depth:
        return False
    _, var, trips = b.loops[-1]
    is_alike = isinstance(value, Tensor) and all(extent.is_const for extent in value.shape)
    if not is_alike or not (value.ndim or value.dtype.kind in "fc"):
        raise NeedsConstant({var}, b.where, "a list is filled in a loop that runs at run time")
    array = b.new_view("", (trips, *value.shape), value.dtype, value.weak)
    b.assign(array.reindexed(value.shape, lambda p: (Lin.symbol(var), *p)), value)
    filling.rows.setdefault(var, []).append(array)
    items = aliases(value)
    if items:
        # The row, too, is the item.
        filling.aliases.setdefault(var, set()).update(items, {str(array.buffer)})
    # What is older may be updated until the end of the trip, by which a name is bound anew.
    b.shared |= items - filling.before
    return True


def aliases(value: Any) -> set[str]:
    """The buffers of the arrays that a value may be, or be a view of."""
    if not isinstance(value, Tensor) or not value.ndim:
        return set()
    return {name for name, _ in value.copy_of} | ({str(value.buffer)} if value.place is not None else set())


def shared_after_trip(b: Builder, var: str, ends: list[tuple[str, Any]], marks: Counter[str]) -> set[str]:
    """The buffers that hold items at the end of a trip of a loop.

    Args:
        ends: the storage that carries each array to the next trip, and its value at the end of the trip.
        marks: how often each buffer had been written when the trip began.

    Raises:
        ItemUpdated: a trip updates an item of an earlier trip.
    """
    items = {name for filling in b.filling.values() for name in filling.aliases.get(var, ())}
    size = -1
    while items and len(items) != size:
        size = len(items)
        items |= {store for store, value in ends if aliases(value) & items}
    if any(name in marks and b.writes[name] != marks[name] for name in items):
        raise ItemUpdated
    return items


def finish(b: Builder, var: str, trips: Lin, body: Block) -> None:
    """After a loop: its lists have its rows as items.

    Raises:
        NeedsConstant: the loop is too small to be worth one.
    """
    filled = [filling for filling in b.filling.values() if var in filling.rows]
    if filled and trips.const * sum(1 for _ in walk(body)) < MANY_STATEMENTS:
        raise NeedsConstant({var}, b.where, "a list is filled in a short loop")
    for filling in filled:
        arrays = filling.rows.pop(var)
        filling.values.extend(row_of(array, Lin(k)) for k in range(trips.const) for array in arrays)
