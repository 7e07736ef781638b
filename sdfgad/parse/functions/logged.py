"""Items of lists whose length is data, as rows of an array (`sdfgad.parse.logs`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.errors import InvalidIndex
from sdfgad.ir.expr import BOOL, INT, Const, Lin, Op
from sdfgad.parse import logged_items, stacks, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.logs import Site, popped, push, put, require_end, see
from sdfgad.parse.registry import function
from sdfgad.parse.rows import ALIKE, put_item
from sdfgad.parse.values import NotNumeric, Record, Tensor, as_tensor, is_number, scalar


@function(put)
def _put(b: Builder, site: Site, arrays: Any, place: Any, value: Any) -> None:
    logged_items.hold(b, value, b.logs.known[site])
    arrays = trees.leaves(arrays)
    leaves, like = trees.leaves(value), b.logs.known[site].like
    if len(leaves) != len(trees.leaves(like)) or _kind(like) != _kind(value):
        raise b.unsupported("a list whose length is data has items of different structures", ALIKE)
    like = trees.rebuilt(value, trees.leaves(like))
    b.logs.known[site] = replace(b.logs.known[site], like=like)
    try:
        tensors = [as_tensor(leaf) for leaf in leaves]
    except NotNumeric:
        raise b.logs.known[site].failure from None
    if not all(map(_holds, arrays, tensors)):
        b.logs.widen(site, trees.rebuilt(like, [_wider(b, *pair) for pair in zip(tensors, arrays, strict=True)]))
        return
    row = stacks.within(arrays, as_tensor(place).at())
    for array, new in zip(arrays, tensors, strict=True):
        _put_one(b, array, row, new)


def _kind(value: Any) -> Any:
    """The class of an item and the attributes of an object; each attempt makes the program's own classes anew."""
    if isinstance(value, Record):
        return value.cls.__qualname__, *value.fields
    return (type(value).__name__, len(value)) if isinstance(value, (tuple, list, dict)) else None


@function(see)
def _see(b: Builder, site: Site, value: Any) -> None:
    kept = b.logs.known[site]
    logged_items.hold(b, value, kept)
    leaves, likes = trees.leaves(value), trees.leaves(kept.like)
    if len(leaves) != len(likes) or not all(is_number(one) or isinstance(one, Tensor) for one in (*leaves, *likes)):
        return
    pairs = [(as_tensor(leaf), as_tensor(like)) for leaf, like in zip(leaves, likes, strict=True)]
    if not any(new.ndim or like.ndim for new, like in pairs):
        like = trees.rebuilt(kept.like, [_wider(b, *pair) for pair in pairs])
        b.logs.known[site] = replace(kept, like=like)


MOST_REMOVED = 4


@function(require_end)
def _require_end(b: Builder, site: Site, length: Any, place: Any) -> None:
    if not (isinstance(place, int) and place in (-1, 0)):
        raise b.logs.known[site].failure
    # A loop that is unrolled would keep an item more of the list for each trip.
    if place == 0 or b.loops or b.logs.removed[site] == MOST_REMOVED:
        b.logs.keep_all(site)
    else:
        b.logs.removed[site] += 1
        b.logs.keep(site, latest=b.logs.removed[site])
    has = Op("less", (Const(0, INT), as_tensor(length).at()), BOOL)
    b.check(has, (), "pop from empty list", InvalidIndex, "Python raises IndexError here, too.")


@function(push)
def _push(b: Builder, site: Site, arrays: Any, place: Any, value: Any) -> None:
    stacks.require_room(b, site, arrays, as_tensor(place))
    _put(b, site, arrays, place, value)


@function(popped)
def _popped(b: Builder, site: Site, arrays: Any, place: Any) -> Any:
    return stacks.item(b, site, arrays, as_tensor(place).at())


def _holds(array: Tensor, new: Tensor) -> bool:
    """Whether an array of items has a type for a new one, to which numbers give way only if all are Python's."""
    return bool(np.can_cast(new.dtype, array.dtype)) and (new.weak or not array.weak)


def _wider(b: Builder, new: Tensor, array: Tensor) -> Tensor:
    """A number of a type that holds new items and those before; arrays must have one type.

    Raises:
        UnsupportedProgram: they are arrays.
    """
    if new.ndim:
        raise b.unsupported("a list whose length is data has arrays of different types", ALIKE)
    return scalar(Const(0, np.result_type(new.dtype, array.dtype)), weak=new.weak and array.weak)


def _put_one(b: Builder, items: Tensor, place: Lin, value: Tensor) -> None:
    if value.shape != items.shape[1:]:
        raise b.unsupported("a list whose length is data has items of different shapes", ALIKE)
    put_item(b, items, place, value)
