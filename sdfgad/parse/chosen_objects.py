"""Objects that data or a trip decides, such as the nearest of several: their places among these, at run time.

``best = p`` in a loop over objects, ``p if near else q``, ``particles[k]``: where paths or trips meet, the name has the
place of its object in a list. Attributes are read there, and assigned as those of a loop over the list are, so that all
names of the object agree (`attributes`).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import Rebound, chosen_object
from sdfgad.ir.expr import Lin, as_linear
from sdfgad.parse import attributes, sharing, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.indexing import getitem
from sdfgad.parse.item_tables import column_of_alike
from sdfgad.parse.object_places import Objects, all_of, choices, place_of
from sdfgad.parse.tree_nodes import parts_of, with_parts
from sdfgad.parse.values import UNDEFINED, ChosenObject, MaybeBound, MaybeNone, Polymorphic, Record, as_tensor


def unified(b: Builder, values: list[Any], depth: int) -> list[Any]:
    """Several objects, also in tuples, as `ChosenObject`s of the same ones; other values as they are.

    So are objects of which none is known by its place only, unless the program is parsed with all objects by places:
    a name for one of two, of which nothing changes, may as well have either's attributes.

    Args:
        depth: that of the block outside which the objects must have been made.
    """

    def each(parts: list[Any]) -> list[Any]:
        one = sharing.only_one(b, parts, depth)
        if one is not None:
            return [one] * len(parts)
        known = [part for part in parts if part is not UNDEFINED]
        objects = _objects_of(b, known, depth) if known else None
        if objects is None:
            return parts
        return [part if part is UNDEFINED else ChosenObject(objects, place_of(b, part, objects)) for part in parts]

    return trees.by_parts(values, each)


def _objects_of(b: Builder, values: list[Any], depth: int) -> Objects | None:
    """The objects of which each of several values is one; None where they cannot be told by their places."""
    if not all(isinstance(value, (Record, ChosenObject, Polymorphic)) for value in values):
        return None
    if not is_any(b, values) and (not b.objects.by_place or all(value is values[0] for value in values)):
        return None
    objects = all_of(b, [choices(b, value) for value in values])
    return objects if _may_choose(b, objects, depth) else None


def is_any(b: Builder, values: Iterable[Any]) -> bool:
    """Whether one of several values is an object that is known by its place only."""
    return any(isinstance(value, (ChosenObject, Polymorphic)) or b.objects.holds_member((value,)) for value in values)


def _may_choose(b: Builder, objects: Objects, depth: int) -> bool:
    """Whether data may choose one of several objects; `depth`: that of the block outside which they must be made."""
    are_own = are_own_objects(b, objects) and not any(b.contents.is_copy(one.fields) for one in objects)
    return are_own and all(b.contents.depth(one.fields) <= depth for one in objects)


def are_alike(b: Builder, values: Sequence[Any]) -> bool:
    """Whether values are objects of one class, and of the program's own."""
    return are_own_objects(b, values) and all(one.cls is values[0].cls for one in values)


def are_own_objects(b: Builder, values: Sequence[Any]) -> bool:
    """Whether values are objects of the program's own."""
    if b.where in b.untaken or not all(isinstance(one, Record) for one in values):
        return False
    return len(values) > 0 and all(b.contents.has(one.fields) and id(one.fields) not in b.outside for one in values)


def places(b: Builder, left: Any, right: Any) -> tuple[Lin, Lin] | None:
    """The places of two objects among those that they may be; None unless data or a trip decides which one it is."""
    if isinstance(left, Polymorphic) or isinstance(right, Polymorphic):
        return _places_of_classes(b, left, right)
    if not isinstance(left, Record) or not isinstance(right, Record):
        return None
    members = [member for member in map(b.objects.member, (left, right)) if member is not None]
    if not members or any(b.contents.is_copy(one.fields) for one in (left, right)):
        return None
    known = [(one,) for one in (left, right) if not b.objects.is_of_member(one.fields)]
    objects = all_of(b, [*(member.objects for member in members), *known])
    return Lin.of(place_of(b, left, objects)), Lin.of(place_of(b, right, objects))


def _places_of_classes(b: Builder, left: Any, right: Any) -> tuple[Lin, Lin] | None:
    if not all(isinstance(one, Record | Polymorphic) for one in (left, right)):
        return None
    objects = all_of(b, [choices(b, left), choices(b, right)])
    return Lin.of(place_of(b, left, objects)), Lin.of(place_of(b, right, objects))


def at(b: Builder, objects: Sequence[Record], place: Lin) -> Any:
    """The object at a place: a row of the objects, or one of several classes.

    Raises:
        Rebound: an object may not be known by its place here.
    """
    if any(one.cls is not objects[0].cls for one in objects):
        b.has_rolled = True
        return objects[place.const] if place.is_const else Polymorphic(tuple(objects), place)
    found = attributes.member_at(b, objects, partial(column_of_alike, b), is_lazy=True)
    if found is None:
        what = "which one of several objects this is, is known only at run time"
        raise Rebound(what, b.where, "Write what is done with the object in each branch, or use indices of arrays.")
    b.has_rolled = True
    return found(place)


def item(b: Builder, values: Sequence[Record], index: Any, counts_back: bool) -> Record:
    """``values[index]`` of a list of objects, at a place that data decides."""
    if any(b.contents.is_copy(one.fields) for one in values):
        what = "data decides which object of a list this is, and which ones the list has"
        raise chosen_object(what, b.where, "Keep the objects in one order, and their places in an array.")
    with b.indexed(counts_back):
        place = getitem(b, b.constant_array(np.arange(len(values))), index)
    return at(b, values, b.fixed(place.at()))


def resolved(b: Builder, value: Any) -> Any:
    """A value with the objects for their places."""
    if isinstance(value, ChosenObject):
        place = as_tensor(value.place)
        return at(b, value.objects, as_linear(place.at()) if place.settled else b.fixed(place.at()))
    if not isinstance(value, (MaybeNone, MaybeBound, tuple, list, dict)):
        return value
    before = parts_of(value)
    parts = [resolved(b, part) for part in before]
    if all(map(operator.is_, parts, before)):
        return value
    if isinstance(value, list):
        value[:] = parts
        return value
    if isinstance(value, dict):
        value.update(zip(value, parts, strict=True))
        return value
    return with_parts(value, parts)
