"""Loop peeling of a warm-up: the first trips, in which lists and dicts get the keys and lengths that they keep then.

``log.setdefault("t", []).append(t)``; or ``h.append(f); if len(h) > 3: h.pop(0)``, as multistep methods have it.
"""

from __future__ import annotations

from collections.abc import Callable

from sdfgad.errors import SdfgadError
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.containers import Grown, ItemsMoved
from sdfgad.parse.control import ChoicePoint
from sdfgad.parse.frame import Frame
from sdfgad.parse.loop_attempts import first_trip
from sdfgad.parse.loop_heads import Head

MOST_TRIPS = 4
# Shorter loops are written out.
MANY_TRIPS = 12


def is_warm_up(reason: Exception) -> bool:
    """Whether a loop fails since a trip gives a list or dict other keys or lengths, as its first trips alone may."""
    return isinstance(reason, (Grown, ItemsMoved))


def warmed_up(frame: Frame, head: Head, reason_against: Callable[[Head], Exception | None]) -> bool:
    """Parse the first trips one by one, and the others as a loop; returns whether this succeeds.

    Args:
        reason_against: parses a loop as one, or says why it is none.
    """
    b, span = frame.b, head.span
    is_long = span is not None and head.is_counted and span.trips.is_const and span.trips.const >= MANY_TRIPS
    if not is_long or b.is_warming_up:
        return False
    point, b.is_warming_up = ChoicePoint.of(frame), True
    try:
        for _ in range(MOST_TRIPS):
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
        b.is_warming_up = False
    point.backtrack(frame)
    return False
