"""Places of objects among others: numbers by which objects are told, also where data decides them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from sdfgad.ir.expr import as_linear
from sdfgad.parse.builder import Builder
from sdfgad.parse.item_arrays import in_steps
from sdfgad.parse.known_tables import integers
from sdfgad.parse.values import ChosenObject, Polymorphic, Record, as_tensor

Objects = tuple[Record, ...]


def choices(b: Builder, value: Record | ChosenObject | Polymorphic) -> Objects:
    """The objects of which a value is one: those of the list that it is of."""
    if isinstance(value, ChosenObject | Polymorphic):
        return value.objects
    member = b.objects.member(value)
    return member.objects if member is not None else b.objects.group(value) or (value,)


def all_of(b: Builder, groups: Iterable[Objects]) -> Objects:
    """The objects of several groups, each once: in the order of a list of all of them, else in that of their making."""
    unlike = [tuple({id(one.fields): one for one in group}.values()) for group in groups]
    together = {id(one.fields): one for group in unlike for one in group}
    listed = next((group for group in unlike if len(group) == len(together) > 1), None)
    return listed or tuple(together[key] for key in sorted(together, key=b.contents.order.__getitem__))


def place_of(b: Builder, value: Record | ChosenObject | Polymorphic, objects: Objects) -> Any:
    """The place of a value among some objects."""
    numbers = {id(one.fields): number for number, one in enumerate(objects)}
    if isinstance(value, ChosenObject | Polymorphic):
        if value.objects == objects:
            return value.place
        chosen, place = value.objects, as_linear(as_tensor(value.place).at())
    elif (member := b.objects.member(value)) is not None:
        chosen, place = member.objects, member.place
    else:
        return numbers[id(value.fields)]
    return in_steps([numbers[id(one.fields)] for one in chosen], partial(integers, b))(place).plain
