"""Trajectories: lists to which each trip of a loop appends an item, and of which the loop reads items.

``u.append(u[-1] + dt * f(u[-1]))``: the items are rows of one array, behind those that the list has before the loop.
How many there are follows from the counter, as every trip appends one. Rows are copies, so that nothing may update what
is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Filling, Fills, Rolling
from sdfgad.parse.rows import put_row, row_of
from sdfgad.parse.values import NotNumeric, Tensor, as_tensor

READ = "a list or dict is read in the loop that fills it"


def arrays_for(b: Builder, node: Any, var: str, trips: Lin) -> dict[int, Tensor]:
    """Before a loop: arrays with the items of the lists that it fills and reads, and room for one of each trip.

    Raises:
        Fills: the items of one are not alike, so that the loop cannot fill it.
    """
    lists = [values for values in b.to_fill.get(id(node)) or () if (id(node), id(values)) in b.to_read]
    try:
        return {id(values): _with_room(b, list(items_of(values)), var, trips) for values in lists if values}
    except NeedsConstant:
        keys = [(id(node), id(values)) for values in lists]
        b.only_read |= {key: b.to_read.pop(key) for key in keys}
        raise Fills(node, None) from None


def items_of(values: Any) -> Iterable[Any]:
    """The items of a list or dict."""
    return values.values() if isinstance(values, dict) else values


def _with_room(b: Builder, values: Sequence[Any], var: str, trips: Lin) -> Tensor:
    try:
        items = [as_tensor(value) for value in values]
    except NotNumeric:
        raise NeedsConstant({var}, b.where, READ) from None
    last = items[-1]
    are_alike = all((one.shape, one.dtype, one.weak) == (last.shape, last.dtype, last.weak) for one in items)
    is_known = last.dtype.kind in "fc" and all(extent.is_const for extent in last.shape)
    if not (are_alike and is_known) or any(_may_be_updated(b, one) for one in items):
        raise NeedsConstant({var}, b.where, READ)
    array = b.new_view("", (trips + len(items), *last.shape), last.dtype, last.weak)
    for number, item in enumerate(items):
        put_row(b, array, Lin(number), item)
    return array


def _may_be_updated(b: Builder, value: Tensor) -> bool:
    """Whether a row may not stand for an array: other names have it, and the program updates such arrays."""
    return value.is_shared and b.rolling is Rolling.VALUES


def put(b: Builder, filling: Filling, value: Any) -> Any:
    """Append a trip's item to the array of a list; what gives the item of each trip.

    Raises:
        NeedsConstant: it is not like the others.
    """
    array, first = filling.array, len(filling.values)
    assert array is not None
    try:
        item = as_tensor(value)
    except NotNumeric:
        item = None
    is_alike = item is not None and (item.shape, item.dtype, item.weak) == (array.shape[1:], array.dtype, array.weak)
    if item is None or not is_alike or _may_be_updated(b, item):
        raise NeedsConstant({filling.var}, b.where, READ)
    put_row(b, array, Lin.symbol(filling.var) + first, item)
    return lambda trip: row_of(array, trip + first)


def expect(b: Builder, node: Any, values: Any) -> None:
    """Note that a loop reads a list that it fills."""
    b.to_read[id(node), id(values)] = values
    b.has_rolled = True


def require_one_each(b: Builder, filling: Filling, trips: int) -> None:
    """Require that each trip has appended one item to a list that is read.

    Raises:
        Fills: none has, as the loop does not append to it.
        NeedsConstant: not so.
    """
    key = id(filling.node), id(filling.values)
    if key in b.to_read and not filling.rows and filling.storing is None:
        b.only_read[key] = b.to_read.pop(key)
        raise Fills(filling.node, None)
    is_one_each = len(filling.rows) == 1 and filling.rows[0].points.is_every_trip(filling.var, trips)
    is_one_each = is_one_each and not filling.rows[0].is_front
    if key in b.to_read and not is_one_each:
        raise NeedsConstant({filling.var}, b.where, READ)
