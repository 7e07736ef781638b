"""``for`` and ``while`` loops.

The body is parsed repeatedly until the loop-carried names and their dtypes reach a fixed point. The first trip is
peeled where it differs from the others: it updates an array with aliases in place, binds a name that later trips
read, or changes its shape. A loop whose trips differ in shapes, or other things that must be known while parsing, is
unrolled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from sdfgad.errors import (
    AmbiguousArray,
    Rebound,
    SdfgadError,
    ShapeMismatch,
    UnboundVariable,
    UnsupportedProgram,
    UpdateOfCopy,
)
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, as_linear
from sdfgad.ir.program import Access, Loop
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import after_loop, conditions, control, filled_loops, loop_state, stored_lists, trajectories, trees
from sdfgad.parse.binding import bind
from sdfgad.parse.builder import Builder
from sdfgad.parse.constants import Decides, Guessed
from sdfgad.parse.containers import ItemsMoved
from sdfgad.parse.contents import Rolling, Taken
from sdfgad.parse.control import ChoicePoint
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.frame import Frame
from sdfgad.parse.induction_variables import Counter, NotCounted
from sdfgad.parse.items import Items, begun, settled
from sdfgad.parse.iterables import iterable_of
from sdfgad.parse.iterators import as_sequence
from sdfgad.parse.jumps import stops
from sdfgad.parse.liveness import assigned_attributes, assigned_names, is_read_outside
from sdfgad.parse.loop_state import Carry, LoopNode
from sdfgad.parse.merging import is_unmergeable
from sdfgad.parse.number_lists import is_of_numbers, is_worth_a_loop
from sdfgad.parse.ranges import AS_LIST, MANY_ITEMS, Range, gone_over, is_lazy, items_of
from sdfgad.parse.values import Tensor, as_tensor, astype, cast, scalar

UNROLL_LIMIT = 256
FEW_TRIPS = 16

Item = Callable[[Any], Any]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Head:
    """A loop's header: a range and the function from its index to the target's value, or the counter of a ``while``.

    A ``while`` without a counter has none of these.
    """

    node: LoopNode
    span: Range | None = None
    item: Item | None = None
    counter: Counter | None = None

    def trip(self, frame: Frame, trip: Lin) -> None:
        """Parse a trip: bind the loop's target, or set its counter, and parse the body."""
        if self.span is None:
            frame.block(self.node.body)
        elif isinstance(self.node, ast.For) and self.item is not None:
            bind(frame, self.node.target, self.item(self.span.index(trip)))
            frame.block(self.node.body)
        elif self.counter is not None:
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

    def rest(self) -> Head:
        """The loop without its first trip."""
        if self.span is None:
            return self
        return replace(self, span=Range(self.span.start + self.span.step, self.span.stop, self.span.step))

    def test(self, frame: Frame, trip: Lin) -> bool | Tensor:
        """The condition that a trip runs."""
        tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), ast.Name(n, ast.Load())) for n in stops(self.node)]
        if isinstance(self.node, ast.While) and self.counter is None:
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


def for_loop(frame: Frame, node: ast.For) -> None:
    """A ``for`` over a range, an array's leading axis, or a sequence known while parsing (unrolled)."""
    value = iterable_of(frame, node.iter)
    if is_of_numbers(value, MANY_ITEMS) and _rolled_over_numbers(frame, node, value):
        return
    iterable = gone_over(frame.b, value)
    frame.iterables.append(value)
    try:
        head = head_of(frame, node, iterable)
        if head is not None:
            _filling(frame, head, parse_loop)
        else:
            items = (partial(_identity, item) for item in as_sequence(frame, node.iter, iterable))
            _unrolled(frame, node, items, is_lazy(value))
    finally:
        frame.iterables.pop()


def _rolled_over_numbers(frame: Frame, node: ast.For, value: Any) -> bool:
    """Parse a loop over a list of numbers as a loop; returns whether it can be one, and is worth it."""
    b = frame.b
    if b.rolling is Rolling.NONE:
        return False
    point = ChoicePoint.of(frame)
    frame.iterables.append(value)
    try:
        b.rolls_numbers = True
        head = head_of(frame, node, gone_over(b, value))
        b.rolls_numbers = False
        if head is not None and _filling(frame, head, _as_loop) is None and is_worth_a_loop(b.blocks[-1][-1]):
            b.has_rolled = True
            return True
    except (NeedsConstant, Decides, Guessed, Taken, SdfgadError):
        pass
    finally:
        b.rolls_numbers = False
        frame.iterables.pop()
    point.backtrack(frame)
    return False


