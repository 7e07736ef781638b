"""Deadlines: how long a plan may be looked for, and whether the time cut anything short, as the result depends on it
then.
"""

from __future__ import annotations

import time
from dataclasses import replace

from sdfgad.planning.layout import Layout

# The most of its time that the solver is given for one answer, and the least, so that it says something.
SHARE_OF_TIME, LEAST_SECONDS = 0.4, 0.1
CUT = "time limit"


class Deadline:
    """Starts when it is made.

    Attributes:
        was_short: whether something was left out, or given up, for want of time.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.end = seconds, time.perf_counter() + seconds
        self.was_short = False
        self._until = self.end

    @property
    def is_over(self) -> bool:
        """Whether the time is over. To ask is to leave out what would come next if it is."""
        is_over = time.perf_counter() > self.end
        self.was_short |= is_over
        return is_over

    def for_one_answer(self) -> float:
        """How many seconds the solver has for one question."""
        now = time.perf_counter()
        seconds = min(max(LEAST_SECONDS, self.end - now), SHARE_OF_TIME * self.seconds)
        self._until = now + seconds
        return seconds

    def answered(self, status: str | None) -> None:
        """Note how the last question to the solver ended; None: nothing was found, in time or at all."""
        is_late = time.perf_counter() >= self._until
        self.was_short |= status == CUT or (status is None and is_late)

    def told(self, layout: Layout) -> Layout:
        """The layout, which is not said to be the best if there was no time to look for a better one."""
        return replace(layout, status=CUT, gap=None) if self.was_short and layout.status != CUT else layout
