"""Structure of arrays: attributes of the objects of a list as the rows of arrays, for loops that assign to them.

A loop that goes over a list of objects of one class, or chooses them by its counter, stays a loop: what it reads of an
object is an item of a column. Where it assigns to an attribute, ``p.x = p.x + dt * p.v``, that attribute of all these
objects moves to an array before the outermost loop or branch in which they stay the same objects, and each assignment
writes a row. In Python the old value may live on under another name: a reference of a row may be read only until the
attribute is assigned to, of whichever object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sdfgad.errors import AmbiguousArray
from sdfgad.ir.expr import INT, Lin, as_linear, reads
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder
from sdfgad.parse.column_values import as_row, kind_of, new_array, together, value_of
from sdfgad.parse.contents import Rolling
from sdfgad.parse.item_arrays import in_steps
from sdfgad.parse.known_tables import integers, known_tables
from sdfgad.parse.object_columns import Column, Deferred, Member, Moves
from sdfgad.parse.object_places import all_of, choices, place_of
from sdfgad.parse.python_numbers import are_bounded
from sdfgad.parse.rows import copy_of_row, put_row, rows_of
from sdfgad.parse.tree_nodes import is_inner
from sdfgad.parse.values import ABSENT, Record, Tensor, Unbound, as_tensor

# What gives the value at a place of several values; None for values that are not alike.
ColumnOf = Callable[[list[Any]], Callable[[Lin], Any] | None]
# Loops of more trips are not unrolled.
MOST_UNROLLED = 256
BOUND_ANEW = "an attribute of objects in a list is assigned to in a loop"


def member_at(
    b: Builder, objects: Sequence[Record], column_of: ColumnOf, is_lazy: bool = False
) -> Callable[[Lin], Any] | None:
    """What gives the object at a place that is known only at run time; None where there can be no such one.

    Args:
        column_of: what gives the value at a place of several values; None for values that are not alike.
        is_lazy: whether attributes are looked up where they are read only.
    """
    first = objects[0]
    if all(one is first for one in objects):
        return lambda place: first
    if b.where in b.untaken or any(b.contents.is_copy(one.fields) for one in objects):
        return None
    if any(b.objects.is_of_member(one.fields) for one in objects):
        return _listed(b, objects, column_of)
    for one in objects:
        b.taken[id(one.fields)] = one.fields, b.where
    b.objects.add_group(tuple(objects), max(b.contents.depth(one.fields) for one in objects))
    names = [name for name in first.fields if b.objects.common(objects, name) is None]
    # Of a column that some of them share with others, assignments to these would be missed.
    shared = {name: found[0] for name in names for one in objects if (found := b.objects.of(one, name)) is not None}
    late = {name for name in names if is_lazy or name in shared or is_inner(first.fields[name])}
    columns = {name: column_of([one.fields[name] for one in objects]) for name in names if name not in late}

    def item(name: str, place: Lin) -> Any:
        if name in shared:
            return _partly(b, objects, shared[name], place)
        column = columns[name] if name in columns else column_of([one.fields[name] for one in objects])
        return _unlike(b, name, place) if column is None else _unmoved(b, objects, name, column(place))

    def at(place: Lin) -> Record:
        if place.is_const:
            return objects[place.const]
        fields = {name: Deferred(partial(item, name, place)) if name in late else item(name, place) for name in names}
        record = Record(first.cls, fields)
        b.contents.add(fields, len(b.blocks))
        b.taken[id(fields)] = fields, b.where
        b.objects.add_member(Member(record, tuple(objects), place))
        for name in first.fields:
            if (found := _column_of(b, record, name)) is not None and _is_set(b, *found):
                fields[name] = _value(*found)
        return record

    return at


def _unmoved(b: Builder, objects: Sequence[Record], name: str, found: Any) -> Any:
    """The attribute of one of several objects: that of a copy, as one that is updated in place must be a column."""
    is_copy = isinstance(found, Tensor) and found.ndim > 0 and found.read_only
    if not is_copy or any(one.fields[name].read_only for one in objects):
        return found
    return replace(found, unmoved=lambda: _to_move(b, objects, name, found))


def _to_move(b: Builder, objects: Sequence[Record], name: str, like: Tensor) -> Exception:
    """What to raise where an attribute that is updated in place was no column when it was read."""
    if b.objects.common(objects, name) is not None:
        what = "an array that was an attribute of one of several objects is updated in place by another name"
        return AmbiguousArray(what, b.where, "Update it as the attribute, or copy it where it is read: p.x.copy().", "")
    need = _moves(b, objects, name, like)
    return need if _is_caught(b, need) else NeedsConstant({var for _, var, _ in b.loops}, b.where, BOUND_ANEW)


def _is_caught(b: Builder, need: Exception) -> bool:
    """Whether a statement around is parsed again with an attribute as a column."""
    return isinstance(need, Moves) and b.objects.is_around(need.depth)


def _unlike(b: Builder, name: str, place: Lin) -> Unbound:
    what = (
        f"the attributes `{name}` of the objects in a list are not alike, so that a loop over them is none at run time"
    )
    return Unbound("it is not alike in all objects", NeedsConstant(_counters(b, place), b.where, what))


def _listed(b: Builder, objects: Sequence[Record], column_of: ColumnOf) -> Callable[[Lin], Any] | None:
    """The same of a list in which data decides some of the objects: by an array of their places among all of them."""
    together = all_of(b, [choices(b, one) for one in objects])
    found = member_at(b, together, column_of, is_lazy=True)
    if found is None:
        return None
    places = b.new_view("place", (Lin(len(objects)),), INT, weak=True)
    for number, one in enumerate(objects):
        put_row(b, places, Lin(number), as_tensor(place_of(b, one, together)))
    return lambda place: found(as_linear(places.at(place)))


def _partly(b: Builder, objects: Sequence[Record], column: Column, place: Lin) -> Any:
    """An attribute that is a column of some of the objects only, and must be one of all of them where it is read."""
    need = _moves(b, objects, column.name, _value(column, Lin(0)))
    if _is_caught(b, need):
        raise need
    if isinstance(need, Moves):
        move(b, need)
    found = b.objects.common(objects, column.name)
    return _unlike(b, column.name, place) if found is None else _value(found[0], _place_in(b, found[1], place))


def _counters(b: Builder, place: Lin) -> set[str]:
    around = {var for _, var, _ in b.loops}
    return around & place.symbols or around


# --- reading


def read(b: Builder, record: Record, name: str) -> Any:
    """An attribute that is a column: the row of an object, as it is now; None for another attribute.

    Raises:
        NeedsConstant: whether the object has got it is not known.
    """
    found = _column_of(b, record, name)
    if found is None:
        return None
    column, place = found
    if not _is_set(b, column, place):
        what = f"whether objects have got the attribute `{name}` already is known only at run time"
        raise NeedsConstant({var for _, var, _ in b.loops}, b.where, what)
    row = _row(column, place)
    is_copied = b.where in b.objects.copying and b.rolling is not Rolling.VALUES
    return value_of(copy_of_row(b, row) if is_copied else b.versions.held(row, column.mark, column.depth), column.kind)


def other(record: Record, name: str) -> Any:
    """An attribute that is no column, of an object that has it."""
    found = record.fields[name]
    if isinstance(found, Deferred):
        value = found.evaluate()
        record.fields[name] = value if found.is_kept else found
        return value
    return found


def read_all(b: Builder, record: Record) -> dict[str, Any]:
    """The attributes of an object, as they are now."""
    rows = {name: read(b, record, name) for name in record.fields}
    return {name: other(record, name) if row is None else row for name, row in rows.items()}


def may_be_column(b: Builder, record: Record, name: str) -> bool:
    """Whether an attribute is a column, or must become one where it is assigned to."""
    return b.objects.member(record) is not None or b.objects.of(record, name) is not None


def is_of_column(b: Builder, record: Record, name: str) -> bool:
    """Whether an attribute is a column, also one whose values are not set yet."""
    return _column_of(b, record, name) is not None


def _column_of(b: Builder, record: Record, name: str) -> tuple[Column, Lin] | None:
    """The column that an attribute of an object is, and the place of its row."""
    member = b.objects.member(record)
    if member is None:
        known = b.objects.of(record, name)
        return None if known is None else (known[0], Lin(known[1]))
    found = b.objects.common(member.objects, name)
    return None if found is None else (found[0], _place_in(b, found[1], member.place))


def _place_in(b: Builder, rows: list[int], place: Lin) -> Lin:
    """The row of the object at a place, from the row of each."""
    return in_steps(rows, partial(integers, b))(place)


def _is_set(b: Builder, column: Column, place: Lin) -> bool:
    """Whether an object has an attribute that none of them had before the loops."""
    if not b.objects.is_unset(column):
        return True
    at, around = b.objects.place_set(column), {var for _, var, _ in b.loops}
    if at is not None and at[0].symbols.isdisjoint(around) and at[1] <= around:
        if not at[1]:
            _complete(b, column)
        return True
    return at is not None and at[0] == place


def _row(column: Column, place: Lin) -> Tensor:
    """The row of an object, whatever it is at the time when it is evaluated."""
    array = column.array
    row = array.reindexed(array.shape[1:], lambda p: (place, *p))
    return row if row.ndim else row.as_value(settled=False)


def _value(column: Column, place: Lin) -> Any:
    """What an object has in a row."""
    return value_of(_row(column, place), column.kind)


# --- assignments


def assign(b: Builder, record: Record, name: str, value: Any) -> bool:
    """Assign to an attribute that is a column, or to one that must be; returns False for another attribute.

    Raises:
        Moves: it must become a column first.
        NeedsConstant: it cannot.
    """
    found, member = _column_of(b, record, name), b.objects.member(record)
    if found is None:
        objects = b.objects.group(record) if member is None else member.objects
        is_told_by_name = member is None and id(record.fields) not in b.taken
        if objects is None or (is_told_by_name and _is_here(b, objects)):
            return False
        need = _moves(b, objects, name, value)
        if member is not None and _is_told(b, need, value, member.place):
            raise NeedsConstant(_counters(b, member.place), b.where, BOUND_ANEW)
        if not _is_here(b, objects):
            raise need
        # What is known is not moved for an object that is known.
        if isinstance(need, Moves) and (member is not None or not need.kind.is_discrete):
            move(b, need)
            found = _column_of(b, record, name)
        if found is None and member is None:
            return False
        if found is None:
            raise NeedsConstant({var for _, var, _ in b.loops}, b.where, BOUND_ANEW)
    column, place = found
    if _is_row(value, column, place):
        return True
    item = as_row(b, column.kind, value)
    if item is None and _widen(b, column, value):
        return assign(b, record, name, value)
    if item is None and member is None:
        return False
    if item is None or not _may_set(b, column, place):
        raise NeedsConstant(_counters(b, place), b.where, BOUND_ANEW)
    array = column.array
    b.refer(array.reindexed(array.shape[1:], lambda p: (place, *p)), item, is_row=True)
    b.versions.count(column.mark)
    for one in (*column.objects, *(known.record for known in b.objects.members)):
        b.contents.count_change(one.fields, b.loops)
    return True


def _widen(b: Builder, column: Column, value: Any) -> bool:
    """Let a column have a dtype that holds a value, too; returns whether it has one now.

    Raises:
        Moves: it must have had that before.
    """
    need = _moves(b, column.objects, column.name, value)
    if not isinstance(need, Moves) or as_row(b, need.kind, value) is None:
        return False
    if _is_caught(b, need):
        raise need
    return _is_here(b, need.objects) and move(b, need) is not None


def _is_here(b: Builder, objects: Sequence[Record]) -> bool:
    """Whether no loop or branch is around this statement in which objects stay the same."""
    return len(b.blocks) <= max(b.contents.depth(one.fields) for one in objects)


def _is_row(value: Any, column: Column, place: Lin) -> bool:
    """Whether a value is the very row, as that is updated in place."""
    if not isinstance(value, Tensor) or value.place is None or value.buffer != column.buffer or value.part:
        return False
    index = tuple(Lin.symbol(f"r{axis}_") for axis in range(value.ndim))
    return value.shape == column.array.shape[1:] and value.place(index).index == (place, *index)


def _may_set(b: Builder, column: Column, place: Lin) -> bool:
    """Note where a column without values gets one: in each trip of a loop over all objects."""
    if not b.objects.is_unset(column) or _is_set(b, column, place):
        return True
    loops = [loop for loop in b.loops if loop[0] > column.depth]
    # No branch may leave it out.
    if not loops or [depth for depth, _, _ in loops] != list(range(column.depth + 1, len(b.blocks) + 1)):
        return False
    _, var, trips = loops[-1]
    if place != Lin.symbol(var) or trips != Lin(len(column.objects)):
        return False
    b.objects.set_at(column, place, {var for _, var, trips in loops if not (trips.is_const and trips.const > 0)})
    return True


# --- moves


def _moves(b: Builder, objects: Sequence[Record], name: str, value: Any) -> Exception:
    """What to raise so that an attribute becomes a column."""
    depth = max(b.contents.depth(one.fields) for one in objects)
    may_move = all(b.contents.has(one.fields) and id(one.fields) not in b.outside for one in objects)
    old = [one.fields[name] for one in objects if name in one.fields]
    kind = kind_of(b, old, value)
    need = NeedsConstant({var for _, var, _ in b.loops}, b.where, BOUND_ANEW)
    is_here = _is_here(b, objects)
    if is_here and not any(name in one.fields for one in objects):
        return need
    followed = max(b.contents.count_with(one.fields) for one in objects)
    is_within = is_here or b.objects.is_around(depth, followed)
    if not may_move or not is_within or b.objects.is_refused(objects, name):
        return need
    if kind is None or (kind.is_discrete and not (b.objects.may_count and are_bounded(b, [value, *old]))):
        return need
    return Moves(objects, name, kind, depth, followed)


def _is_told(b: Builder, need: Exception, value: Any, place: Lin) -> bool:
    """Whether an integer, truth value or string is known where a short loop over the objects is written out."""
    if not isinstance(need, Moves) or not need.kind.is_discrete or len(b.blocks) != need.depth + 1 or not b.loops:
        return False
    _, var, trips = b.loops[-1]
    is_short = trips.is_const and trips.const <= MOST_UNROLLED
    number = as_row(b, need.kind, value)
    is_known = number is not None and {read.buffer for read in reads(number.at())} <= known_tables(b).keys()
    return is_short and is_known and place.is_affine and place.symbols <= {var}


def move(b: Builder, need: Moves) -> Column | None:
    """Let an attribute of objects be the rows of a new array; where that cannot be, note it, and return None."""
    objects = b.objects.closure(need.objects, need.name)
    values = [one.fields.get(need.name, ABSENT) for one in objects]
    is_set = any(value is not ABSENT for value in values)
    items = [as_row(b, need.kind, value) for value in values] if is_set else []
    if any(item is None for item in items):
        b.objects.refuse(need.objects, need.name)
        return None
    rows = [item for item in items if item is not None]
    array = new_array(b, need.name, need.kind, len(objects), rows)
    first = 0
    for part in together(b, rows):
        b.refer(rows_of(array, first, part.shape[0].const), part, is_row=True)
        first += part.shape[0].const
    column = Column(need.name, tuple(objects), array, len(b.blocks), need.kind)
    b.objects.add(column, is_set)
    b.has_rolled = True
    if is_set:
        _put_rows(column)
    return column


def complete(b: Builder) -> None:
    """After a loop: objects have the attributes that it has given to all of them."""
    for column in b.objects.unset:
        _is_set(b, column, Lin(0))


def _complete(b: Builder, column: Column) -> None:
    """Let all objects have an attribute: the loop over them has ended."""
    b.objects.complete(column)
    _put_rows(column)


def _put_rows(column: Column) -> None:
    for number, one in enumerate(column.objects):
        one.fields[column.name] = _value(column, Lin(number))
