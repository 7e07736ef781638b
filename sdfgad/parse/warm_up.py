"""Loop peeling of a warm-up: the first trips, in which lists and dicts get the keys and lengths that they keep then.

``log.setdefault("t", []).append(t)``; or ``h.append(f); if len(h) > 3: h.pop(0)``, as multistep methods have it.
"""

from __future__ import annotations

from collections.abc import Callable

from sdfgad.errors import SdfgadError
from sdfgad.ir.expr import Lin
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.containers import Grown, ItemsMoved
from sdfgad.parse.frame import Frame
from sdfgad.parse.loop_attempts import first_trip
from sdfgad.parse.loop_heads import Head

MOST_TRIPS = 8
# Shorter loops are written out.
MANY_TRIPS = 12
# Within each other, each multiplies what there is to parse.
MOST_NESTED = 2


def is_warm_up(reason: Exception) -> bool:
    """Whether a loop fails since a trip gives a list or dict other keys or lengths, as its first trips alone may."""
    return isinstance(reason, (Grown, ItemsMoved))


def warmed_up(frame: Frame, head: Head, reason_against: Callable[[Head], Exception | None]) -> bool:
    """Parse the first trips one by one, and the others as a loop; returns whether this succeeds.

    Args:
        reason_against: parses a loop as one, or says why it is none.
    """
    b, span = frame.b, head.span
    is_long = span is None or (span.trips.is_const and span.trips.const >= MANY_TRIPS)
    if not is_long or b.warm_ups == MOST_NESTED:
        return False
    point, found = ChoicePoint.of(frame), dict(b.logs.found)
    b.warm_ups += 1
    try:
        for _ in range(MOST_TRIPS):
            if head.test(frame, Lin(0)) is not True:
                break
            first_trip(frame, head)
            head, behind = head.rest(), ChoicePoint.of(frame)
            reason = reason_against(head)
            if reason is None:
                return True
            if not is_warm_up(reason):
                break
            behind.backtrack(frame)
    except (NeedsConstant, SdfgadError):
        pass
    finally:
        b.warm_ups -= 1
    point.backtrack(frame)
    b.logs.found = found
    return False
