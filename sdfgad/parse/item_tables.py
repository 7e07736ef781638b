"""Loops over lists of numbers, of alike arrays, and of tuples, lists and dicts of these: tables.

The loop stays one, and the program has as many statements for a thousand items as for one: known numbers, such as the
edges of a graph, are elements of captured arrays, and others are rows (`item_arrays`). What needs an item as a constant
(a shape, a shift, an axis), or changes one, fails, and the loop is unrolled instead.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Const, Expr, Int, IntLike, Lin, Read
from sdfgad.ir.program import Branch, Compute, Loop, Statement, blocks_of, reads_of, walk
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import attributes, truth_values
from sdfgad.parse.builder import MOST_OF_SHORT, Builder
from sdfgad.parse.dtypes import has_singles
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.item_arrays import column
from sdfgad.parse.known_tables import integers, table
from sdfgad.parse.texts import KeyText
from sdfgad.parse.tree_nodes import parts_of, rebuilt_tuple, with_parts
from sdfgad.parse.trees import leaves
from sdfgad.parse.values import DICT_VIEWS, Iteration, Record, Tensor, as_tensor, astype, scalar

# A number's type; an array's shape and dtype; a text; or, of a container, its type and keys, and those of its parts.
_Kind = type | tuple[Any, ...] | None
# From a place that may be known only at run time to the item there.
Column = Callable[[Lin], Any]
DOUBLE = np.dtype(np.float64)
# What gives the keys of a dict, and its items.
KEYS, ITEMS = (dict, DICT_VIEWS[0]), DICT_VIEWS[2]
# What all items of a list must have in common.
LABELS = str, bool, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc
# Python's integers are longer than those of compiled code, in which products of these must not overflow.
LARGEST = 2**31
# Statements of at most so many elements are rolled; fewer of them run faster one by one, and compile as fast.
SMALL = 8
MANY_SMALL = 64
# Trips in which whole arrays are computed are written out up to so many, as their statements share loops then, unless
# there are so many small statements beside them.
FEW_WHOLE = 64
MOST_SMALL = 256
# A nest of short loops counts as one loop where it has so many trips together.
MANY_IN_A_NEST = 64


def is_tabular(value: Any, few: int) -> bool:
    """Whether a loop goes over at least `few` alike items, numbered, or beside others."""
    if isinstance(value, Iteration):
        return not value.is_generator and any(is_tabular(one, few) for one in value.sources)
    if not isinstance(value, (list, tuple, dict)) and not isinstance(value, DICT_VIEWS):
        return False
    return len(value) >= few and _is_alike(listed(value))


class _Label(str):
    """A text that is a key of a dict, beside others."""


def listed(value: Any) -> Sequence[Any]:
    """The items of a list, dict or view of one."""
    if isinstance(value, KEYS):
        return list(map(_labelled, value))
    if isinstance(value, ITEMS):
        return [(_labelled(key), item) for key, item in value]
    return value if isinstance(value, (list, tuple)) else list(value)


def _labelled(key: Any) -> Any:
    if isinstance(key, tuple):
        return rebuilt_tuple(key, list(map(_labelled, key)))
    return _Label(key) if type(key) is str and key else key


def _is_alike(values: Sequence[Any]) -> bool:
    kind = kind_of(values[0])
    return kind is not None and all(kind_of(value) == kind for value in values)


def kind_of(value: Any) -> _Kind:
    """The structure of an item, with the type of each number and array in it; None where none of these loops has it."""
    if isinstance(value, (tuple, list)) or type(value) is dict:
        parts = tuple(map(kind_of, parts_of(value)))
        keys = tuple(value) if isinstance(value, dict) else ()
        return None if not parts or None in parts else (type(value), keys, parts)
    if isinstance(value, Tensor):
        return _kind_of_array(value)
    if isinstance(value, Record):
        return Record, value.cls, tuple(value.fields)
    if isinstance(value, _Label):
        return _Label
    if _is_label(value):
        return "label", value
    is_number = type(value) is float or (type(value) is int and abs(value) < LARGEST)
    return type(value) if is_number else None


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, LABELS)


def _kind_of_array(value: Tensor) -> _Kind:
    if value.weak and not value.ndim and value.dtype == DOUBLE:
        return float
    is_known = value.dtype.kind in "fc" and all(extent.is_const for extent in value.shape)
    return (value.shape, value.dtype, value.weak) if is_known else None


def table_of(b: Builder, values: Any, few: int, is_known: bool = False) -> Callable[[IntLike], Any] | None:
    """What gives the item of a trip; None for a list of others, or of fewer than `few`.

    Args:
        is_known: whether all parts must be numbers that are known while parsing.
    """
    if isinstance(values, Iteration) or not is_tabular(values, few):
        return None
    if is_known and has_arrays(values):
        return None
    found = _column(b, list(listed(values)))
    return None if found is None else lambda trip: found(Lin.of(trip))


def has_arrays(values: Any) -> bool:
    """Whether such items, or parts of them, are arrays, or numbers that are known only at run time."""
    sources = values.sources if isinstance(values, Iteration) else (values,)
    return any(isinstance(leaf, Tensor) for source in sources for leaf in leaves(source))


def looked_up(b: Builder, values: Any, place: Lin) -> Any:
    """The item of such a list at a place that is known only at run time; None where there may be no array of them."""
    column = _column(b, list(values))
    b.has_rolled = True
    return None if column is None else column(place)


def _column(b: Builder, values: list[Any]) -> Column | None:
    first = values[0]
    if isinstance(first, Record):
        return attributes.member_at(b, values, partial(column_of_alike, b))
    if isinstance(first, (list, tuple, dict)):
        columns = [_column(b, list(column)) for column in zip(*map(parts_of, values), strict=True)]
        known = [column for column in columns if column is not None]
        is_whole = len(known) == len(columns)
        return (lambda place: with_parts(first, [column(place) for column in known])) if is_whole else None
    if isinstance(first, _Label):
        texts = list(map(str, values))
        return _noting(b, lambda place: _text_at(texts, place))
    if _is_label(first):
        return lambda place: first
    if any(isinstance(value, Tensor) for value in values):
        found = column(b, list(map(as_tensor, values)), partial(integers, b))
        return found and _noting(b, found)
    numbers = np.array(values)
    return integers(b, numbers) if numbers.dtype == INT else _noting(b, _element_of(table(b, numbers)))


def column_of_alike(b: Builder, values: list[Any]) -> Column | None:
    """What gives the value at a place of several; None where they are not alike, or there may be no array of them."""
    return _column(b, values) if _is_alike(values) else _column_of_doubles(b, values)


def _column_of_doubles(b: Builder, values: list[Any]) -> Column | None:
    """The same of numbers, some of which are Python's (`0.0` beside `x[0]`), where no array is of less than doubles."""
    kinds = set(map(kind_of, values))
    if not kinds <= {int, float, ((), DOUBLE, False)} or has_singles(b.buffers.values()):
        return None
    numbers = list(map(as_tensor, values))
    types = truth_values.joined(numbers)
    found = column(b, [replace(astype(one, DOUBLE), weak=False) for one in numbers], partial(integers, b))
    return found and _noting(b, lambda place: replace(found(place), types=types))


