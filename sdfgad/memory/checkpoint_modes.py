"""Checkpointing modes of a statement: which states of its loops are kept, and what that costs in bytes and time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sdfgad.memory.cost import Cost
from sdfgad.plan.segments import Segments, segmentations
from sdfgad.reverse.save_points import Key

# Nanoseconds are predicted to a factor of two or so: predicted work of recomputation is increased by this factor.
CAUTION = 1.25
MOST_MODES = 40

Choice = Mapping[int, Segments]


@dataclass
class CheckpointableLoop:
    """A loop that can be checkpointed.

    Attributes:
        around: the numbers of the loops around it, outermost first.
        trips, runs: how many trips a run of it has, and how often it is run.
        state: bytes of one state.
        body: nanoseconds of one trip of the forward sweep.
        logged: bytes of what is logged of messages in it.
        needs: the loops that must be checkpointed, too, as their numbers of trips are data.
    """

    number: int
    around: tuple[int, ...]
    trips: int
    runs: int
    state: int
    body: float
    logged: int = 0
    needs: frozenset[int] = frozenset()


@dataclass
class TapeSize:
    """The size of a tape.

    Attributes:
        key: of the residual.
        size: bytes for one trip of the loops around it.
        loops: the numbers of these loops, with their trip counts.
        box: the most bytes that one trip stores.
        most: the most trips of each of these loops.
        counted: a loop's number -> the most slots that one trip of it needs, where trips in it are data.
    """

    key: Key
    size: int
    loops: tuple[tuple[int, int], ...]
    box: int
    most: tuple[int, ...]
    counted: Mapping[int, int] = field(default_factory=dict)


def tape_bytes(tape: TapeSize, choice: Choice) -> tuple[int, int]:
    """The bytes of a tape that are held from the forward sweep on, and those held during the reversal only."""
    if not any(number in choice for number, _ in tape.loops):
        return tape.size * math.prod(trips for _, trips in tape.loops), 0
    inside = [(number, most) for (number, _), most in zip(tape.loops, tape.most, strict=True)]
    while any(number in choice for number, _ in inside[1:]):
        inside = inside[1:]
    around = inside[0][0]
    if around in tape.counted:
        return 0, tape.box * choice[around].length * tape.counted[around]
    return 0, tape.box * math.prod(choice[n].length if n in choice else most for n, most in inside)


def states_of(choice: Choice, loops: list[CheckpointableLoop], cost: Cost) -> tuple[int, int, float]:
    """The bytes of states held from the forward sweep on, those held during the reversal only, and the work."""
    kept = transient = 0
    work = 0.0
    for one in loops:
        if one.number not in choice:
            continue
        segments = choice[one.number]
        outer = [other for other in loops if other.number in one.around and other.number in choice]
        if outer:
            count = choice[outer[-1].number].length * max(one.runs // (outer[-1].runs * outer[-1].trips), 1)
            transient += segments.slots * one.state * count
        else:
            kept += segments.slots * one.state * one.runs + one.logged
        kept += segments.table_bytes
        replayed = segments.replays * segments.length + one.trips
        states = one.state * segments.slots
        work += one.runs * (replayed * one.body + cost.copying(segments.copies * one.state, states))
    return kept, transient, work * CAUTION


class _Tapes:
    """The tapes of one step, in groups by the loops around them: all of a group depend on the same segments."""

    def __init__(self, tapes: list[TapeSize]) -> None:
        self._groups: dict[tuple[int, ...], list[TapeSize]] = {}
        for tape in tapes:
            self._groups.setdefault(tuple(number for number, _ in tape.loops), []).append(tape)
        self._bytes: dict[tuple[tuple[int, ...], tuple[Segments | None, ...]], int] = {}

    def bytes(self, choice: Choice) -> int:
        return sum(self._of_group(numbers, choice) for numbers in self._groups)

    def _of_group(self, numbers: tuple[int, ...], choice: Choice) -> int:
        key = numbers, tuple(choice.get(number) for number in numbers)
        if key not in self._bytes:
            self._bytes[key] = sum(sum(tape_bytes(tape, choice)) for tape in self._groups[numbers])
        return self._bytes[key]


def choices_of(loops: list[CheckpointableLoop], tapes: list[TapeSize], cost: Cost) -> list[Choice]:
    """The Pareto-optimal ways to checkpoint the loops of one step, in bytes and work; a sample if they are many."""
    found: list[dict[int, Segments]] = [{}]
    held = _Tapes(tapes)
    for one in loops:
        options = segmentations(one.trips)
        bases = [choice for choice in found if one.needs <= choice.keys()]
        found = _best([*found, *({**c, one.number: s} for c in bases for s in options)], loops, held, cost)
    return list(found)


def _best(
    choices: list[dict[int, Segments]], loops: list[CheckpointableLoop], tapes: _Tapes, cost: Cost
) -> list[dict[int, Segments]]:
    """The choices that no other beats both in bytes and in work; the first one always."""
    rated: list[tuple[int, float, int]] = []
    for position, choice in enumerate(choices):
        kept, transient, work = states_of(choice, loops, cost)
        rated.append((kept + transient + tapes.bytes(choice), work, position))
    front: list[dict[int, Segments]] = []
    least = math.inf
    for _, work, position in sorted(rated):
        if work < least and position:
            front.append(choices[position])
        least = min(least, work)
    return [choices[0], *_thinned(front)]


def _thinned(front: list[dict[int, Segments]]) -> list[dict[int, Segments]]:
    """At most so many, evenly spread over sizes, the smallest and the largest among them."""
    if len(front) < MOST_MODES:
        return front
    positions = {round(k * (len(front) - 1) / (MOST_MODES - 2)) for k in range(MOST_MODES - 1)}
    return [front[p] for p in sorted(positions)]
