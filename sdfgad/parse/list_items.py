"""What gives the items of an ``append`` that loops repeat: rows of an array that each of them writes, or known numbers.

In Python an item and the appended array are one object, but a row is a copy. That makes no difference for a value that
has no name, and for others only if the program updates that array in place: then it is parsed again (see `references`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import Int, Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Filling, Rolling, Row, Slot
from sdfgad.parse.dict_keys import keys_at
from sdfgad.parse.item_tables import LARGEST
from sdfgad.parse.iteration_domains import Points, form_of, known_at, substituted
from sdfgad.parse.known_tables import integers
from sdfgad.parse.object_columns import Member
from sdfgad.parse.rows import is_of_data, put_row, row_of
from sdfgad.parse.texts import RunTimeText
from sdfgad.parse.tree_nodes import parts_of, with_parts
from sdfgad.parse.values import Record, Tensor, as_tensor, is_integer

Item = Callable[[Lin], Any]
FILLED = "a list is filled in a loop that runs at run time"


def row(b: Builder, filling: Filling, value: Any, points: Points) -> tuple[Row, Filling]:
    """What an ``append`` gives, and the list's state after it.

    Raises:
        NeedsConstant: the value is none that a row may stand for.
    """
    known = _known_integers(b, value, points)
    if known is not None:
        return Row(known, points), filling
    number = len(filling.rows)
    slot = filling.layout[number] if number < len(filling.layout) else None
    if slot is not None and (made := _shared(b, filling, value, points, slot)) is not None:
        return made
    if isinstance(value, (float, complex, np.inexact)):
        # A name that the loop carries is a constant until it is known to be carried.
        return Row(lambda _: value, points, _kind(as_tensor(value))), filling
    is_stored = isinstance(value, Tensor) and _is_kept(b, value)
    return Row(_item(b, value, points), points, _kind(value) if is_stored else None, is_stored), filling


def _kind(value: Tensor) -> tuple[Any, ...]:
    return value.shape, value.dtype


def _is_kept(b: Builder, value: Tensor) -> bool:
    """Whether rows may stand for an array: their shape is known, and no other name of it is updated."""
    return all(extent.is_const for extent in value.shape) and not (value.is_shared and b.rolling is Rolling.VALUES)


def _item(b: Builder, value: Any, points: Points) -> Item:
    if isinstance(value, (float, complex, np.inexact, np.integer)):
        return lambda _: value
    if is_integer(value):
        return _integer(b, Lin.of(value), points)
    if isinstance(value, Record) and (member := b.objects.member(value)) is not None:
        return _member(b, member, points)
    if isinstance(value, (tuple, list, Record)) or type(value) is dict:
        return _container(b, value, points)
    texts = keys_at(b, value, points) if isinstance(value, RunTimeText) else None
    if texts is not None:
        return lambda number: texts[_known(b, points, number)]
    if isinstance(value, (str, bool)) or value is None:
        return lambda _: value
    if not isinstance(value, Tensor) or not _is_kept(b, value):
        raise _needs_constants(b, points)
    if not value.ndim and value.dtype.kind not in "fc":
        known = _known_integers(b, value, points)
        if known is not None:
            return known
        if (value.weak or value.dtype.kind == "b") and not is_of_data(b, value.at()):
            raise _needs_constants(b, points)
    return _stored(b, value, points)


def _stored(b: Builder, value: Tensor, points: Points) -> Item:
    array = replace(b.new_view("", (Lin(len(points)), *value.shape), value.dtype, value.weak), types=value.types)
    put_row(b, array, form_of(b, points, range(len(points))), value)
    return lambda number: row_of(array, number)


def _container(b: Builder, value: Any, points: Points) -> Item:
    """A tuple, list, dict or object that each trip makes, and nothing changes after it is appended."""
    parts = [_item(b, part, points) for part in parts_of(value)]
    if isinstance(value, (tuple, Record)) and parts:
        return lambda number: with_parts(value, [part(number) for part in parts])
    is_made_here = b.contents.depth(value) == len(b.blocks) and not b.contents.is_copy(value)
    if not parts or b.where in b.untaken or not is_made_here:
        raise _needs_constants(b, points)
    b.taken[id(value)] = value, b.where

    def item(number: Lin) -> Any:
        made = with_parts(value, [part(number) for part in parts])
        b.contents.add(made, len(b.blocks))
        b.contents.add_item(made, value)
        return made

    return item


def _member(b: Builder, member: Member, points: Points) -> Item:
    """The objects of another list that the points choose."""
    place = _integer(b, member.place, points)

    def item(number: Lin) -> Any:
        found = Lin.of(place(number))
        if not found.is_const:
            raise _needs_constants(b, points)
        return member.objects[found.const]

    return item


def _known_integers(b: Builder, value: Any, points: Points) -> Item | None:
    """The elements of known arrays of integers."""
    if not isinstance(value, Tensor) or value.ndim or value.weak or value.dtype.kind not in "iu":
        return None
    known = known_at(b, value.at(), points)
    return None if known is None else _looked_up(b, points, known.astype(value.dtype))


def _needs_constants(b: Builder, points: Points) -> NeedsConstant:
    return NeedsConstant(set(points.counters), b.where, FILLED)


def _shared(b: Builder, filling: Filling, value: Any, points: Points, slot: Slot) -> tuple[Row, Filling] | None:
    """The rows of an array that has the items of several appends; None for a value that is not of their kind."""
    item = as_tensor(value) if isinstance(value, (float, complex, np.inexact)) else value
    if not isinstance(item, Tensor) or _kind(item) != slot.kind or not _is_kept(b, item):
        return None
    if len(points) != len(slot.places):
        return None
    shape, dtype = slot.kind
    array = filling.arrays.get(slot.kind)
    if array is None:
        array = b.new_view("", (Lin(slot.size), *shape), dtype)
    put_row(b, array, form_of(b, points, slot.places), item)

    def at(number: Lin) -> Any:
        row = row_of(array, Lin(slot.places[_known(b, points, number)]))
        return replace(row, weak=item.weak, types=item.types)

    return Row(at, points, slot.kind, True), replace(filling, arrays={**filling.arrays, slot.kind: array})


def _known(b: Builder, points: Points, number: Lin) -> int:
    """The number of a point, which must be known."""
    if not number.is_const or not 0 <= number.const < len(points):
        raise _needs_constants(b, points)
    return number.const


def _integer(b: Builder, form: Lin, points: Points) -> Item:
    """A Python integer: a form of run-time integers and of counters, or known at all points, or one that data decides.

    Raises:
        NeedsConstant: it is neither.
    """
    if form.is_affine and form.symbols <= {*points.counters, *b.integers}:
        return lambda number: substituted(form, _counters_at(b, points, number))
    known = known_at(b, Int(form), points)
    if known is None and is_of_data(b, Int(form)):
        return _stored(b, as_tensor(form), points)
    if known is None or (len(known) and np.abs(known).max() >= LARGEST):
        raise _needs_constants(b, points)
    return _looked_up(b, points, known, is_python=True)


def _counters_at(b: Builder, points: Points, number: Lin) -> dict[str, Lin]:
    if not number.is_const and len(points.counters) == 1:
        # Of a list that its loop reads, the number of an item is that of a trip.
        return {points.counters[0]: number}
    return points.at(_known(b, points, number))


def _looked_up(b: Builder, points: Points, numbers: Any, is_python: bool = False) -> Item:
    def item(number: Lin) -> Any:
        if is_python and not number.is_const:
            return integers(b, numbers)(number)
        found = numbers[_known(b, points, number)]
        return int(found) if is_python else found

    return item
