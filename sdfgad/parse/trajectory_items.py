"""Items of trajectories (`sdfgad.parse.trajectories`): what a loop reads of the lists that it fills."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.basic_indexing import resolve
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Filling, Fills
from sdfgad.parse.rows import row_of
from sdfgad.parse.trajectories import READ, expect, items_of
from sdfgad.parse.values import Tensor


def length(b: Builder, values: Any) -> Any:
    """How many items a list has at the present statement of the loop that fills it."""
    if b.filling[id(values)].storing is not None:
        return len(values)
    filling = _read(b, values)
    return (Lin.symbol(filling.var) + len(values) + len(filling.rows)).plain


def item(b: Builder, values: Any, index: Lin) -> Any:
    """An item of a list in the loop that fills it.

    Raises:
        Fills: the list is not yet known to be read.
        NeedsConstant: it has no items that are known to be alike.
    """
    return item_at(b, values, resolve(b, index, Lin.of(length(b, values))))


def item_at(b: Builder, values: Any, place: Lin) -> Any:
    """The same by the place of an item that there is."""
    filling = _read(b, values)
    if any(row.is_front for row in filling.rows):
        raise NeedsConstant({filling.var}, b.where, READ)
    if place.is_const and place.const < len(values):
        return list(items_of(values))[place.const]
    if filling.array is not None:
        found = row_of(filling.array, place)
    elif values:
        raise Fills(filling.node, values)
    elif filling.rows:
        found = filling.rows[0].item(place)
    else:
        raise NeedsConstant({filling.var}, b.where, READ)
    return replace(found, read_only=True, settled=True) if isinstance(found, Tensor) and found.ndim else found


def _read(b: Builder, values: Any) -> Filling:
    filling = b.filling[id(values)]
    expect(b, filling.node, values)
    return filling
