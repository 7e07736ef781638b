"""Garbage collection, at longer intervals while programs are analysed.

Parsing, planning and lowering make millions of small objects, nearly all of which live on or are freed by their
counts. Python's collector of cycles would look through all of them again and again, for a third of the time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made, less those freed, between two collections; by default 700.
INTERVAL = 100_000


class _Interval:
    """The collector's threshold, which several threads may raise at a time."""

    def __init__(self) -> None:
        self.lock, self.users = threading.Lock(), 0
        self.before = self.raised = gc.get_threshold()

    def rise(self) -> None:
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.before = first, second, third = gc.get_threshold()
                # 0: whoever set it wants no collections at all.
                self.raised = max(first, INTERVAL) if first else 0, second, third
                gc.set_threshold(*self.raised)

    def fall(self) -> None:
        with self.lock:
            self.users -= 1
            # What someone else has set in the meantime stays.
            if self.users == 0 and gc.get_threshold() == self.raised:
                gc.set_threshold(*self.before)


_interval = _Interval()


@contextmanager
def collected_rarely() -> Iterator[None]:
    """A block, or as a decorator a function, in which garbage is collected at longer intervals."""
    _interval.rise()
    try:
        yield
    finally:
        _interval.fall()
