"""List, dict and generator comprehensions.

Items are parsed one by one, over iterables that are known; items that are alike, and have many statements, are the
rows of an array that a loop of the program fills (see `rows`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sdfgad.errors import InvalidIndex, Rebound, ShapeMismatch, UnboundVariable, UnsupportedProgram
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Statement, walk, written
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import conditions, containers
from sdfgad.parse.binding import bind
from sdfgad.parse.contents import Rolling
from sdfgad.parse.dict_keys import keys_at
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.frame import Frame
from sdfgad.parse.iterables import iterable_of
from sdfgad.parse.iteration_domains import Points
from sdfgad.parse.iterators import as_sequence
from sdfgad.parse.ranges import Items, gone_over, items_of
from sdfgad.parse.rows import MANY_STATEMENTS, row_of
from sdfgad.parse.tree_nodes import parts_of, with_parts
from sdfgad.parse.values import Iteration, NotNumeric, Tensor

Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp


def items(frame: Frame, node: Comprehension) -> list[Any]:
    """The items, or the pairs of keys and values, in order."""
    first = node.generators[0]
    iterable = gone_over(frame.b, iterable_of(frame, first.iter))
    if isinstance(node, (ast.ListComp, ast.DictComp)) and len(node.generators) == 1 and not first.ifs:
        alike = items_of(frame.b, iterable)
        rows = None if alike is None else _rows(frame, node, alike)
        if rows is not None:
            return rows
    return list(_one_by_one(frame, node, iterable))


def generator(frame: Frame, node: Comprehension) -> Iteration:
    """The items, each computed lazily; only the first iterable is evaluated at once, as in Python."""
    first = frame.eval(node.generators[0].iter)
    return Iteration((first,), lambda: _one_by_one(frame, node, first), tuple(frame.b.blocks), is_generator=True)


def _one_by_one(frame: Frame, node: Comprehension, iterable: Any) -> Iterator[Any]:
    return _items(_inner(frame), node, node.generators, as_sequence(frame, node.generators[0].iter, iterable))


def _inner(frame: Frame) -> Frame:
    """A frame for the targets, which are local names of a comprehension."""
    inner = frame.inner(frame.source, {}, frame.depth, frame.is_definition)
    inner.lexical, inner.scope = frame, frame.scope
    return inner


class ConditionOnData(UnsupportedProgram):
    """Raised where data decides how many items a comprehension has."""

    comprehension: Comprehension | None = None


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
    what = "a comprehension with a condition on data is not supported: its length is known only at run time"
    todo = "Use a mask instead: `np.sum(x[x > 0])` or `np.where(x > 0, x, 0.0)`."
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
UNLIKE = _Differ, InvalidIndex, NeedsConstant, NotNumeric, Rebound, ShapeMismatch, UnboundVariable, UnsupportedProgram


def _rows(frame: Frame, node: ast.ListComp | ast.DictComp, alike: Items) -> list[Any] | None:
    """The items, or those with their keys, as rows of an array that a loop fills; None for those to be parsed one by
    one."""
    b = frame.b
    if b.rolling is Rolling.NONE or any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
        # What an item binds, later ones read.
        return None
    state = b.snapshot()
    try:
        rows = _filled(frame, node, alike)
        b.has_rolled = True
        return rows
    except UNLIKE:
        b.restore(state)
        return None


def _filled(frame: Frame, node: ast.ListComp | ast.DictComp, alike: Items) -> list[Any]:
    b, before, here = frame.b, frozenset(frame.b.buffers), frame.b.where
    if not alike.length.is_const:
        raise _Differ
    number, var = alike.length.const, b.fresh("k")
    trip = Lin.symbol(var)
    guards = (trip, alike.length - 1 - trip)
    with b.block(*guards) as body:
        b.loops.append((len(b.blocks), var, alike.length))
        inner = _inner(frame)
        bind(inner, node.generators[0].target, alike.at(trip))
        keys = _keys(inner, node.key, var, number) if isinstance(node, ast.DictComp) else None
        item = _row_of(frame, inner.eval(node.elt if isinstance(node, ast.ListComp) else node.value), trip, before)
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


def _row_of(frame: Frame, value: Any, trip: Lin, before: frozenset[str]) -> Callable[[Lin], Any]:
    """Store what a trip has computed as the row of an array, each part of a new list or dict in one of its own.

    Returns what gives the item of a trip.
    """
    b = frame.b
    if isinstance(value, (int, Lin)) and Lin.of(value).is_affine and not isinstance(value, bool):
        (var,) = trip.symbols
        return lambda number: Lin.of(value).substitute({var: number}).plain
    if isinstance(value, (str, float)) or value is None:
        return lambda number: value
    if isinstance(value, (tuple, list)) or type(value) is dict:
        is_new = isinstance(value, tuple) or (b.contents.has(value) and b.contents.depth(value) == len(b.blocks))
        parts = [_row_of(frame, part, trip, before) for part in parts_of(value)] if is_new else []
        if not parts:
            raise _Differ
        return lambda number: containers.tracked(b, with_parts(value, [part(number) for part in parts]))
    row = _row_value(value, before)
    array = b.new_view("", (b.loops[-1][2], *row.shape), row.dtype, row.weak)
    b.assign(array.reindexed(row.shape, lambda p: (trip, *p)), row)
    return lambda number: row_of(array, number)


def _row_value(value: Any, before: frozenset[str]) -> Tensor:
    """An item that is new, of constant shape, and of numbers that are no indices."""
    is_alike = isinstance(value, Tensor) and all(extent.is_const for extent in value.shape)
    is_new = is_alike and value.copy is None and value.buffer not in before
    if not is_new or not (value.ndim or value.dtype.kind in "fc"):
        raise _Differ
    found: Tensor = value
    return found


def _size(body: list[Statement]) -> int:
    return sum(1 for _ in walk(tuple(body)))
