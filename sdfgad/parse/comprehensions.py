"""List, dict and generator comprehensions.

Items are parsed one by one, over iterables that are known; items that are alike, and have many statements, are the
rows of an array that a loop of the program fills (see `rows`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import InvalidIndex, Rebound, ShapeMismatch, UnboundVariable, UnsupportedProgram
from sdfgad.ir.expr import Lin, reads
from sdfgad.ir.program import Loop, Statement, walk, written
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import comprehension_loops, conditions, containers, filtered_objects, masked_lists
from sdfgad.parse.binding import bind
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Rolling
from sdfgad.parse.dict_keys import keys_at
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.frame import Frame
from sdfgad.parse.internal_iteration import collected
from sdfgad.parse.item_tables import is_worth_a_loop
from sdfgad.parse.iterables import iterable_of
from sdfgad.parse.iteration_domains import Points
from sdfgad.parse.iterators import as_sequence
from sdfgad.parse.object_columns import Again, Member
from sdfgad.parse.ranges import Items, gone_over, items_of
from sdfgad.parse.rows import MANY_STATEMENTS, is_of_data, row_of
from sdfgad.parse.tree_nodes import parts_of, with_parts
from sdfgad.parse.values import Iteration, NotNumeric, Record, Tensor

# Of fewer items that a generator gives, a loop would be tried in vain too often.
MANY_CONSUMED = 16
Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp
Rolled = ast.ListComp | ast.GeneratorExp | ast.DictComp


def items(frame: Frame, node: Comprehension) -> Any:
    """The items, or the pairs of keys and values, in order; or what follows a list whose length is data."""
    if (numbered := filtered_objects.enumerated(frame, node.generators[0].iter)) is not None:
        with filtered_objects.named(frame, numbered):
            return items(frame, filtered_objects.numbered_over_all(node))
    value = iterable_of(frame, node.generators[0].iter)
    if masked_lists.is_filtered(value):
        with filtered_objects.named(frame, value):
            return items(frame, filtered_objects.over_all(node))
    rows = _rows(frame, node, value)
    if rows is None:
        return list(_one_by_one(frame, node, gone_over(frame.b, value)))
    frame.b.logs.require_same_length(value)
    return rows


def generator(frame: Frame, node: ast.GeneratorExp) -> Iteration:
    """The items, each computed lazily; only the first iterable is evaluated at once, as in Python."""
    if (numbered := filtered_objects.enumerated(frame, node.generators[0].iter)) is not None:
        with filtered_objects.named(frame, numbered):
            return generator(frame, filtered_objects.numbered_over_all(node))
    first, blocks = frame.eval(node.generators[0].iter), tuple(frame.b.blocks)
    if masked_lists.is_filtered(first):
        with filtered_objects.named(frame, first):
            return generator(frame, filtered_objects.over_all(node))
    one_by_one, at_once = partial(_one_by_one, frame, node, first), partial(_rows, frame, node, first)
    return Iteration((first,), one_by_one, blocks, is_generator=True, at_once=at_once)


def _one_by_one(frame: Frame, node: Comprehension, iterable: Any) -> Iterator[Any]:
    return _items(inner_of(frame), node, node.generators, as_sequence(frame, node.generators[0].iter, iterable))


def inner_of(frame: Frame) -> Frame:
    """A frame for the targets, which are local names of a comprehension."""
    inner = frame.inner(frame.source, {}, frame.depth, frame.is_definition)
    inner.lexical, inner.scope = frame, frame.scope
    return inner


class ConditionOnData(UnsupportedProgram):
    """Raised where data decides how many items a comprehension has."""

    comprehension: Any = None

    def is_of(self, node: ast.AST) -> bool:
        """Whether it is that of a comprehension, or of what is parsed in its place (`filtered_objects`)."""
        return node in (self.comprehension, getattr(self.comprehension, "origin", None))

    @contextmanager
    def again(self, frame: Frame, node: Any) -> Iterator[Any]:
        """What is parsed in the place of a comprehension; within it, there are the names that it needs."""
        if self.comprehension is node:
            yield node
            return
        values = node.generators[0].iter
        numbered = filtered_objects.enumerated(frame, values)
        with filtered_objects.named(frame, frame.eval(values) if numbered is None else numbered):
            yield self.comprehension


def _holds(frame: Frame, node: Comprehension, test: ast.expr) -> bool:
    """Whether a condition of a comprehension holds, which decides how many items there are.

    Raises:
        NeedsConstant: integers that may become constants decide that.
        UnsupportedProgram: data does.
    """
    holds = conditions.test(frame, test)
    if isinstance(holds, bool):
        return holds
    symbols = frame.b.deciders(holds.at())
    what, todo = containers.FILTERED
    if symbols:
        raise NeedsConstant(symbols, frame.where(node), what, todo)
    frame.b.lacks_constant = True
    error = ConditionOnData(what, frame.where(node), todo)
    error.comprehension = node
    raise error


def _items(frame: Frame, node: Comprehension, generators: list[ast.comprehension], values: Any) -> Iterator[Any]:
    for value in values:
        bind(frame, generators[0].target, value)
        if not all(_holds(frame, node, test) for test in generators[0].ifs):
            continue
        if len(generators) == 1:
            yield _item(frame, node)
            continue
        inner = generators[1].iter
        yield from _items(frame, node, generators[1:], as_sequence(frame, inner, frame.eval(inner)))


def _item(frame: Frame, node: Comprehension) -> Any:
    if isinstance(node, ast.DictComp):
        return containers.key_of(frame.b, frame.eval(node.key)), frame.b.settle(frame.eval(node.value))
    return frame.b.settle(frame.eval(node.elt))


# --- alike items


class _Differ(Exception):
    """Raised where items cannot be the rows of an array, or need not be."""


# What is raised where items are not alike.
UNLIKE = (
    _Differ,
    Again,
    InvalidIndex,
    NeedsConstant,
    NotNumeric,
    Rebound,
    ShapeMismatch,
    UnboundVariable,
    UnsupportedProgram,
)


def _rows(frame: Frame, node: Comprehension, value: Any) -> Any:
    """The items, or those with their keys, as rows of an array that a loop fills, or what follows a list whose length
    is data; None for those to be parsed one by one."""
    b = frame.b
    binds = any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))
    if b.rolling is Rolling.NONE or not isinstance(node, Rolled) or binds:
        # What an item binds, later ones read.
        return None
    state = b.snapshot()
    for attempt in (_by_inversion, _rows_of, _by_a_loop):
        try:
            rows = attempt(frame, node, value, state)
        except UNLIKE:
            rows = None
        if rows is not None:
            b.has_rolled = True
            return rows
        b.restore(state)
    return None


def _by_inversion(frame: Frame, node: Rolled, value: Any, _: Any) -> Any:
    return None if isinstance(node, ast.DictComp) else collected(frame, node, value)


def _by_a_loop(frame: Frame, node: Rolled, value: Any, _: Any) -> list[Any] | None:
    b = frame.b
    if isinstance(node, ast.DictComp) or id(node) in b.written_out:
        return None
    before = len(b.blocks[-1])
    if not b.loops:
        b.written_out.add(id(node))
    found = comprehension_loops.filled(inner_of(frame), node, value)
    # In a loop, its counter may be the reason for which this one is none.
    if found is not None and any(isinstance(one, Loop) for one in b.blocks[-1][before:]):
        b.written_out.discard(id(node))
    return found


def _rows_of(frame: Frame, node: Rolled, value: Any, state: Any) -> list[Any] | None:
    b, is_table = frame.b, False
    if len(node.generators) > 1 or node.generators[0].ifs:
        return None
    alike = items_of(b, gone_over(b, value))
    if alike is None:
        b.restore(state)
        is_table = True
        with b.rolling_tables():
            alike = items_of(b, gone_over(b, value))
    if alike is None or (isinstance(node, ast.GeneratorExp) and alike.length.const < MANY_CONSUMED):
        return None
    rows = _filled(frame, node, alike)
    return rows if not is_table or is_worth_a_loop(b, b.blocks[-1][-1]) else None


def _filled(frame: Frame, node: Rolled, alike: Items) -> list[Any]:
    b, before, here = frame.b, frozenset(frame.b.buffers), frame.b.where
    if not alike.length.is_const:
        raise _Differ
    number, var = alike.length.const, b.fresh("k")
    trip = Lin.symbol(var)
    guards = (trip, alike.length - 1 - trip)
    with b.block(*guards) as body:
        b.loops.append((len(b.blocks), var, alike.length))
        inner = inner_of(frame)
        bind(inner, node.generators[0].target, alike.at(trip))
        keys = _keys(inner, node.key, var, number) if isinstance(node, ast.DictComp) else None
        value = inner.eval(node.value if isinstance(node, ast.DictComp) else node.elt)
        item = _row_of(_Trip(frame, trip, before, set()), value)
        b.loops.pop()
    # The checks of all items are one maximum.
    changed = before.intersection(written(tuple(body))) - {STATUS}
    if number * _size(body) < MANY_STATEMENTS or changed:
        raise _Differ
    b.where = here
    b.loop(var, alike.length, guards, body)
    rows = [item(Lin(k)) for k in range(number)]
    return rows if keys is None else list(zip(keys, rows, strict=True))


def _keys(frame: Frame, node: ast.expr, var: str, number: int) -> list[Any]:
    """The keys of a dict, which must be known at all trips."""
    keys = keys_at(frame.b, frame.eval(node), Points((var,), np.arange(number).reshape(-1, 1)))
    if keys is None:
        raise _Differ
    return keys


@dataclass(frozen=True)
class _Trip:
    """A trip of a loop that fills arrays with the items of a comprehension.

    Attributes:
        number: the counter.
        before: the buffers from before the loop.
        moved: those of arrays that are rows now.
    """

    frame: Frame
    number: Lin
    before: frozenset[str]
    moved: set[str]


def _row_of(trip: _Trip, value: Any) -> Callable[[Lin], Any]:
    """Store what a trip has computed as the row of an array, each part of a new list, dict or object in one of its own.

    Returns what gives the item of a trip.
    """
    b = trip.frame.b
    (var,) = trip.number.symbols
    if isinstance(value, (int, Lin)) and Lin.of(value).is_affine and not isinstance(value, bool):
        return lambda number: Lin.of(value).substitute({var: number}).plain
    if isinstance(value, (str, float, bool)) or value is None or _is_older(b, value):
        return lambda number: value
    if isinstance(value, Record) and (member := b.objects.member(value)) is not None:
        return _member_of(member, var)
    if isinstance(value, (tuple, list, Record)) or type(value) is dict:
        is_new = isinstance(value, (tuple, Record)) or _is_made_here(b, value)
        parts = [_row_of(trip, part) for part in parts_of(value)] if is_new else []
        if not parts:
            raise _Differ
        return lambda number: containers.tracked(b, with_parts(value, [part(number) for part in parts]))
    if _is_view_from_before(trip, value):
        return lambda number: value.substituted({var: number})
    row = _new_row(trip, value)
    array = replace(b.new_view("", (b.loops[-1][2], *row.shape), row.dtype, row.weak), types=row.types)
    b.assign(array.reindexed(row.shape, lambda p: (trip.number, *p)), row)
    return lambda number: row_of(array, number)


def _member_of(member: Member, var: str) -> Callable[[Lin], Any]:
    """The objects of a list that the trips choose by their counter."""
    place = member.place
    if not place.is_affine or not place.symbols <= {var}:
        raise _Differ
    return lambda number: member.objects[place.substitute({var: number}).const]


def _is_older(b: Builder, value: Any) -> bool:
    """Whether a value is one object for all items: of before the loop."""
    if not isinstance(value, Record) or b.objects.member(value) is not None:
        return False
    contents, fields = b.contents, value.fields
    return contents.has(fields) and contents.depth(fields) < len(b.blocks) and not contents.is_copy(fields)


def _is_made_here(b: Builder, value: Any) -> bool:
    """Whether each trip makes a list or dict, which is not one of several others."""
    contents = b.contents
    return contents.has(value) and contents.depth(value) == len(b.blocks) and not contents.is_copy(value)


def _is_view_from_before(trip: _Trip, value: Any) -> bool:
    """Whether a value is a part of an array from before the loop, and the same part of it after the loop."""
    is_view = isinstance(value, Tensor) and value.ndim and value.place is not None and value.buffer in trip.before
    if not is_view or not all(extent.is_const for extent in value.shape):
        return False
    element = value.element(tuple(Lin.symbol(f"r{axis}_") for axis in range(value.ndim)))
    return {read.buffer for read in reads(element)} <= trip.before


def _new_row(trip: _Trip, value: Any) -> Tensor:
    """An item that is new, of constant shape, of numbers that need not be known, and no item by another name, too."""
    is_alike = isinstance(value, Tensor) and all(extent.is_const for extent in value.shape)
    is_new = is_alike and value.copy is None and value.buffer not in trip.before | trip.moved
    if not is_new or not (value.ndim or value.dtype.kind in "fc" or is_of_data(trip.frame.b, value.at())):
        raise _Differ
    trip.moved.update({str(value.buffer)} if value.place is not None else ())
    found: Tensor = value
    return found


def _size(body: list[Statement]) -> int:
    return sum(1 for _ in walk(tuple(body)))