def _filling(frame: Frame, head: Head, parse: Callable[[Frame, Head], Result]) -> Result:
    """Parse a loop, which may fill lists."""
    first = partial(first_trip, frame, head)
    return filled_loops.parsed(frame, head.node, _may_fill(frame.b, head), partial(parse, frame, head), first)


def _may_fill(b: Builder, head: Head) -> bool:
    """Whether a loop may fill lists: its number of trips is known, and not small."""
    if not head.is_counted or head.span is None or head.node.orelse:
        return False
    trips = head.span.trips
    return trips.is_const and trips.const >= MANY_ITEMS and b.rolling is not Rolling.NONE


def head_of(frame: Frame, node: ast.For, iterable: Any) -> Head | None:
    """The head of a ``for``; None for one over a sequence that is known while parsing."""
    if isinstance(iterable, range):
        iterable = Range.like(iterable)
    if isinstance(iterable, Range):
        return Head(node, iterable, lambda index: index)
    items = items_of(frame.b, iterable)
    return None if items is None else Head(node, Range(Lin(0), items.length, 1), items.at)


def _identity(value: Any) -> Any:
    return value


def while_loop(frame: Frame, node: ast.While) -> None:
    """A ``while``: a loop over a range if it counts."""
    found = dict(frame.b.logs.found)
    if not _counted(frame, node):
        with frame.b.logs.instead(found):
            _uncounted(frame, node)


def _counted(frame: Frame, node: ast.While) -> bool:
    """Parse a ``while`` that counts as a loop over a range; returns whether it is one."""
    point = ChoicePoint.of(frame)
    try:
        counter = Counter.of(frame, node)
        if counter is not None:
            _filling(frame, Head(node, counter.span, counter=counter), parse_loop)
            frame.env[counter.name] = counter.last(frame.b)
            return True
    except (NotCounted, NeedsConstant, SdfgadError):
        pass
    point.backtrack(frame)
    return False


def _uncounted(frame: Frame, node: ast.While) -> None:
    """Any other ``while``; unrolled where its tests are known while parsing and it has few trips."""
    head, point = Head(node), ChoicePoint.of(frame)
    if not isinstance(head.test(frame, Lin(0)), bool) or not _is_short(frame, head):
        point.backtrack(frame)
        parse_loop(frame, head)


def _is_short(frame: Frame, head: Head) -> bool:
    """Unroll a ``while`` of few trips; whether it is one, in which all lists can be followed."""
    logs = frame.b.logs
    found = dict(logs.found)
    try:
        return _unrolled_while(frame, head, FEW_TRIPS) is None
    except UnsupportedProgram:
        if logs.found.keys() == found.keys():
            raise
        logs.found = found
        return False


