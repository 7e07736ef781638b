"""How a loop is parsed: as a loop of the program, peeled, periodic, split or unrolled.

The body is parsed repeatedly until the loop-carried names and their dtypes reach a fixed point. The first trip is
peeled where it differs from the others: it updates an array with aliases in place, binds a name that later trips
read, or changes its shape. A loop whose trips differ in shapes, or other things that must be known while parsing, is
unrolled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from sdfgad.errors import (
    AmbiguousArray,
    Rebound,
    SdfgadError,
    ShapeMismatch,
    UnboundVariable,
    UnsupportedProgram,
    UpdateOfCopy,
)
from sdfgad.ir.expr import INT, Const, Int, Lin, Op, as_linear, reads
from sdfgad.ir.program import Loop, Statement
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import (
    control,
    filled_loops,
)
from sdfgad.parse.backtracking import ChoicePoint, attempted
from sdfgad.parse.builder import Builder
from sdfgad.parse.containers import ItemsMoved
from sdfgad.parse.contents import Rolling
from sdfgad.parse.frame import Frame
from sdfgad.parse.index_set_splitting import ByTrip, loses_a_name, split
from sdfgad.parse.item_tables import is_worth_a_loop
from sdfgad.parse.items import Items, begun, settled
from sdfgad.parse.jumps import stops
from sdfgad.parse.liveness import assigned_names
from sdfgad.parse.loop_attempts import Carried, Peel, first_trip, parse_as_loop
from sdfgad.parse.loop_heads import Head, require_sign
from sdfgad.parse.ranges import MANY_ITEMS, Range
from sdfgad.parse.unrolling import (
    FEW_TRIPS,
    remainder_trips,
    unroll_instead,
    unroll_while_instead,
)
from sdfgad.parse.warm_up import is_warm_up, warmed_up

Result = TypeVar("Result")


def parse_filling(frame: Frame, head: Head, parse: Callable[[Frame, Head], Result]) -> Result:
    """Parse a loop, which may fill lists."""
    first = partial(first_trip, frame, head)
    return filled_loops.parsed(frame, head.node, _may_fill(frame.b, head), partial(parse, frame, head), first)


def _may_fill(b: Builder, head: Head) -> bool:
    """Whether a loop may fill lists: its number of trips is known, and not small."""
    if not head.is_counted or head.span is None or head.node.orelse:
        return False
    trips = head.span.trips
    return trips.is_const and trips.const >= MANY_ITEMS and b.rolling is not Rolling.NONE


def parse_loop(frame: Frame, head: Head, may_peel: bool = True) -> None:
    """Parse a loop as a loop of the program; where that fails, with its first trip peeled, or unrolled.

    One that has no trip, whatever the arguments, is left out where it reads what only later trips of one around have.
    """
    trips = Lin(1) if head.span is None or head.node.orelse else head.span.trips
    parse = partial(_parse, frame, head, may_peel)
    if trips.is_const and trips.const <= 0:
        attempted(frame, parse, (UnboundVariable,))
    else:
        parse()


def _parse(frame: Frame, head: Head, may_peel: bool) -> bool:
    """The same of any loop; returns True, or raises."""
    require_sign(frame.b, head)
    found = dict(frame.b.logs.found)
    failure = _as_loop_if_worth(frame, head)
    if failure is not None:
        with frame.b.logs.instead(found):
            _parse_otherwise(frame, head, failure, may_peel)
    return True


def _parse_otherwise(frame: Frame, head: Head, failure: _Failure, may_peel: bool) -> None:
    if may_peel and is_warm_up(failure.reason) and warmed_up(frame, head, partial(_reason_against, frame)):
        return
    if split(frame, head, failure.by_trip, part):
        return
    if isinstance(failure.reason, UpdateOfCopy) and head.is_counted and _periodic(frame, head):
        return
    if failure.is_peeled and may_peel:
        _peeled(frame, head, failure.reason)
    elif isinstance(failure.reason, (AmbiguousArray, Rebound)) and may_peel and _settles(frame, head, failure.reason):
        return
    elif head.must_stay_loop:
        raise failure.reason
    elif isinstance(head.node, ast.While) and head.span is None:
        _with_known_trips(frame, head.node, failure.reason)
    elif isinstance(failure.reason, (NeedsConstant, Rebound)):
        unroll_instead(frame, head, failure.var, failure.reason)
    else:
        raise failure.reason


def _with_known_trips(frame: Frame, node: ast.While, failure: Exception) -> None:
    """Unroll a ``while`` that is no loop, as its length must be known; many known trips are those of a loop."""
    point = ChoicePoint.of(frame)
    trips = unroll_while_instead(frame, Head(node), failure)
    if trips <= FEW_TRIPS or stops(node) or frame.b.rolling is Rolling.NONE:
        return
    found = {name: frame.env.get(name) for name in assigned_names(node)}
    point.backtrack(frame)
    try:
        parse_filling(frame, Head(node, Range(Lin(0), Lin(trips), 1), must_stay_loop=True), parse_loop)
        frame.env |= {name: value for name, value in found.items() if type(value) in (int, float)}
    except (NeedsConstant, SdfgadError):
        point.backtrack(frame)
        unroll_while_instead(frame, Head(node), failure)


def part(frame: Frame, head: Head) -> None:
    parse_filling(frame, head, parse_loop)


def _reason_against(frame: Frame, head: Head) -> Exception | None:
    """Parse a loop as one or several loops; returns why it is none."""
    failure = parse_filling(frame, head, _as_loop_if_worth)
    if failure is None or (not is_warm_up(failure.reason) and split(frame, head, failure.by_trip, part)):
        return None
    return failure.reason


@dataclass(frozen=True)
class _Failure:
    """Why a loop is none of the program.

    Attributes:
        is_peeled: whether it would be with its first trip peeled.
        var: its counter.
        by_trip: what conditions on the counter alone are at each trip.
    """

    reason: Exception
    is_peeled: bool
    var: str
    by_trip: ByTrip


def _as_loop_if_worth(frame: Frame, head: Head) -> _Failure | None:
    """Parse a loop as a loop; without looking up items of lists by its counter, if it is not worth that."""
    b = frame.b
    point = ChoicePoint.of(frame)
    failure = as_loop(frame, head)
    if _is_final(b, failure):
        return failure
    point.backtrack(frame)
    before, b.table_depth = b.table_depth, min(b.table_depth, len(b.blocks) + 1)
    try:
        return as_loop(frame, head)
    finally:
        b.table_depth = before


def _is_final(b: Builder, failure: _Failure | None) -> bool:
    """Whether an attempt needs no other one that looks up no items by the counter: it is worth it, or fails so that the
    loop is unrolled."""
    if failure is not None:
        return failure.var not in b.table_symbols or isinstance(failure.reason, (NeedsConstant, Rebound))
    loop = b.blocks[-1][-1] if b.blocks[-1] else None
    return not isinstance(loop, Loop) or loop.var not in b.table_symbols or is_worth(b, loop)


def as_loop(frame: Frame, head: Head) -> _Failure | None:
    """Parse a loop as a loop of the program, again until all that it carries is known; else all is as before."""
    point, carried = ChoicePoint.of(frame), Carried()
    return settled(
        frame.b,
        head.node,
        lambda items: _attempted(frame, head, carried, items, point),
        lambda: point.backtrack(frame),
    )


def _attempted(frame: Frame, head: Head, carried: Carried, items: Items, point: ChoicePoint) -> _Failure | None:
    b, reason = frame.b, Exception()
    while True:
        begun(b)
        var = b.fresh(head.base)
        b.by_trip.pop(var, None)
        try:
            if parse_as_loop(frame, head, var, carried, items):
                return None
            point.backtrack(frame)
            continue
        except Peel as peel:
            reason, is_peeled = peel.reason, True
        except (NeedsConstant, Rebound, ShapeMismatch, UnsupportedProgram) as error:
            reason, is_peeled = error, False
        point.backtrack(frame)
        if b.nest.is_given_up or not _carries_otherwise(b, items, reason):
            return _Failure(reason, is_peeled, var, tuple(b.by_trip.pop(var, {}).values()))
        carried.names.clear()


def _carries_otherwise(b: Builder, items: Items, reason: Exception) -> bool:
    """Whether a loop that has failed carries all items of a list or dict in the next attempt, or does so no more."""
    return items.moved(b, reason) if isinstance(reason, ItemsMoved) else items.give_up_whole()


LONGEST_PERIOD = 3


def _periodic(frame: Frame, head: Head) -> bool:
    """Unroll a loop that permutes arrays, as ``x, y = y, x`` does, by its period, and add a remainder loop.

    Returns whether this succeeds: after 2 or 3 trips all names must refer to the same arrays as before.
    """
    span = head.span
    assert span is not None
    if span.period > 1:
        return False
    point = ChoicePoint.of(frame)
    for period in range(2, LONGEST_PERIOD + 1):
        period_count = as_linear(Op("floor_divide", (Int(span.trips), Const(period, INT)), INT))
        done = period_count.scaled(period)
        try:
            periodic = replace(head, span=replace(span, period_count=period_count, period=period))
            parse_loop(frame, periodic, may_peel=False)
            remainder_trips(frame, head, done, period - 1)
            return True
        except (UpdateOfCopy, Peel):
            point.backtrack(frame)
    return False


def _peeled(frame: Frame, head: Head, reason: Exception) -> None:
    """Loop peeling: the first trip, and then a loop over the others; in a branch where data tells if there is one."""
    b, span = frame.b, head.span
    if span is not None and b.holds(-span.trips):
        return
    if span is not None and not b.holds(span.trips - 1) and not reads(Int(span.trips)):
        raise reason

    def both() -> None:
        first_trip(frame, head)
        try:
            parse_loop(frame, head.rest(), may_peel=False)
        except (Peel, UpdateOfCopy):
            raise reason from None

    control.branch_on(frame, head.test(frame, Lin(0)), both, lambda: None, head.node)


def _settles(frame: Frame, head: Head, reason: Exception) -> bool:
    """Peel a loop whose first trip alone changes the shape or kind of a name; returns whether this succeeds."""
    env = dict(frame.env)

    def peeled() -> bool:
        _peeled(frame, head, reason)
        return not loses_a_name(frame, head.node, env)

    failures = (NeedsConstant, Rebound, ShapeMismatch, UnboundVariable, UnsupportedProgram)
    return bool(attempted(frame, peeled, failures))


def is_worth(b: Builder, loop: Statement) -> bool:
    return is_worth_a_loop(b, loop) or b.objects.are_written(loop)
