"""Heads of loops: what a ``for`` goes over, or the counter of a ``while``, and when a trip runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sdfgad.ir.expr import BOOL, Int, Lin, Op
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import conditions
from sdfgad.parse.binding import bind
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.induction_variables import Counter
from sdfgad.parse.jumps import stops
from sdfgad.parse.loop_state import LoopNode
from sdfgad.parse.ranges import Range, items_of
from sdfgad.parse.values import Tensor

Item = Callable[[Any], Any]


@dataclass(frozen=True)
class Head:
    """A loop's header: a range and the function from its index to the target's value, or the counter of a ``while``.

    A ``while`` whose trips are not known before it has none of these.

    Attributes:
        must_stay_loop: whether the loop is a part of another one, which is not worth being one if it is unrolled.
    """

    node: LoopNode
    span: Range | None = None
    item: Item | None = None
    counter: Counter | None = None
    must_stay_loop: bool = False

    def trip(self, frame: Frame, trip: Lin) -> None:
        """Parse a trip: bind the loop's target, or set its counter, and parse the body."""
        if self.span is not None and isinstance(self.node, ast.For) and self.item is not None:
            bind(frame, self.node.target, self.item(self.span.index(trip)))
        if self.span is None or self.counter is None:
            frame.block(self.node.body)
        else:
            before = frame.env[self.counter.name]
            self.counter.enter(frame, self.span.index(trip))
            frame.block(self.node.body)
            self.counter.leave(frame, self.span.index(trip + 1), before)

    def guards(self, trip: Lin) -> tuple[Lin, ...]:
        return (trip,) if self.span is None else self.span.guards(trip)

    @property
    def base(self) -> str:
        target = getattr(self.node, "target", None)
        return target.id if isinstance(target, ast.Name) else "k"

    @property
    def is_counted(self) -> bool:
        """Whether the trip count is known before the first trip."""
        return self.span is not None and not stops(self.node)

    def trips_if_not_stopped(self, frame: Frame) -> Lin | None:
        """The trips unless a flag ends the loop, where none is set before it."""
        is_free = self.span is not None and all(frame.env.get(name) is False for name in stops(self.node))
        return self.span.trips if self.span is not None and is_free else None

    def rest(self) -> Head:
        """The loop without its first trip."""
        if self.span is None:
            return self
        return replace(self, span=Range(self.span.start + self.span.step, self.span.stop, self.span.step))

    def test(self, frame: Frame, trip: Lin) -> bool | Tensor:
        """The condition that a trip runs."""
        tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), ast.Name(n, ast.Load())) for n in stops(self.node)]
        if isinstance(self.node, ast.While) and self.span is None:
            tests.append(self.node.test)
        for test in tests:
            ast.fix_missing_locations(ast.copy_location(test, self.node))
        whole = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        goes_on = conditions.test(frame, whole) if tests else True
        if self.span is None:
            return goes_on
        is_left = conditions.decided(frame.b, Op("less", (Int(trip), Int(self.span.trips)), BOOL))
        result: bool | Tensor = conditions.logical(frame.b, "logical_and", goes_on, is_left)
        return result


def head_of(frame: Frame, node: ast.For, iterable: Any) -> Head | None:
    """The head of a ``for``; None for one over a sequence that is known while parsing."""
    if isinstance(iterable, range):
        iterable = Range.like(iterable)
    if isinstance(iterable, Range):
        return Head(node, iterable, lambda index: index)
    items = items_of(frame.b, iterable)
    return None if items is None else Head(node, Range(Lin(0), items.length, 1), items.at)


def identity(value: Any) -> Any:
    return value


def require_sign(b: Builder, head: Head) -> None:
    """Require trips >= 0, as it is a tape's length; calls with trips < 0 get another specialisation."""
    if head.span is None:
        return
    trips = head.span.trips
    symbols = {atom for atom, _ in trips.terms}
    if symbols and symbols <= set(b.integers) and not b.holds(trips):
        raise NeedsConstant(b.symbols_behind(trips.symbols), b.where)
