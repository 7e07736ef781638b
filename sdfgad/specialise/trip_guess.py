"""Speculative tape sizes: where a trip count depends on data, the tape gets as many slots as earlier calls needed.

To count the trips takes a program of its own, and a run of it. So a first call is run with few slots; the compiled
program stops where there are too few, and the call is repeated with several times as many. A later call has as many as
earlier ones needed, which is mostly enough. Trips are counted only where so many slots are too much for the memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

from sdfgad.errors import OutOfMemory, TooFewSlots
from sdfgad.gradient.counting import counts_in
from sdfgad.ir.program import Program

# Numbers of trips that are data, by name (`sdfgad.gradient.counting`).
Trips = Mapping[str, int]

# So many calls of different integers are remembered.
MOST_KEYS = 256
# The slots that a first call starts with, and how many times as many it is repeated with.
FIRST, GROWTH = 32, 4
# Once a guess was too small, the next call's is larger than the trips by this part.
SLACK = 8
# One that was more than a third too large so many times in a row is dropped: calls may be long and short in turn.
MOST_WASTE, PATIENCE = 3, 8


class TripGuess:
    """Runs calls with guessed numbers of slots, and learns from each call."""

    def __init__(self) -> None:
        self._guesses: dict[Hashable, Trips] = {}
        self._wasteful: Counter[Hashable] = Counter()

    def run(
        self, key: Hashable, loops: Collection[str], run: Callable[[Trips], Trips], count: Callable[[], Trips]
    ) -> None:
        """Runs a call.

        Args:
            key: calls with the same key are expected to make about as many trips.
            loops: the names of the numbers of trips.
            run: runs the call with slots for so many trips, and returns how many it made.
            count: counts the trips of the call.
        """
        guess = self._guesses.get(key)
        made = self._grown(dict.fromkeys(loops, FIRST) if guess is None else guess, run, count)
        if len(self._guesses) >= MOST_KEYS:
            self._guesses.clear()
        self._guesses[key] = self._next(key, made if guess is None else guess, made)

    def _grown(self, guess: Trips, run: Callable[[Trips], Trips], count: Callable[[], Trips]) -> Trips:
        """The trips of a call that is run with more and more slots until they are enough."""
        while True:
            try:
                return run(guess)
            except TooFewSlots:
                guess = {loop: GROWTH * max(slots, 1) for loop, slots in guess.items()}
            except OutOfMemory:
                return self.run_counted(run, count)

    def _next(self, key: Hashable, guess: Trips, made: Trips) -> Trips:
        """The next guess, after a call with this guess that made these numbers of trips."""
        is_wasteful = any(guess[loop] > trips + trips // MOST_WASTE + 1 for loop, trips in made.items())
        self._wasteful[key] = self._wasteful[key] + 1 if is_wasteful else 0
        if self._wasteful[key] >= PATIENCE:
            self._wasteful[key] = 0
            return {loop: min(guess[loop], _with_slack(trips)) for loop, trips in made.items()}
        return {loop: guess[loop] if trips <= guess[loop] else _with_slack(trips) for loop, trips in made.items()}

    @staticmethod
    def run_counted(run: Callable[[Trips], Trips], count: Callable[[], Trips]) -> Trips:
        """Runs a call with counted trips instead of a guess, and returns how many trips it made."""
        trips = count()
        while True:
            try:
                return run(trips)
            except TooFewSlots:
                # What decides may be rounded otherwise where it is computed beside other things.
                trips = {loop: 2 * number + 1 for loop, number in trips.items()}


def _with_slack(trips: int) -> int:
    return trips + trips // SLACK + 1


def made_within(counted: Trips, program: Program, arrays: Mapping[str, Any]) -> Trips:
    """The numbers of trips that are data, by name, from the outputs of a program that ran with tables for these.

    Raises:
        TooFewSlots: they are more than have been counted.
    """
    made = counts_in(program.outputs, arrays)
    if any(number > counted[name] for name, number in made.items()):
        raise TooFewSlots("the forward sweep has made more trips than had been counted")
    return made
