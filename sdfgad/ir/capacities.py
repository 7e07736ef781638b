"""Capacities: how many slots the tapes of a loop have, where its trips are data and the number is a constant."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from sdfgad.errors import SdfgadError
from sdfgad.ir.program import Check

# How many slots a tape has before a call has needed more, and by what part more than these it gets then.
FIRST, SLACK = 64, 4
_learned: dict[Hashable, int] = {}


def capacity_of(key: Hashable) -> int:
    """The number of slots that the tapes of a loop have at present."""
    return _learned.get(key, FIRST)


class Outgrown(Exception):
    """A loop has made more trips than its tapes have slots; internal, the call is repeated with more of them."""

    def __init__(self, key: Hashable, trips: int) -> None:
        super().__init__(f"{key} has made {trips} trips")
        self.key, self.trips = key, trips

    def learn(self) -> None:
        """Lets programs that are parsed from now on have as many slots."""
        _learned[self.key] = max(capacity_of(self.key), self.trips + self.trips // SLACK)


@dataclass(frozen=True)
class Capacity(Check):
    """The check of the capacity of a loop's tapes; `trips` are those of a call that has exceeded it."""

    key: Hashable
    trips: int = 0

    def exceeded(self, trips: int) -> Capacity:
        """The check after a call that made these trips."""
        return replace(self, trips=trips)

    def failure(self) -> SdfgadError:
        """Raises: Outgrown."""
        raise Outgrown(self.key, self.trips)
