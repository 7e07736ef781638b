"""Induction variables: a ``while`` that counts, ``while k < n: ...; k += 1``, is a loop over a range.

Its number of trips is known before the first one, as that of a ``for``. That each trip adds the step to the counter and
leaves the bound as it is, its parse tells, whatever functions it calls.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sdfgad.ir.expr import Const, Int, Lin, Op, as_linear
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.jumps import stops
from sdfgad.parse.liveness import assigned_names
from sdfgad.parse.ranges import Range

# How far beyond the bound a counter ends, by its comparison with it and by whether it grows (1) or shrinks (-1).
BEYOND: dict[tuple[type[ast.cmpop], int], int] = {(ast.Lt, 1): 0, (ast.LtE, 1): 1, (ast.Gt, -1): 0, (ast.GtE, -1): -1}
MIRRORED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


class NotCounted(Exception):
    """Raised where a trip changes the counter otherwise than by its step, or the bound."""


@dataclass(frozen=True)
class Counter:
    """An induction variable.

    Attributes:
        bound: what the test compares it with; `limit`: its value.
        span: the values that it has at the start of the trips.
    """

    name: str
    bound: ast.expr
    limit: Lin
    span: Range

    @staticmethod
    def of(frame: Frame, node: ast.While) -> Counter | None:
        """That of a loop which is about to be parsed, if it has one."""
        pattern = None if stops(node) or node.orelse else _pattern(node)
        if pattern is None:
            return None
        name, bound, step, beyond = pattern
        start, limit = _integer(frame.env.get(name)), _integer(frame.eval(bound))
        if start is None or limit is None:
            return None
        return Counter(name, bound, limit, Range(start, limit + beyond, step))

    def enter(self, frame: Frame, value: Any) -> None:
        """Give it its value at the start of a trip."""
        frame.env[self.name] = value

    def leave(self, frame: Frame, value: Any, before: Any) -> None:
        """At the end of a trip it must have the value of the next one; other trips find it as it was before the loop.

        Raises:
            NotCounted: it has not, or the bound is another one.
        """
        if _integer(frame.env.get(self.name)) != Lin.of(value) or _integer(frame.eval(self.bound)) != self.limit:
            raise NotCounted
        frame.env[self.name] = before

    def last(self, b: Builder) -> Any:
        """Its value after the loop."""
        trips = self.span.trips
        if not b.holds(trips):
            trips = as_linear(Op("maximum", (Int(trips), Const(0, Int(trips).dtype)), Int(trips).dtype))
        return self.span.index(trips)


def _integer(value: Any) -> Lin | None:
    return Lin.of(value) if isinstance(value, (int, Lin)) and not isinstance(value, bool) else None


@lru_cache(maxsize=1024)
def _pattern(node: ast.While) -> tuple[str, ast.expr, int, int] | None:
    """A loop's counter, the expression of its bound, its step, and how far beyond the bound it may be when it ends."""
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    kind, (left, right) = type(test.ops[0]), (test.left, test.comparators[0])
    for counter, bound, order in ((left, right, kind), (right, left, MIRRORED.get(kind))):
        step = _step(node, counter.id) if isinstance(counter, ast.Name) else 0
        if isinstance(counter, ast.Name) and order is not None and (order, _sign(step)) in BEYOND:
            return counter.id, bound, step, BEYOND[order, _sign(step)]
    return None


def _sign(step: int) -> int:
    return (step > 0) - (step < 0)


def _step(node: ast.While, name: str) -> int:
    """What the only statement of a loop's body that assigns to a name adds to it; 0 if it is none that does so."""
    match [statement for statement in node.body if name in assigned_names(statement)]:
        case [ast.AugAssign(ast.Name(own), operation, ast.Constant(amount))]:
            pass
        case [ast.Assign([ast.Name()], ast.BinOp(ast.Name(own), operation, ast.Constant(amount)))]:
            pass
        case [ast.Assign([ast.Name()], ast.BinOp(ast.Constant(amount), ast.Add() as operation, ast.Name(own)))]:
            pass
        case _:
            return 0
    if own != name or not isinstance(amount, int) or not isinstance(operation, (ast.Add, ast.Sub)):
        return 0
    return amount if isinstance(operation, ast.Add) else -amount