def _unrolled(frame: Frame, node: ast.For, values: Iterable[Callable[[], Any]], runs_code: bool = False) -> None:
    """Unroll a loop over values.

    Args:
        runs_code: whether statements of the program run where a value is asked for.

    Raises:
        NeedsConstant: they do, and whether it is asked for is known only at run time.
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
        if runs_code and goes_on is not True:
            what = "whether a loop over a generator goes on is known only at run time"
            raise NeedsConstant(frame.b.symbols_here(), frame.where(node), what, AS_LIST)
        value = next(values, None)
        if value is None:
            return
        # Other trips follow, so that any name may be read after this one.
        control.branch_on(frame, goes_on, lambda value=value: trip(value), lambda: None, None)  # type: ignore[misc]


class _Peel(Exception):
    """Raised where the first trip must be peeled."""

    def __init__(self, reason: UnsupportedProgram | UnboundVariable) -> None:
        self.reason = reason


def parse_loop(frame: Frame, head: Head, may_peel: bool = True) -> None:
    """Parse a loop as a loop of the program; where that fails, with its first trip peeled, or unrolled."""
    _require_sign(frame.b, head)
    found = dict(frame.b.logs.found)
    failure = _as_loop_if_worth(frame, head)
    if failure is not None:
        with frame.b.logs.instead(found):
            _parse_otherwise(frame, head, failure, may_peel)


def _parse_otherwise(frame: Frame, head: Head, failure: _Failure, may_peel: bool) -> None:
    if isinstance(failure.reason, UpdateOfCopy) and head.is_counted and _periodic(frame, head):
        return
    if failure.is_peeled and may_peel:
        _peeled(frame, head, failure.reason)
    elif isinstance(failure.reason, (AmbiguousArray, Rebound)) and may_peel and _settles(frame, head, failure.reason):
        return
    elif isinstance(failure.reason, (NeedsConstant, Rebound)) or head.span is None:
        _unrolled_instead(frame, head, failure.var, failure.reason)
    else:
        raise failure.reason


@dataclass(frozen=True)
class _Failure:
    """Why a loop is none of the program: the exception, whether it would be with its first trip peeled, its counter."""

    reason: Exception
    is_peeled: bool
    var: str


def _as_loop_if_worth(frame: Frame, head: Head) -> _Failure | None:
    """Parse a loop as a loop; without looking up known numbers by its counter, if it is not worth that."""
    b = frame.b
    point = ChoicePoint.of(frame)
    failure, loop = _as_loop(frame, head), b.blocks[-1][-1] if b.blocks[-1] else None
    if failure is not None or not isinstance(loop, Loop) or loop.var not in b.table_symbols or is_worth_a_loop(loop):
        return failure
    point.backtrack(frame)
    before, b.reads_tables = b.reads_tables, False
    try:
        return _as_loop(frame, head)
    finally:
        b.reads_tables = before


def _as_loop(frame: Frame, head: Head) -> _Failure | None:
    """Parse a loop as a loop of the program, again until all that it carries is known; else all is as before."""
    point, carried = ChoicePoint.of(frame), dict[str, Carry]()
    return settled(
        frame.b,
        head.node,
        lambda items: _attempted(frame, head, carried, items, point),
        lambda: point.backtrack(frame),
    )


def _attempted(
    frame: Frame, head: Head, carried: dict[str, Carry], items: Items, point: ChoicePoint
) -> _Failure | None:
    b = frame.b
    while True:
        begun(b)
        var = b.fresh(head.base)
        try:
            if _parse_as_loop(frame, head, var, carried, items):
                return None
            point.backtrack(frame)
            continue
        except _Peel as peel:
            failure = _Failure(peel.reason, True, var)
        except (NeedsConstant, Rebound, ShapeMismatch, UnsupportedProgram) as error:
            failure = _Failure(error, False, var)
        point.backtrack(frame)
        if b.nest.is_given_up or not _carries_otherwise(b, items, failure.reason):
            return failure
        carried.clear()


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
            _remainder_trips(frame, head, done, period - 1)
            return True
        except (UpdateOfCopy, _Peel):
            point.backtrack(frame)
    return False


def _remainder_trips(frame: Frame, head: Head, first: Lin, most: int) -> None:
    """The remainder of an unrolled loop: at most `most` trips from `first` on, each nested in the one before it."""
    if not most or head.span is None:
        return
    b, index = frame.b, Int(first)
    is_next = conditions.decided(b, Op("less", (index, Int(head.span.trips)), BOOL))
    # A range that ends before it starts has a negative number of trips.
    is_trip = conditions.decided(b, Op("less_equal", (Int(Lin(0)), index), BOOL))
    is_left = conditions.logical(b, "logical_and", is_trip, is_next)

    def run() -> None:
        _trip(frame, head, first)
        _remainder_trips(frame, head, first + 1, most - 1)

    control.branch_on(frame, is_left, run, lambda: None, head.node)


def _trip(frame: Frame, head: Head, trip: Lin) -> None:
    with frame.repeating(head.node):
        head.trip(frame, trip)


def _require_sign(b: Builder, head: Head) -> None:
    """Require trips >= 0, as it is a tape's length; calls with trips < 0 get another specialisation."""
    if head.span is None:
        return
    trips = head.span.trips
    symbols = {atom for atom, _ in trips.terms}
    if symbols and symbols <= set(b.integers) and not b.holds(trips):
        raise NeedsConstant(b.symbols_behind(trips.symbols), b.where)


