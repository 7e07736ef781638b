"""Loops over lists of numbers, and of tuples of numbers, such as the edges of a graph: tables of constants.

The loop stays one, its items are elements of captured arrays, and the program has as many statements for a thousand
items as for one. What needs an item as a constant (a shape, a shift, an axis) fails, and the loop is unrolled instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, IntLike, Lin
from sdfgad.ir.program import Branch, Compute, Loop, Statement, reads_of, walk
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.values import Iteration, Tensor, scalar, view_of

# A number's type; or, of a tuple, those of its parts, and whether it is a list.
_Kind = type | tuple[bool, tuple[Any, ...]] | None
# Python's integers are longer than those of compiled code, in which products of these must not overflow.
LARGEST = 2**31
# Statements of at most so many elements are rolled; fewer of them run faster one by one, and compile as fast.
SMALL = 8
MANY_SMALL = 64
# Trips in which whole arrays are computed are written out up to so many, as their statements share loops then, unless
# there are so many small statements beside them.
FEW_WHOLE = 64
MOST_SMALL = 256


def is_of_numbers(value: Any, few: int) -> bool:
    """Whether a loop goes over at least `few` numbers or alike tuples of them, numbered, or beside others."""
    if isinstance(value, Iteration):
        return not value.is_generator and any(is_of_numbers(one, few) for one in value.sources)
    return isinstance(value, (list, tuple)) and len(value) >= few and _is_alike(value)


def _is_alike(values: Sequence[Any]) -> bool:
    kinds = {_kind(value) for value in values}
    return len(kinds) == 1 and None not in kinds


def _kind(value: Any) -> _Kind:
    if type(value) in (list, tuple):
        parts = tuple(map(_kind, value))
        return None if not parts or None in parts else (type(value) is list, parts)
    is_number = type(value) is float or (type(value) is int and abs(value) < LARGEST)
    return type(value) if is_number else None


def table_of(b: Builder, values: Any, few: int) -> Callable[[IntLike], Any] | None:
    """What gives the item of a trip; None for a list of others, or of fewer than `few`."""
    if isinstance(values, Iteration) or not is_of_numbers(values, few):
        return None
    column = _column(b, list(values))
    return lambda trip: column(Lin.of(trip))


def looked_up(b: Builder, values: Any, place: Lin) -> Any:
    """The item of such a list at a place that is known only at run time."""
    b.has_rolled = True
    return _column(b, list(values))(place)


def _column(b: Builder, values: list[Any]) -> Callable[[Lin], Any]:
    if isinstance(values[0], (list, tuple)):
        make = type(values[0])
        columns = [_column(b, list(column)) for column in zip(*values, strict=True)]
        return lambda trip: make(column(trip) for column in columns)
    numbers = np.array(values)
    if numbers.dtype == INT:
        return integers(b, numbers)
    table = _table(b, numbers)

    def item(place: Lin) -> Tensor:
        b.table_symbols |= place.symbols
        return scalar(table.at(place), weak=True)

    return item


def integers(b: Builder, numbers: np.ndarray[Any, Any]) -> Callable[[Lin], Lin]:
    """What gives the integer at a place of an array that is known, and its bounds to the builder."""
    table, low, high = _table(b, numbers), int(numbers.min()), int(numbers.max())

    def element(place: Lin) -> Lin:
        b.table_symbols |= place.symbols
        found = Lin.symbol(table.at(place))
        b.learn(found - low, Lin(high) - found)
        return found

    return element


def known_tables(b: Builder) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of such numbers, by buffer."""
    tables = {id(array) for array in b.tables.values()}
    return {name: array for name, array in b.captured.items() if id(array) in tables}


def _table(b: Builder, numbers: np.ndarray[Any, Any]) -> Tensor:
    """A captured array of these numbers, the same one for each loop over them."""
    key = numbers.dtype.str, numbers.tobytes()
    known = b.tables.get(key)
    for name, array in b.captured.items():
        if array is known:
            return view_of(b.buffers[name]).as_value(settled=True)
    table = b.constant_array(numbers)
    b.tables[key] = list(b.captured.values())[-1]
    return table


def is_worth_a_loop(loop: Statement) -> bool:
    """Whether a loop says shorter what many small statements would, or very many; a few on whole arrays are merged."""
    if not isinstance(loop, Loop) or not loop.trips.is_const:
        return False
    body = list(walk(loop.body))
    if _carries_integers(body):
        return False
    small, trips = sum(map(_is_small, body)), loop.trips.const
    is_rolled = trips > FEW_WHOLE or small == len(body) or trips * small >= MOST_SMALL
    return trips * len(body) >= MANY_SMALL and is_rolled


def _carries_integers(body: Sequence[Statement]) -> bool:
    """Whether trips hand on integers, which in Python may get longer than 64 bits."""
    computed = [one for one in body if isinstance(one, Compute) and one.value.dtype.kind == "i"]
    later = {one.target.buffer for one in computed} - {STATUS}
    for one in computed:
        if not later.isdisjoint(read.buffer for read in reads_of(one)):
            return True
        later.discard(one.target.buffer)
    return False


def _is_small(statement: Statement) -> bool:
    if isinstance(statement, Compute):
        extents = [extent.const if extent.is_const else SMALL + 1 for _, extent in statement.params]
        return math.prod(extents) <= SMALL
    return isinstance(statement, (Loop, Branch))
