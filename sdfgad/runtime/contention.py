"""Contention for processors: calls take fewer threads while threads wait for processors that others have.

A loop's threads meet at its end. Where another process has the processor of one of them, all wait until it has been
given back, and two threads take longer than one. How long a thread that could run was kept waiting is what Linux writes
down for each; unlike the load of the machine that is true in containers, too. Results do not depend on how many threads
there are, so their number may change between calls.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

# Who sets one of these has decided.
DECIDED = ("OMP_NUM_THREADS", "OMP_DYNAMIC")
# Seconds from one look to the next, and at least so many times what a look takes.
INTERVAL, DEAREST = 0.25, 200
# A look tells nothing where threads ran and waited for less than so many nanoseconds since the last one.
LEAST = 20_000_000
# Threads that wait for more than this part of the time in which they could run are too many: two, one of which shares
# its processor with another process, wait for a third. Bursts of less than 60 ms are less.
MOST_WAITING = 0.25
# Seconds without waiting after which more threads are tried: at first, and where that was no good again and again.
SHORTEST_CALM, LONGEST_CALM = 0.5, 8.0


class Times(NamedTuple):
    """What a thread has been doing ever since, in nanoseconds: it ran, or it could have run."""

    ran: int
    waited: int


def thread_times() -> dict[str, Times]:
    """The times of all threads of this process, by number; none where the system does not tell."""
    found: dict[str, Times] = {}
    folder = Path("/proc/self/task")
    for number in os.listdir(folder) if folder.exists() else ():
        try:
            ran, waited, _ = (folder / number / "schedstat").read_text().split()
        except (OSError, ValueError):
            continue  # It has ended, or the kernel was built without these statistics.
        found[number] = Times(int(ran), int(waited))
    return found


class Contention:
    """How often the number of threads is halved, for all calls of the process.

    It is halved while threads wait, and doubled again after a time of calm. Where they then wait at once, the next time
    of calm must be twice as long: where one thread has a processor for itself and two have not, only a trial tells.
    """

    def __init__(
        self,
        times: Callable[[], Mapping[str, Times]] = thread_times,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._times, self._clock = times, clock
        self._most = (os.cpu_count() or 1).bit_length() - 1
        self.begin()

    def begin(self) -> None:
        """Know nothing, as in a new process: a child has neither the threads nor those who were looking."""
        self._looking = threading.Lock()
        self._halvings, self._calm = 0, SHORTEST_CALM
        self._since = self._next = self._clock()
        self._tried = -math.inf
        self._last: Mapping[str, Times] = self._times()

    def halvings(self) -> int:
        """The number as of the last look, which was a moment ago."""
        if self._clock() >= self._next and self._looking.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._looking.release()
        return self._halvings

    def _look(self) -> None:
        start = self._clock()
        times = self._times()
        now = self._clock()
        self._next = now + max(INTERVAL, DEAREST * (now - start))
        since = [(t, self._last.get(number, Times(0, 0))) for number, t in times.items()]
        ran, waited = (sum(max(t[k] - last[k], 0) for t, last in since) for k in (0, 1))
        if ran + waited >= LEAST:
            self._last = times
            self._judge(now, waited > MOST_WAITING * (ran + waited))

    def _judge(self, now: float, is_waiting: bool) -> None:
        if is_waiting:
            if self._halvings < self._most:
                # More were tried, and are too many still?
                is_again = now - self._tried < SHORTEST_CALM
                self._calm = min(2 * self._calm, LONGEST_CALM) if is_again else SHORTEST_CALM
                self._halvings += 1
            self._since = now
        elif self._halvings and now - self._since > self._calm:
            self._halvings -= 1
            self._since = self._tried = now


class Team:
    """The threads of OpenMP that a library's loops take, in each thread that calls it."""

    def __init__(self, shared: ctypes.CDLL) -> None:
        # A library without parallel loops does without OpenMP.
        self._is_fixed = not hasattr(shared, "omp_get_max_threads") or any(name in os.environ for name in DECIDED)
        if not self._is_fixed:
            self._count, self._processors = shared.omp_get_max_threads, shared.omp_get_num_procs
            self._set = shared.omp_set_num_threads
            self._set.restype = None

    def halve(self) -> int:
        """Take fewer threads, if there are too many; returns how many there were, to be passed to `restore`."""
        halvings = 0 if self._is_fixed else CONTENTION.halvings()
        if not halvings:
            return 0
        count = int(self._count())
        # Another number than by default was set by someone.
        if count != self._processors():
            return 0
        self._set(max(count >> halvings, 1))
        return count

    def restore(self, count: int) -> None:
        """Take as many as before `halve`; 0 for as many as now."""
        if count:
            self._set(count)


CONTENTION = Contention()
os.register_at_fork(after_in_child=CONTENTION.begin)
