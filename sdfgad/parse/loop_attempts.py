"""One attempt to parse a loop as a loop of the program, with the names and items that it carries so far."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from sdfgad.errors import (
    UnboundVariable,
    UnsupportedProgram,
    UpdateOfCopy,
)
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, as_linear, reads
from sdfgad.ir.program import Access, Block
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import (
    after_loop,
    chosen_objects,
    conditions,
    filled_loops,
    integer_growth,
    loop_state,
    python_numbers,
    stored_lists,
    trajectories,
    trees,
)
from sdfgad.parse.attributes import MOST_UNROLLED
from sdfgad.parse.basic_inductions import Inductions
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.frame import Frame
from sdfgad.parse.items import Items
from sdfgad.parse.liveness import assigned_attributes, assigned_names, is_read_outside
from sdfgad.parse.loop_heads import Head
from sdfgad.parse.loop_state import Carry
from sdfgad.parse.magnitudes import MOST, UNKNOWN, Overflow
from sdfgad.parse.object_columns import Stays
from sdfgad.parse.values import Tensor, as_tensor, astype, cast, scalar


class Peel(Exception):
    """Raised where the first trip must be peeled."""

    def __init__(self, reason: UnsupportedProgram | UnboundVariable) -> None:
        self.reason = reason


def parse_trip(frame: Frame, head: Head, trip: Lin) -> None:
    with frame.repeating(head.node):
        head.trip(frame, trip)


def first_trip(frame: Frame, head: Head) -> None:
    """Parse the first trip as straight-line statements."""
    parse_trip(frame, head, Lin(0))
    if isinstance(head.node, ast.For):
        for name in assigned_names(head.node.target):
            if not is_read_outside(frame.source.tree, head.node, frame.around, name):
                frame.env.pop(name, None)


@dataclass
class Carried:
    """What a loop is known to hand on from trip to trip: names, and those of integers to which each trip adds the
    same."""

    names: dict[str, Carry] = field(default_factory=dict)
    integers: Inductions = field(default_factory=Inductions)


def parse_as_loop(frame: Frame, head: Head, var: str, known: Carried, items: Items) -> bool:
    """Parse the loop with the carried names and items; returns False, and adds to the names, if they were not all."""
    carried, integers = known.names, known.integers
    b, here, trip = frame.b, frame.b.where, Lin.symbol(var)
    old_buffers = frozenset(b.buffers)
    goes_on = None if head.is_counted else head.test(frame, Lin(0))
    if goes_on is False:
        return True
    trip_counter = None if goes_on is None else _TripCounter.start(b, head.base, goes_on)
    trips = head.span.trips if head.span is not None and trip_counter is None else trip_counter.trips  # type: ignore[union-attr]
    # Of this many trips the first one runs, whatever ends the loop.
    certain = Lin(1) if goes_on is True else head.trips_if_not_stopped(frame) or trips
    begins = _bound_first(frame, head) if b.holds(certain - 1) else frozenset[str]()
    items.as_names(frame)
    arrays = trajectories.arrays_for(b, head.node, var, trips) | stored_lists.arrays_for(b, head.node, var)
    before, stores = frame.env, loop_state.initialise(b, frame.env, carried)
    start = b.versions.now
    outside = before | loop_state.values_in_trip(b, stores) | integers.after(before, trip)
    starts = {name: trees.copied(outside[name]) for name in stores.carried}
    frame.env = dict(outside)
    carrying, filling = b.carrying(stores.buffers, head.node), filled_loops.body_of(b, head.node, var, arrays)
    with carrying, b.block(*head.guards(trip)) as body, items.in_body(b), filling as filled:
        b.loops.append((len(b.blocks), var, trips))
        frame.loops.append(head.node)
        frame.env |= {name: chosen_objects.resolved(b, frame.env[name]) for name in stores.carried}
        items.as_items(frame)
        _body(frame, head, trip, stores)
        items.require_settled()
        items.as_names(frame)
        b.where = here
        # A trip may change the very lists and dicts that it begins with.
        outside |= {name: start for name, start in starts.items() if trees.is_changed(outside[name], start)}
        changed = loop_state.changed(frame, head.node, outside, carried, begins)
        new = {name: ends for name, ends in changed.items() if head.is_counted and name not in carried}
        is_known = integers.hold(outside, frame.env) and not integers.add(b, new, trips)
        changed = {name: ends for name, ends in changed.items() if name not in integers.steps}
        held = items.held_by(frame, [value for values in changed.values() for value in values])
        for name in items.bar(frame, held):
            changed.pop(name, None)
            carried.pop(name, None)
        found = loop_state.newly_carried(frame, head.node, changed, outside, carried, old_buffers)
        is_complete = is_known and not found and not held
        if is_complete:
            loop_state.refuse_stale(frame, head.node, outside)
            b.versions.require_current_in_next_trip(start)
            if trip_counter is not None:
                items.as_items(frame)
                trip_counter.step(frame, head, trip, may_fail=bool(b.checks))
                items.as_names(frame)
            loop_state.write_back(b, stores, outside, frame.env)
        frame.loops.pop()
        b.loops.pop()
    if not is_complete:
        carried |= found
        return False
    if _outgrow(b, head, var, tuple(body), integer_growth.starts_of(b, stores, before), trips):
        return False
    filled_loops.finish(b, var, trips, tuple(body), filled, loop_state.converted(stores, before))
    b.loop(var, trips, head.guards(trip), body, is_open=trip_counter is not None)
    last = trips - 1 if trip_counter is None else _at_least_zero(b, trips - 1)
    loop = after_loop.ParsedLoop(head.node, before, outside, {var: last}, trips, certain, begins)
    frame.env = after_loop.values_after(frame, loop, stores) | integers.after(before, _at_least_zero(b, trips))
    items.assign(frame)
    return True


def _outgrow(b: Builder, head: Head, var: str, body: Block, integers: Mapping[str, int], trips: Lin) -> bool:
    """Whether a loop must be parsed again with checks, as integers that it hands on may take more than 64 bits.

    Raises:
        NeedsConstant: they are known where the loop is written out, and must be.
        Stays: so they may be if attributes of objects are no columns.
    """
    columns = {column.buffer: column for column in b.objects.integers(body)}
    starts = {**{name: b.magnitudes.sizes.get(name, UNKNOWN) for name in columns}, **integers}
    is_short = _is_short(b, trips)
    is_known = is_short and not columns and integer_growth.are_closed(body, integers)
    try:
        bounds = integer_growth.bounds_after(b, body, starts, var, trips, columns.keys())
    except Overflow:
        if id(head.node) in b.checked:
            bounds = dict.fromkeys(starts, MOST)
        elif is_known:
            raise _needs_constant(b, var, trips) from None
        elif is_short and columns and all(map(b.objects.may_stay, columns.values())):
            raise Stays(tuple(columns.values())) from None
        else:
            b.checked.add(id(head.node))
            return True
    if is_known and b.where in b.magnitudes.written_out:
        raise _needs_constant(b, var, trips)
    b.magnitudes.sizes |= bounds
    if is_known and b.where is not None:
        b.magnitudes.loops |= dict.fromkeys(bounds, frozenset((b.where,)))
    return False


def _is_short(b: Builder, trips: Lin) -> bool:
    """Whether a loop, and those around it whose counters decide its trips, may be written out."""
    around = {var: count for _, var, count in b.loops}
    counters = [around[symbol] for symbol in trips.symbols if symbol in around]
    if reads(Int(trips)) or not all(_is_short(b, count) for count in counters):
        return False
    at_hand = {name: Lin(value) for name, value in b.integers.items()}
    most = b.domain.maximum(trips.substitute(at_hand), b.context)
    return most is not None and most <= MOST_UNROLLED


def _needs_constant(b: Builder, var: str, trips: Lin) -> NeedsConstant:
    # Trips that an argument counts become a constant: those of another call may be too many.
    symbols = {var} | b.symbols_behind(trips.symbols)
    return NeedsConstant(symbols, b.where, python_numbers.TOO_LONG, python_numbers.TODO)


def _bound_first(frame: Frame, head: Head) -> frozenset[str]:
    """The names that a ``for`` binds at the beginning of each trip."""
    names = assigned_names(head.node.target) if isinstance(head.node, ast.For) else set()
    return frozenset(names - frame.source.captured)


def _body(frame: Frame, head: Head, trip: Lin, stores: loop_state.Stores) -> None:
    try:
        period = 1 if head.span is None else head.span.period
        for k in range(period):
            parse_trip(frame, head, trip.scaled(period) + k)
    except UpdateOfCopy as error:
        if error.buffer in stores.buffers:
            raise Peel(error) from error
        raise
    except UnboundVariable as error:
        if error.is_set_here or error.name in assigned_names(head.node) | assigned_attributes(head.node):
            raise Peel(error) from error
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


def _at_least_zero(b: Builder, form: Lin) -> Lin:
    if b.holds(form):
        return form
    return as_linear(Op("maximum", (Int(form), Const(0, INT)), INT))
