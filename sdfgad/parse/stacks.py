"""Stacks and queues: lists whose length is data from which loops remove items, in an array of a constant capacity.

``while stack: a, b = stack.pop(); ...; stack.append((a, m))`` is how trees and intervals are gone through. The items
are the rows of an array (of several for tuples) from a row `start` on, which a removal at the front moves. A call that
needs more rows stops, and is repeated with more (`sdfgad.ir.capacities`).
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

from sdfgad.errors import InvalidIndex, SdfgadError, UnsupportedProgram
from sdfgad.ir.capacities import Capacity, capacity_of
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Lin, Op, as_linear, conjunction
from sdfgad.ir.program import SLOTS
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Rolling
from sdfgad.parse.logs import Site
from sdfgad.parse.rows import ALIKE, copy_of_row, row_of, rows_of
from sdfgad.parse.tree_nodes import rebuilt_tuple
from sdfgad.parse.values import Record, Tensor, as_tensor, is_number, scalar

# By what a call that has needed more rows than there are has them multiplied.
GROWTH = 8


def room(b: Builder, site: Site, count: int) -> int:
    """The number of rows for a stack that begins with so many items.

    Raises:
        UnsupportedProgram: its items are objects or lists, which a program may change while they are in it.
    """
    kept = b.logs.known[site]
    if not _is_of_numbers(kept.like):
        what = "a list whose length is data, and from which a loop removes items, has lists or objects as items"
        raise UnsupportedProgram(what, kept.failure.where, "Append tuples of numbers and arrays: todo.append((a, b)).")
    key = _key(site)
    b.lookups.append((partial(capacity_of, key), capacity_of(key)))
    return max(capacity_of(key), count)


def forget(b: Builder, arrays: Any) -> None:
    """Integers in a stack are no constants, which conditions on them would use: loops replace them."""
    for array in trees.leaves(arrays):
        b.constants.forget(str(array.buffer))


def require_room(b: Builder, site: Site, arrays: Any, place: Tensor) -> None:
    """Require that there is a row for a new item."""
    needed = Op("multiply", (place.at(), Const(GROWTH * SLOTS, INT)), INT)
    check = Capacity(SdfgadError, "", b.where, "", _key(site))
    b.emit_check(check, _less(place.at(), Const(_rows(arrays), INT)), (), needed)


def within(arrays: Any, place: Expr) -> Lin:
    """A row that there is: what a check has refused is read and written in one."""
    return _between(place, _rows(arrays) - 1)


def item(b: Builder, site: Site, arrays: Any, place: Expr) -> Any:
    """A copy of the item in a row, which another may replace."""
    like = b.logs.known[site].like
    if not b.logs.known[site].is_stack:
        return b.settle(blank(b, like))
    row = within(arrays, place)
    return trees.rebuilt(like, [_copied(b, row_of(array, row), array.ndim > 1) for array in trees.leaves(arrays)])


def item_at(b: Builder, log: Record, place: Any) -> Any:
    """``stack[place]``, which is required to be there."""
    return item(b, log.fields["origin"], log.fields["items"], row_at(b, log, place))


def items(b: Builder, log: Record, number: int) -> Any:
    """Copies of all items, of which there are so many, as the rows of an array, or of several for tuples."""
    arrays = trees.leaves(log.fields["items"])
    start = _between(as_tensor(log.fields["start"]).at(), _rows(arrays) - number)
    return trees.rebuilt(
        log.fields["items"], [_copied(b, rows_of(array, start, number), array.ndim > 1) for array in arrays]
    )


def row_at(b: Builder, log: Record, place: Any) -> Expr:
    """The row of ``stack[place]``, which is required to be there."""
    length, start = (as_tensor(log.fields[name]).at() for name in ("length", "start"))
    given = as_tensor(place).at()
    position = Op("select", (_less(given, Const(0, INT)), _sum(length, given), given), INT)
    is_there = conjunction(_less(Const(-1, INT), position), _less(position, length))
    b.check(is_there, (), "list index out of range", InvalidIndex, "Python raises IndexError here, too.")
    return _sum(start, position)


def blank(b: Builder, like: Any) -> Any:
    """What stands for an item that there is not yet, and is never read."""
    if isinstance(like, tuple):
        return rebuilt_tuple(like, [blank(b, part) for part in like])
    if not isinstance(like, Tensor):
        return type(like)(0) if is_number(like) else None
    zero = scalar(Const(0, like.dtype), weak=like.weak)
    if not like.ndim:
        return zero
    array = b.new_view("", like.shape, like.dtype, like.weak)
    b.assign(array, zero)
    return array


def _is_of_numbers(like: Any) -> bool:
    if isinstance(like, tuple):
        return all(map(_is_of_numbers, like))
    return isinstance(like, (Tensor, Lin)) or is_number(like)


def _key(site: Site) -> Hashable:
    return site.file, site.line, site.column, site.field


def _rows(arrays: Any) -> int:
    return int(trees.leaves(arrays)[0].shape[0].const)


def _between(place: Expr, last: int) -> Lin:
    at_least = Op("maximum", (place, Const(0, INT)), INT)
    return as_linear(Op("minimum", (at_least, Const(last, INT)), INT))


def _copied(b: Builder, row: Tensor, of_arrays: bool) -> Tensor:
    if of_arrays and b.rolling is Rolling.VALUES:
        raise b.unsupported("an array that is in a list whose length is data is updated in place", ALIKE)
    return copy_of_row(b, row)


def _less(x: Expr, y: Expr) -> Expr:
    return Op("less", (x, y), BOOL)


def _sum(x: Expr, y: Expr) -> Expr:
    return Op("add", (x, y), INT)
