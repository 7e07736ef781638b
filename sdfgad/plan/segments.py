"""Checkpointing parameters of a loop: the length of a segment, and the number of slots for states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sdfgad.plan.revolve import forward_schedule, replays, reverse_schedule

# The table of a schedule is read row by row; more rows than this are not worth their memory.
MOST_UNITS = 2048


@dataclass(frozen=True)
class Segments:
    """A loop of `trips` in segments of `length`, checkpointed binomially with `slots` states."""

    trips: int
    length: int
    slots: int

    def __str__(self) -> str:
        if self.slots >= self.units:
            return f"a state every {self.length} trips" if self.length > 1 else "the state of every trip"
        kind = f", segments of {self.length}" if self.length > 1 else ""
        return f"{self.slots} states by binomial checkpointing{kind}"

    def for_trips(self, trips: int) -> Segments:
        """The same for another number of trips: as many slots, or one for each segment if there was one for each."""
        length = min(self.length, max(trips, 1))
        units = max(-(-trips // length), 1)
        return Segments(trips, length, units if self.slots >= self.units else min(self.slots, units))

    @cached_property
    def units(self) -> int:
        return -(-self.trips // self.length)

    @cached_property
    def replays(self) -> int:
        """How many segments the reverse sweep runs without taping, besides each segment once with taping."""
        return replays(self.units, self.slots)

    @property
    def copies(self) -> int:
        """An estimate of how often a state is stored or loaded."""
        return 2 * self.units + min(self.units, self.replays) + self.slots

    @property
    def table_bytes(self) -> int:
        """At most the bytes of the tables: a row for each state that is kept and for each segment that is reversed."""
        stored_in_reverse = 0 if self.slots == 1 or self.slots >= self.units else self.units
        return 24 * (self.slots + 1) + 40 * (self.units + stored_in_reverse)

    def forward(self) -> np.ndarray:
        """Rows (keep, start, end) in trips; see `sdfgad.gradient.checkpoints`."""
        rows = np.array(forward_schedule(self.units, self.slots), dtype=np.int64).reshape(-1, 3)
        rows[:, 1:] = np.minimum(rows[:, 1:] * self.length, self.trips)
        return rows

    def reverse(self) -> np.ndarray:
        """Rows (load, start, middle, keep, end) in trips."""
        rows = np.array(reverse_schedule(self.units, self.slots), dtype=np.int64).reshape(-1, 5)
        rows[:, 4] += rows[:, 2]
        for column in (1, 2, 4):
            rows[:, column] = np.minimum(rows[:, column] * self.length, self.trips)
        return rows


@lru_cache(maxsize=1024)
def segmentations(trips: int) -> tuple[Segments, ...]:
    """A small set of parameters, from few bytes and much work to many bytes and little work."""
    found: list[Segments] = []
    for length in _spread(trips, 2.0) if trips else ():
        units = -(-trips // length)
        if units <= MOST_UNITS:
            found += [Segments(trips, length, slots) for slots in _spread(units, 1.3)]
    return tuple(found)


def _spread(largest: int, factor: float) -> list[int]:
    """Numbers from 1 to `largest`, each at most `factor` times the one before, or one more."""
    numbers, value = {1, largest}, 1.0
    while value < largest:
        numbers.add(int(value))
        value = max(value * factor, value + 1)
    return sorted(numbers)
