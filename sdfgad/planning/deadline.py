"""Time limit of planning: how much time is left, and whether the lack of it may have changed the result."""

from __future__ import annotations

import time
from dataclasses import replace

from sdfgad.planning.layout import Layout

# The most of its time that the solver is given for one answer, and the least, so that it says something.
SHARE_OF_TIME, LEAST_SECONDS = 0.4, 0.1
CUT = "time limit"


class Deadline:
    """A time limit that begins to run when it is constructed.

    Attributes:
        was_short: whether the time limit caused something to be skipped or given up.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.end = seconds, time.perf_counter() + seconds
        self.was_short = False
        self._until = self.end

    @property
    def is_over(self) -> bool:
        """Whether the time is over; then `was_short` is set, as the caller will skip its next step."""
        is_over = time.perf_counter() > self.end
        self.was_short |= is_over
        return is_over

    def for_one_answer(self) -> float:
        """The time limit in seconds for one call of the solver."""
        now = time.perf_counter()
        seconds = min(max(LEAST_SECONDS, self.end - now), SHARE_OF_TIME * self.seconds)
        self._until = now + seconds
        return seconds

    def answered(self, status: str | None) -> None:
        """Records how the last call of the solver ended; None: it found nothing."""
        is_late = time.perf_counter() >= self._until
        self.was_short |= status == CUT or (status is None and is_late)

    def marked(self, layout: Layout) -> Layout:
        """The layout, not marked as optimal if time was too short to look for a better one."""
        return replace(layout, status=CUT, gap=None) if self.was_short and layout.status != CUT else layout
