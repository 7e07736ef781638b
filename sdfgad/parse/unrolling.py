"""Loop unrolling: trips one by one, where they differ in shapes or in other things that must be known while parsing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from typing import Any

from sdfgad.ir.expr import BOOL, Int, Lin, Op
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import conditions, control
from sdfgad.parse.attributes import MOST_UNROLLED
from sdfgad.parse.binding import bind
from sdfgad.parse.frame import Frame
from sdfgad.parse.loop_attempts import parse_trip
from sdfgad.parse.loop_heads import Head, identity

FEW_TRIPS = 16


def unroll(frame: Frame, node: ast.For, values: Iterable[Callable[[], Any]], of: str = "", todo: str = "") -> None:
    """Unroll a loop over values.

    Args:
        of: what the values are of, where data must not end the loop, and `todo`: what to write instead.

    Raises:
        NeedsConstant: data may end it.
    """
    head, values = Head(node), iter(values)

    def trip(value: Callable[[], Any]) -> None:
        with frame.repeating(node):
            bind(frame, node.target, value())
            frame.block(node.body)

    while True:
        goes_on = head.test(frame, Lin(0))
        if goes_on is False:
            return
        if of and goes_on is not True:
            what = f"whether a loop over {of} goes on is known only at run time"
            raise NeedsConstant(frame.b.symbols_here(), frame.where(node), what, todo)
        value = next(values, None)
        if value is None:
            return
        # Other trips follow, so that any name may be read after this one.
        control.branch_on(frame, goes_on, lambda value=value: trip(value), lambda: None, None)  # type: ignore[misc]


def remainder_trips(frame: Frame, head: Head, first: Lin, most: int) -> None:
    """The remainder of an unrolled loop: at most `most` trips from `first` on, each nested in the one before it."""
    if not most or head.span is None:
        return
    b, index = frame.b, Int(first)
    is_next = conditions.decided(b, Op("less", (index, Int(head.span.trips)), BOOL))
    # A range that ends before it starts has a negative number of trips.
    is_trip = conditions.decided(b, Op("less_equal", (Int(Lin(0)), index), BOOL))
    is_left = conditions.logical(b, "logical_and", is_trip, is_next)

    def run() -> None:
        parse_trip(frame, head, first)
        remainder_trips(frame, head, first + 1, most - 1)

    control.branch_on(frame, is_left, run, lambda: None, head.node)


def unroll_instead(frame: Frame, head: Head, var: str, failure: Exception) -> None:
    """Unroll a loop because of a failure to parse it as one; raises that if its trips are not known, or many."""
    if head.span is None:
        unroll_while_instead(frame, head, failure)
        return
    span, trips = head.span, head.span.trips
    is_about_trip = not isinstance(failure, NeedsConstant) or var in failure.symbols
    if is_about_trip and (known := frame.b.by_value(trips)) is not None:
        trips = Lin(known)
    # Each is as many of the range as the loop's period is long.
    trips = trips.scaled(span.period)
    if not (is_about_trip and trips.is_const and trips.const <= MOST_UNROLLED):
        deciders = frame.b.symbols_behind(trips.symbols) if is_about_trip else set()
        frame.b.to_unroll |= deciders
        raise _asking(failure, deciders)
    if isinstance(head.node, ast.For):
        item = head.item or identity
        with frame.b.unrolling(trips.const):
            unroll(frame, head.node, [partial(item, span.index(Lin(k))) for k in range(trips.const)])
        return
    for k in range(trips.const):
        parse_trip(frame, head, Lin(k))


def unroll_while_instead(frame: Frame, head: Head, failure: Exception) -> int:
    """The same of a ``while`` whose trips are not known before it; returns their number."""
    trips = count()
    deciders = unroll_while(frame, head, MOST_UNROLLED, trips)
    if deciders is not None:
        raise _asking(failure, deciders)
    return next(trips)


def _asking(failure: Exception, deciders: set[str]) -> Exception:
    """A failure of a loop that would be unrolled if these were constants: an outer loop is unrolled for them, too."""
    if not deciders or not isinstance(failure, NeedsConstant):
        return failure
    return NeedsConstant(failure.symbols | deciders, failure.where, failure.what, failure.todo)


def unroll_while(frame: Frame, head: Head, limit: int, trips: Iterator[int] | None = None) -> set[str] | None:
    """Unroll a ``while``: None if all tests were known and it ended within `limit` trips, else what decides a test.

    Args:
        trips: a counter of the trips.
    """
    for _ in range(limit):
        goes_on = head.test(frame, Lin(0))
        if not isinstance(goes_on, bool):
            deciders = frame.b.deciders(goes_on.at())
            frame.b.to_unroll |= deciders
            return deciders
        if not goes_on:
            return None
        with frame.repeating(head.node):
            frame.block(head.node.body)
        if trips is not None:
            next(trips)
    return set()
