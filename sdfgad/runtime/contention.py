"""Oversubscription control: halves the number of OpenMP threads while threads wait for busy processors.

A parallel loop ends with a barrier. Where another process occupies the processor of one thread, all threads wait at the
barrier, and two threads are slower than one. Linux records for each thread how long it was runnable but not running
(``/proc/self/task/*/schedstat``); unlike the machine's load average, this is correct in containers, too. Results do not
depend on the number of threads, so it may change between calls.
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

# Where one of these is set, the user has chosen the number of threads, and it stays.
USER_SETTINGS = ("OMP_NUM_THREADS", "OMP_DYNAMIC")
# The time between samples: at least so many seconds, and so many times as long as a sample takes.
SAMPLE_SECONDS, SAMPLE_COST = 0.25, 200
# A sample is evaluated once threads have run or waited for so many nanoseconds since the last one.
LEAST_NANOSECONDS = 20_000_000
# There are too many threads if they wait for more than this part of the time in which they are runnable: two threads,
# one of which shares its processor with another process, wait for a third of it. Bursts below 60 ms wait for less.
MOST_WAITING = 0.25
# Exponential backoff: seconds without waiting after which the number is doubled, at first and at most.
SHORTEST_CALM, LONGEST_CALM = 0.5, 8.0


class Times(NamedTuple):
    """Scheduler statistics of a thread since its start, in nanoseconds: on a processor, and runnable but waiting."""

    ran: int
    waited: int


def thread_times() -> dict[str, Times]:
    """Thread id -> times, of this process; empty where the system has no such statistics."""
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
    """The number of times that the number of threads is halved, common to all calls of the process.

    It rises while threads wait, and falls after a time without waiting. If threads then wait at once, the next such
    time is twice as long (exponential backoff): whether a processor is free for more threads, only a trial shows.
    """

    def __init__(
        self,
        times: Callable[[], Mapping[str, Times]] = thread_times,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._times, self._clock = times, clock
        self._most_halvings = (os.cpu_count() or 1).bit_length() - 1
        self.reset()

    def reset(self) -> None:
        """Reset the state, in a child process after a fork: its threads and locks are not those of the parent."""
        self._sampling = threading.Lock()
        self._halvings, self._calm = 0, SHORTEST_CALM
        self._since = self._next = self._clock()
        self._tried = -math.inf
        self._last: Mapping[str, Times] = self._times()

    def halvings(self) -> int:
        """The current number of halvings; takes a sample if one is due."""
        if self._clock() >= self._next and self._sampling.acquire(blocking=False):
            try:
                self._sample()
            finally:
                self._sampling.release()
        return self._halvings

    def _sample(self) -> None:
        start = self._clock()
        times = self._times()
        now = self._clock()
        self._next = now + max(SAMPLE_SECONDS, SAMPLE_COST * (now - start))
        since = [(t, self._last.get(number, Times(0, 0))) for number, t in times.items()]
        ran, waited = (sum(max(t[k] - last[k], 0) for t, last in since) for k in (0, 1))
        if ran + waited >= LEAST_NANOSECONDS:
            self._last = times
            self._adjust(now, waited > MOST_WAITING * (ran + waited))

    def _adjust(self, now: float, is_waiting: bool) -> None:
        if is_waiting:
            if self._halvings < self._most_halvings:
                # A trial with more threads has just failed?
                trial_failed = now - self._tried < SHORTEST_CALM
                self._calm = min(2 * self._calm, LONGEST_CALM) if trial_failed else SHORTEST_CALM
                self._halvings += 1
            self._since = now
        elif self._halvings and now - self._since > self._calm:
            self._halvings -= 1
            self._since = self._tried = now


class Team:
    """The size of the OpenMP thread team of a library's parallel loops, for each calling thread."""

    def __init__(self, shared: ctypes.CDLL) -> None:
        # A library without parallel loops is not linked with OpenMP.
        self._is_fixed = not hasattr(shared, "omp_get_max_threads") or any(name in os.environ for name in USER_SETTINGS)
        if not self._is_fixed:
            self._count, self._processors = shared.omp_get_max_threads, shared.omp_get_num_procs
            self._set = shared.omp_set_num_threads
            self._set.restype = None

    def halve(self) -> int:
        """Reduce the team if there is contention; returns the previous size for `restore`, 0 if nothing changed."""
        halvings = 0 if self._is_fixed else CONTENTION.halvings()
        if not halvings:
            return 0
        count = int(self._count())
        # Not the default: the user has set it by a call.
        if count != self._processors():
            return 0
        self._set(max(count >> halvings, 1))
        return count

    def restore(self, count: int) -> None:
        """Set the size that `halve` returned; 0 changes nothing."""
        if count:
            self._set(count)


CONTENTION = Contention()
os.register_at_fork(after_in_child=CONTENTION.reset)