def _peeled(frame: Frame, head: Head, reason: Exception) -> None:
    """Loop peeling: the first trip, and then a loop over the others."""
    b, span = frame.b, head.span
    if span is not None and b.holds(-span.trips):
        return
    if span is not None and not b.holds(span.trips - 1):
        raise reason

    def both() -> None:
        first_trip(frame, head)
        try:
            parse_loop(frame, head.rest(), may_peel=False)
        except (_Peel, UpdateOfCopy):
            raise reason from None

    control.branch_on(frame, head.test(frame, Lin(0)), both, lambda: None, head.node)


def _settles(frame: Frame, head: Head, reason: Exception) -> bool:
    """Peel a loop whose first trip alone changes the shape or kind of a name; returns whether this succeeds."""
    point = ChoicePoint.of(frame)
    try:
        _peeled(frame, head, reason)
        lost = [name for name, value in frame.env.items() if is_unmergeable(value) and point.env.get(name) is not value]
        if not any(is_read_outside(frame.source.tree, head.node, frame.around, name) for name in lost):
            return True
    except (NeedsConstant, Rebound, ShapeMismatch, UnboundVariable, UnsupportedProgram):
        pass
    point.backtrack(frame)
    return False


def first_trip(frame: Frame, head: Head) -> None:
    """Parse the first trip as straight-line statements."""
    _trip(frame, head, Lin(0))
    if isinstance(head.node, ast.For):
        for name in assigned_names(head.node.target):
            if not is_read_outside(frame.source.tree, head.node, frame.around, name):
                frame.env.pop(name, None)


def _unrolled_instead(frame: Frame, head: Head, var: str, failure: Exception) -> None:
    if head.span is None:
        deciders = _unrolled_while(frame, head, UNROLL_LIMIT)
        if deciders is not None:
            raise _asking(failure, deciders)
        return
    span, trips = head.span, head.span.trips
    is_about_trip = not isinstance(failure, NeedsConstant) or var in failure.symbols
    if is_about_trip and (known := frame.b.by_value(trips)) is not None:
        trips = Lin(known)
    if not (is_about_trip and trips.is_const and trips.const <= UNROLL_LIMIT):
        deciders = frame.b.symbols_behind(trips.symbols) if is_about_trip else set()
        frame.b.to_unroll |= deciders
        raise _asking(failure, deciders)
    if isinstance(head.node, ast.For):
        item = head.item or _identity
        _unrolled(frame, head.node, [partial(item, span.index(Lin(k))) for k in range(trips.const)])
        return
    for k in range(trips.const):
        _trip(frame, head, Lin(k))


def _asking(failure: Exception, deciders: set[str]) -> Exception:
    """A failure of a loop that would be unrolled if these were constants: an outer loop is unrolled for them, too."""
    if not deciders or not isinstance(failure, NeedsConstant):
        return failure
    return NeedsConstant(failure.symbols | deciders, failure.where, failure.what, failure.todo)


def _unrolled_while(frame: Frame, head: Head, limit: int) -> set[str] | None:
    """Unroll a ``while``: None if all tests were known and it ended within `limit` trips, else what decides a test."""
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
    return set()


