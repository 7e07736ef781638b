"""Index-set splitting: a loop whose trips differ by its counter, as several loops of alike trips one after the other.

``if step in EVENTS: kind, amount = EVENTS[step]`` needs to know the trip. But most trips skip it: those between two
events are a loop, in which the condition is known to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from itertools import pairwise

from sdfgad.errors import SdfgadError
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.control import ChoicePoint
from sdfgad.parse.frame import Frame
from sdfgad.parse.loop_attempts import first_trip
from sdfgad.parse.loop_heads import Head
from sdfgad.parse.ranges import Range

MOST_PARTS = 64
# Loops of fewer trips are written out: parts that have so few in the mean are not worth the attempt.
FEW_IN_A_PART = 4
# A part of at most so many trips may be unrolled, as one in which lists are filled is.
MOST_UNROLLED = 8
# The trips at which a condition changes.
Changes = tuple[int, ...]


def split(frame: Frame, head: Head, changes: Set[Changes], parse: Callable[[Frame, Head], None]) -> bool:
    """Parse a loop as several ones; returns whether this succeeds.

    Args:
        changes: the trips at which conditions on its counter change.
        parse: parses a loop, that over a part of the trips.
    """
    span = head.span
    if span is None or span.period > 1 or not head.is_counted or not span.trips.is_const:
        return False
    starts = _starts(changes, span.trips.const)
    if not starts:
        return False
    point, before = ChoicePoint.of(frame), frame.b.is_in_part
    try:
        for first, end in pairwise([0, *starts, span.trips.const]):
            frame.b.is_in_part = True
            part = replace(head, span=_part(span, first, end), must_stay_loop=end - first > MOST_UNROLLED)
            # The other parts read what the whole loop does.
            with frame.repeating(head.node):
                first_trip(frame, part) if end - first == 1 else parse(frame, part)
        return True
    except (NeedsConstant, SdfgadError):
        point.backtrack(frame)
        return False
    finally:
        frame.b.is_in_part = before


def _starts(changes: Set[Changes], trips: int) -> list[int]:
    """The trips at which to split a loop: those of the conditions that change seldom."""
    starts, most = set[int](), min(MOST_PARTS, trips // FEW_IN_A_PART) - 1
    for own in sorted(changes, key=len):
        more = starts.union(own)
        starts = more if len(more) <= most else starts
    return sorted(starts)


def _part(span: Range, first: int, end: int) -> Range:
    return Range(span.start + span.step * first, span.start + span.step * end, span.step)
