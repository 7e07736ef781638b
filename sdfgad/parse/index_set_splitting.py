"""Index-set splitting: a loop whose trips differ by its counter, as loops of alike trips.

``if step in EVENTS: kind, amount = EVENTS[step]`` needs to know the trip. But most trips skip it: those between two
events are a loop, in which the condition is known to fail. ``old = buffers[k % 2]`` needs to know it, too: two trips
at a time, the loop is unrolled by its period.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from sdfgad.errors import SdfgadError
from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.backtracking import attempted
from sdfgad.parse.constants import Decides, Guessed
from sdfgad.parse.frame import Frame
from sdfgad.parse.liveness import is_read_outside
from sdfgad.parse.loop_attempts import parse_trip
from sdfgad.parse.loop_heads import Head
from sdfgad.parse.loop_state import LoopNode
from sdfgad.parse.merging import is_unmergeable
from sdfgad.parse.ranges import Range

MOST_PARTS = 64
# Loops of fewer trips are written out: parts that have so few in the mean are not worth the attempt.
FEW_IN_A_PART = 4
# A part of at most so many trips may be unrolled, as one in which lists are filled is.
SHORT_PART = 8
LONGEST_PERIOD = 6
# What conditions on the counter alone are at each trip.
ByTrip = Sequence[np.ndarray[Any, Any]]
Parse = Callable[[Frame, Head], None]


def split(frame: Frame, head: Head, by_trip: ByTrip, parse: Parse) -> bool:
    """Parse a loop as several ones, or by the period of what its trips are; returns whether this succeeds.

    Args:
        parse: parses a loop, that over a part of the trips.
    """
    span = head.span
    if not by_trip or span is None or not head.is_counted or not span.trips.is_const:
        return False
    starts, period = _starts(by_trip, span.trips.const), _period(by_trip, span)
    if starts and _tried(frame, head, lambda: _in_parts(frame, head, [0, *starts, span.trips.const], parse)):
        return True
    return period > 1 and _tried(frame, head, lambda: _by_period(frame, head, period, parse))


def _tried(frame: Frame, head: Head, attempt: Callable[[], None]) -> bool:
    env, before = dict(frame.env), frame.b.is_in_part

    def keeps_names() -> bool:
        attempt()
        return not loses_a_name(frame, head.node, env)

    try:
        frame.b.is_in_part = True
        return bool(attempted(frame, keeps_names, (NeedsConstant, Decides, Guessed, SdfgadError)))
    finally:
        frame.b.is_in_part = before


def loses_a_name(frame: Frame, node: LoopNode, before: Mapping[str, Any]) -> bool:
    """Whether a loop leaves a name without a value known here, as of functions or shapes that data chooses, and what
    follows reads it. Unrolled, the loop may leave one."""
    lost = [name for name, value in frame.env.items() if is_unmergeable(value) and before.get(name) is not value]
    return any(is_read_outside(frame.source.tree, node, frame.around, name) for name in lost)


def _in_parts(frame: Frame, head: Head, ends: list[int], parse: Parse) -> None:
    for first, end in pairwise(ends):
        if end - first == 1:
            _one_by_one(frame, head, first, end)
            continue
        part = replace(head, span=_part(head, first, end), must_stay_loop=end - first > SHORT_PART)
        # The other parts read what the whole loop does.
        with frame.repeating(head.node):
            parse(frame, part)


def _by_period(frame: Frame, head: Head, period: int, parse: Parse) -> None:
    """Unroll a loop by a period, of trips which may be several of the range themselves."""
    assert head.span is not None
    trips = head.span.trips.const
    whole = _part(head, 0, trips - trips % period)
    span = replace(whole, period_count=Lin(trips // period), period=whole.period * period)
    with frame.repeating(head.node):
        parse(frame, replace(head, span=span, must_stay_loop=True))
    _one_by_one(frame, head, trips - trips % period, trips)


def _one_by_one(frame: Frame, head: Head, first: int, end: int) -> None:
    assert head.span is not None
    for trip in range(first * head.span.period, end * head.span.period):
        parse_trip(frame, head, Lin(trip))


def _starts(by_trip: ByTrip, trips: int) -> list[int]:
    """The trips at which to split a loop: those at which the conditions change that do so seldom."""
    changes = [np.flatnonzero(own[1:] != own[:-1]) + 1 for own in by_trip]
    starts, most = set[int](), min(MOST_PARTS, trips // FEW_IN_A_PART) - 1
    for own in sorted(changes, key=len):
        more = starts.union(own.tolist())
        starts = more if len(more) <= most else starts
    return sorted(starts)


def _period(by_trip: ByTrip, span: Range) -> int:
    """A short period that some conditions have; 1 if there is none."""
    found, most = 1, min(LONGEST_PERIOD // span.period, span.trips.const // FEW_IN_A_PART)
    for own in by_trip:
        own_period = next((one for one in range(1, most + 1) if np.array_equal(own[one:], own[:-one])), 1)
        common = math.lcm(found, own_period)
        found = common if common <= most else found
    return found


def _part(head: Head, first: int, end: int) -> Range:
    """The range of some trips of a loop, each of which is as many of its range as its period is long."""
    span = head.span
    assert span is not None
    step, is_periodic = span.step * span.period, span.period > 1
    part = Range(span.start + step * first, span.start + step * end, span.step)
    return replace(part, period_count=Lin(end - first), period=span.period) if is_periodic else part
