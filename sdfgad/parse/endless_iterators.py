"""Iterators without an end, such as ``itertools.count()``, in loops that a jump ends: so many items that none comes to
their end, each computed of its number."""

from __future__ import annotations

import ast
import builtins
import itertools
from functools import lru_cache
from typing import Any

from sdfgad.ir.expr import INT, Const, Int, Lin, Op, as_linear
from sdfgad.parse.builder import Builder
from sdfgad.parse.item_tables import table_of
from sdfgad.parse.jumps import stops
from sdfgad.parse.ranges import Items, combined, gone_over, items_of
from sdfgad.parse.values import Iteration, is_integer

MANY = 2**31
# These end only where all that they go over does.
HANDING_ON = (itertools.chain, itertools.pairwise, itertools.zip_longest, builtins.enumerate)
BY_NUMBER = "Look up what has a place in an array: for k in itertools.count(): v = values[k % n]."


def is_endless(value: Any) -> bool:
    """Whether an iterator has no end."""
    if not isinstance(value, Iteration):
        return False
    if value.function is builtins.zip:
        return bool(value.sources) and all(map(is_endless, value.sources))
    if value.function is builtins.enumerate:
        return is_endless(value.sources[0])
    is_repeated = value.function is itertools.repeat and len(value.sources) == 1
    return is_repeated or value.function in (itertools.count, itertools.cycle)


def may_not_end(value: Any) -> bool:
    """Whether an iterator has no end, or goes over one that has none behind other items, say."""
    if not isinstance(value, Iteration) or is_endless(value):
        return is_endless(value)
    return value.function in HANDING_ON and any(map(may_not_end, value.sources))


def items(b: Builder, value: Iteration) -> Items | None:
    """The items of an endless iterator; None where they are not computed of their numbers alone, or some are taken."""
    if not is_whole(b, value):
        return None
    b.exhausted[id(value)] = value, None
    if value.function is itertools.repeat:
        return Items(Lin(MANY), lambda _: value.sources[0])
    if value.function is itertools.count:
        return _counted(*bounds(value))
    if value.function is itertools.cycle:
        return _cycled(b, value.sources[0])
    parts = [items(b, one) if is_endless(one) else one for one in value.sources]
    return None if None in parts else combined(b, value.function, parts, {})


def is_whole(b: Builder, value: Iteration) -> bool:
    """Whether an iterator is made in this block, and none of its items is taken."""
    return id(value) not in b.exhausted and value.blocks == tuple(b.blocks)


def bounds(value: Iteration) -> tuple[Any, Any]:
    """The first number of a count, and the step."""
    start, step = value.sources + (0, 1)[len(value.sources) :]
    return start, step


def _counted(start: Any, step: Any) -> Items | None:
    if not is_integer(start) or type(step) is not int:
        return None
    return Items(Lin(MANY), lambda trip: (Lin.of(start) + Lin.of(trip).scaled(step)).plain)


def _cycled(b: Builder, values: Any) -> Items | None:
    values = gone_over(b, values)
    at = table_of(b, values, 1)
    once = items_of(b, values) if at is None else Items(Lin(len(values)), at)
    if once is None or not once.length.is_const or once.length.const <= 0:
        return None
    length = Const(once.length.const, INT)
    return Items(Lin(MANY), lambda trip: once.at(as_linear(Op("remainder", (Int(Lin.of(trip)), length), INT))))


@lru_cache(maxsize=1 << 10)
def counting(node: ast.For) -> tuple[ast.While, tuple[str, str]]:
    """A loop over a count of numbers that are data, or no integers: each is the one before and a step, as in Python.

    Returns:
        The loop, and the names of the next number and of the step.
    """
    count, step = (f"<{what} {node.lineno}, {node.col_offset}>" for what in ("count", "step"))
    bound = ast.Assign([node.target], ast.Name(count, ast.Load()))
    added = ast.BinOp(ast.Name(count, ast.Load()), ast.Add(), ast.Name(step, ast.Load()))
    body = [bound, ast.Assign([ast.Name(count, ast.Store())], added), *node.body]
    loop: Any = ast.While(ast.Constant(True), body, node.orelse)
    for one in (loop, *body[:2]):
        ast.fix_missing_locations(ast.copy_location(one, node))
    loop.stop = stops(node)
    return loop, (count, step)