def _parse_as_loop(frame: Frame, head: Head, var: str, carried: dict[str, Carry], items: Items) -> bool:
    """Parse the loop with the carried names and items; returns False, and adds to the names, if they were not all."""
    b, here, trip = frame.b, frame.b.where, Lin.symbol(var)
    old_buffers = frozenset(b.buffers)
    goes_on = None if head.is_counted else head.test(frame, Lin(0))
    if goes_on is False:
        return True
    trip_counter = None if goes_on is None else _TripCounter.start(b, head.base, goes_on)
    trips = head.span.trips if head.span is not None and trip_counter is None else trip_counter.trips  # type: ignore[union-attr]
    items.as_names(frame)
    arrays = trajectories.arrays_for(b, head.node, var, trips) | stored_lists.arrays_for(b, head.node, var)
    before, stores = frame.env, loop_state.initialise(b, frame.env, carried)
    start = b.versions.now
    outside = before | loop_state.values_in_trip(b, stores)
    starts = {name: trees.copied(outside[name]) for name in stores.carried}
    frame.env = dict(outside)
    filling = filled_loops.body_of(b, head.node, var, arrays)
    with b.carrying(stores.buffers), b.block(*head.guards(trip)) as body, items.in_body(b), filling as filled:
        b.loops.append((len(b.blocks), var, trips))
        frame.loops.append(head.node)
        items.as_items(frame)
        _body(frame, head, trip, stores)
        items.require_settled()
        items.as_names(frame)
        b.where = here
        # A trip may change the very lists and dicts that it begins with.
        outside |= {name: start for name, start in starts.items() if trees.is_changed(outside[name], start)}
        changed = loop_state.changed(frame, head.node, outside, carried)
        held = items.held_by(frame, [value for values in changed.values() for value in values])
        for name in items.bar(frame, held):
            changed.pop(name, None)
            carried.pop(name, None)
        found = loop_state.newly_carried(frame, head.node, changed, outside, carried, old_buffers)
        if not found and not held:
            loop_state.refuse_stale(frame, head.node, outside)
            b.versions.require_current_in_next_trip(start)
            if trip_counter is not None:
                items.as_items(frame)
                trip_counter.step(frame, head, trip, may_fail=bool(b.checks))
                items.as_names(frame)
            loop_state.write_back(b, stores, outside, frame.env)
        frame.loops.pop()
        b.loops.pop()
    if found or held:
        carried |= found
        return False
    filled_loops.finish(b, var, trips, tuple(body), filled, loop_state.converted(stores, before))
    b.loop(var, trips, head.guards(trip), body, is_open=trip_counter is not None)
    last = trips - 1 if trip_counter is None else _at_least_zero(trips - 1)
    frame.env = after_loop.values_after(
        frame, after_loop.ParsedLoop(head.node, before, outside, {var: last}, trips), stores
    )
    items.assign(frame)
    return True


def _body(frame: Frame, head: Head, trip: Lin, stores: loop_state.Stores) -> None:
    try:
        period = 1 if head.span is None else head.span.period
        for k in range(period):
            _trip(frame, head, trip.scaled(period) + k)
    except UpdateOfCopy as error:
        if error.buffer in stores.buffers:
            raise _Peel(error) from error
        raise
    except UnboundVariable as error:
        if error.name in assigned_names(head.node) | assigned_attributes(head.node):
            raise _Peel(error) from error
        raise


@dataclass(frozen=True)
class _TripCounter:
    """The trip count of an open loop: a scalar that holds the trips that certainly run, updated in each trip."""

    count: Tensor

    @staticmethod
    def start(b: Builder, base: str, goes_on: bool | Tensor) -> _TripCounter:
        trip_counter = _TripCounter(b.new_view(f"{base}_trips", (), INT))
        b.assign(trip_counter.count, astype(as_tensor(goes_on), INT))
        return trip_counter

    def step(self, frame: Frame, head: Head, trip: Lin, may_fail: bool) -> None:
        """At the end of a trip, add one to the count if the test holds, and if no check, or none before, has failed."""
        goes_on = head.test(frame, trip + 1)
        if goes_on is True:
            raise frame.unsupported(
                head.node,
                "this loop never ends",
                "Make its condition depend on something that the loop changes, or `break`.",
            )
        if may_fail:
            # Python raises and leaves the loop, or never comes to it; it might never end otherwise.
            is_fine = scalar(Op("equal", (Access(STATUS).read(INT), Const(0, INT)), BOOL))
            goes_on = conditions.logical(frame.b, "logical_and", goes_on, is_fine)
        more = cast(as_tensor(goes_on).at(), INT)
        frame.b.assign(self.count, scalar(Op("add", (Int(trip + 1), more), INT)))

    @property
    def trips(self) -> Lin:
        return as_linear(self.count.at())


def _at_least_zero(form: Lin) -> Lin:
    return as_linear(Op("maximum", (Int(form), Const(0, INT)), INT))


__all__ = ["for_loop", "while_loop"]