def _text_at(texts: list[str], place: Lin) -> str:
    if place.is_const:
        return texts[place.const]
    return KeyText.of("a key of a dict", (place,), texts.__getitem__)


def _element_of(numbers: Tensor) -> Column:
    return lambda place: scalar(numbers.at(place), weak=True)


def _noting(b: Builder, column: Column) -> Column:
    """A column that notes which counters its places have."""

    def item(place: Lin) -> Any:
        b.table_symbols |= place.symbols
        return column(place)

    return item


def is_worth_a_loop(b: Builder, loop: Statement) -> bool:
    """Whether a loop says shorter what many small statements would, or very many; a few on whole arrays are merged."""
    if not isinstance(loop, Loop):
        return False
    body = list(walk(loop.body))
    if _carries_integers(body):
        return False
    small, trips = sum(map(_is_small, body)), _most_trips(b, loop.trips)
    is_rolled = trips > FEW_WHOLE or small == len(body) or trips * small >= MOST_SMALL
    return trips_of_nest(b, trips * _written_out(loop.body)) >= MANY_SMALL and is_rolled


def _written_out(block: Sequence[Statement]) -> int:
    """How many statements a block is with the short loops in it written out."""
    trips = [_if_short(one.trips) if isinstance(one, Loop) else 1 for one in block]
    return sum(1 + count * sum(map(_written_out, blocks_of(one))) for count, one in zip(trips, block, strict=True))


def _if_short(trips: Lin) -> int:
    """The trips of a short loop; 1 for others."""
    return trips.const if trips.is_const and 0 < trips.const <= MOST_OF_SHORT else 1


def trips_of_nest(b: Builder, trips: int = 1) -> int:
    """How many trips the short loops around have together, times `trips`, where that is many; else `trips`."""
    product = trips_together(b) * trips
    return product if product >= MANY_IN_A_NEST else trips


def trips_together(b: Builder) -> int:
    """How many trips the short loops around have together, also those that are unrolled."""
    return b.copies * math.prod(_if_short(count) for _, _, count in b.loops)


def _most_trips(b: Builder, trips: Lin) -> int:
    """How many trips a loop has, or an upper bound; MOST_SMALL if there is none."""
    if trips.is_const:
        return trips.const
    try:
        return b.largest(trips)
    except NeedsConstant:
        return MOST_SMALL


def _carries_integers(body: Sequence[Statement]) -> bool:
    """Whether trips hand on integers that they compute with, which in Python may get longer than 64 bits."""
    computed = [one for one in body if isinstance(one, Compute) and one.value.dtype.kind == "i"]
    later = _computed_with(computed) - {STATUS}
    for one in computed:
        if not later.isdisjoint(read.buffer for read in reads_of(one)):
            return True
        later.discard(one.target.buffer)
    return False


def _computed_with(statements: Sequence[Compute]) -> set[str]:
    """The buffers of numbers that are computed of others, and of copies of these."""
    found, before = {one.target.buffer for one in statements if one.accumulate or not _is_plain(one.value)}, -1
    while len(found) > before:
        before = len(found)
        found |= {one.target.buffer for one in statements if any(read.buffer in found for read in reads_of(one))}
    return found


def _is_plain(value: Expr) -> bool:
    """Whether an integer is a constant, a counter, or what another one is."""
    if isinstance(value, Int) and len(value.value.terms) == 1 and not value.value.const:
        ((atom, factor),) = value.value.terms
        return factor == 1 and isinstance(atom, (str, Read))
    return isinstance(value, (Const, Read)) or (isinstance(value, Int) and value.value.is_affine)


def _is_small(statement: Statement) -> bool:
    if isinstance(statement, Compute):
        extents = [extent.const if extent.is_const else SMALL + 1 for _, extent in statement.params]
        return math.prod(extents) <= SMALL
    return isinstance(statement, (Loop, Branch))
