"""The planning problem (store or recompute) in plain integers: bytes, nanoseconds, and steps in order.

The forward sweep runs steps 0, 1, …, n-1, then the reverse sweep runs their adjoints n-1, …, 0: the program points are
``forward 0 … forward n-1, reverse n-1 … reverse 0``. Nothing here knows of programs, of DaCe or of a solver.
"""

from __future__ import annotations

from dataclasses import dataclass

NOBODY = -1


@dataclass(frozen=True)
class Mode:
    """One way to run a step: a loop with some of its states kept, for example.

    Attributes:
        label: for people.
        kept: bytes held from the step's forward point to its reverse point, both included, besides tapes.
        transient: bytes held at the step's reverse point only, besides tapes.
        work: nanoseconds in addition to running it once.
    """

    label: str
    kept: int = 0
    transient: int = 0
    work: int = 0


@dataclass(frozen=True)
class Step:
    """One step: the bytes held at its two points whatever is decided, and its modes, at least one."""

    forward: int
    reverse: int
    modes: tuple[Mode, ...] = (Mode("store"),)


@dataclass(frozen=True)
class Value:
    """A value that the forward sweep computes once and the reverse sweep may read; it can be stored, or recomputed.

    It is held from forward point `computed` to forward point `used`. If stored, it is held on to the last (lowest)
    reverse point that needs it. If recomputed, it is held from the first (highest) reverse point that needs it to the
    last. It is needed at the points `needs`, and where a value is recomputed of which it is an input.

    Attributes:
        name: for people.
        bytes: its size.
        computed, used: the forward points at which it is computed, and last used.
        needs: the reverse points that read it.
        work: nanoseconds to recompute it.
        inputs: the values that are needed to recompute it.
        latest: the highest reverse point at which it can be recomputed; -1 if it cannot.
    """

    name: str
    bytes: int
    computed: int
    used: int
    needs: tuple[int, ...]
    work: int
    inputs: tuple[int, ...] = ()
    latest: int = -1


@dataclass(frozen=True)
class Inner:
    """A value that every trip of a loop computes; the reversal of the trip may recompute it instead of reading a tape.

    Attributes:
        name: for people.
        step: the step that contains the loop.
        work: nanoseconds to recompute it in all trips.
    """

    name: str
    step: int
    work: int


@dataclass(frozen=True)
class Tape:
    """A tape: values that a step overwrites, saved until its reverse point if anything needs them.

    Attributes:
        name: for people.
        step: the step that fills it at its forward point and empties it at its reverse point.
        kept: for each mode of the step: bytes held from the forward to the reverse point, both included.
        transient: for each mode of the step: bytes held at the reverse point only.
        work: for each mode of the step: nanoseconds to write and to read it.
        asked: who needs it: pairs (reader, read) of positions in `Problem.inner`, or NOBODY. A pair needs the tape
            unless `read` is recomputed (then there is a copy of it), or `reader` is not recomputed (then it reads
            nothing). An adjoint is a reader that always reads: NOBODY.
    """

    name: str
    step: int
    kept: tuple[int, ...]
    transient: tuple[int, ...]
    work: tuple[int, ...]
    asked: tuple[tuple[int, int], ...] = ((NOBODY, NOBODY),)


@dataclass(frozen=True)
class Problem:
    """The planning problem.

    Attributes:
        conflicts: pairs of positions in `inner` that cannot both be recomputed.
        fixed_values, fixed_inner: position -> whether it must be recomputed, or must not, as the user wants it.
    """

    steps: tuple[Step, ...]
    values: tuple[Value, ...] = ()
    inner: tuple[Inner, ...] = ()
    tapes: tuple[Tape, ...] = ()
    conflicts: tuple[tuple[int, int], ...] = ()
    fixed_values: tuple[tuple[int, bool], ...] = ()
    fixed_inner: tuple[tuple[int, bool], ...] = ()


@dataclass(frozen=True)
class Solution:
    """A decision: the values and inner values that are recomputed, and the mode of each step, by position."""

    modes: tuple[int, ...]
    values: frozenset[int] = frozenset()
    inner: frozenset[int] = frozenset()
