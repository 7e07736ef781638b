"""The planning problem in plain integers: bytes, nanoseconds, and steps in order.

The forward sweep runs steps 0, 1, …, n-1, then the reverse sweep runs their adjoints n-1, …, 0: the program points are
``forward 0 … forward n-1, reverse n-1 … reverse 0``. Nothing here knows of programs, of DaCe or of a solver.
"""

from __future__ import annotations

from dataclasses import dataclass

NOBODY = -1


@dataclass(frozen=True)
class Mode:
    """One way to run a step, such as a loop with some of its states kept.

    Attributes:
        label: for people.
        kept: bytes held from the step's forward point to its reverse point, both included, besides tapes.
        transient: bytes held at the step's reverse point only, besides tapes.
        work: nanoseconds more than running it once.
    """

    label: str
    kept: int = 0
    transient: int = 0
    work: int = 0


@dataclass(frozen=True)
class Step:
    """One step: the bytes that are held at its two points whatever is decided, and its modes, at least one."""

    forward: int
    reverse: int
    modes: tuple[Mode, ...] = (Mode("store"),)


@dataclass(frozen=True)
class Value:
    """What the forward sweep makes once and the reverse sweep may read; it can be kept, or made again.

    It is held from forward point `made` to forward point `used`. Kept, it is held on to the last (lowest) reverse
    point where it is needed. Made again, it is held from the first (highest) reverse point where it is needed to the
    last. It is needed at the points `needs`, and where a value is made again of which it is an input.

    Attributes:
        name: for people.
        bytes: its size.
        made, used: the forward points at which it is made, and last used.
        needs: the reverse points that read it.
        work: nanoseconds to make it again.
        inputs: the values that are needed to make it again.
        latest: the highest reverse point at which it can be made again; -1 if it cannot.
    """

    name: str
    bytes: int
    made: int
    used: int
    needs: tuple[int, ...]
    work: int
    inputs: tuple[int, ...] = ()
    latest: int = -1


@dataclass(frozen=True)
class Inner:
    """What every trip of a loop makes anew, and the reverse of that trip may make again instead of reading a tape.

    Attributes:
        name: for people.
        step: the step that contains the loop.
        work: nanoseconds to make it again in all trips.
    """

    name: str
    step: int
    work: int


@dataclass(frozen=True)
class Tape:
    """Values that a step overwrites, kept until its reverse point: needed while anything asks for them.

    Attributes:
        name: for people.
        step: the step that fills it at its forward point and empties it at its reverse point.
        kept: for each mode of the step: bytes held from the forward to the reverse point, both included.
        transient: for each mode of the step: bytes held at the reverse point only.
        work: for each mode of the step: nanoseconds to write and to read it.
        asked: pairs (reader, read) of positions in `Problem.inner`, or NOBODY. The pair asks for the tape unless
            `read` is made again (it then has a copy of its own), or `reader` is not made again (it then reads
            nothing). An adjoint is a reader that is always there: NOBODY.
    """

    name: str
    step: int
    kept: tuple[int, ...]
    transient: tuple[int, ...]
    work: tuple[int, ...]
    asked: tuple[tuple[int, int], ...] = ((NOBODY, NOBODY),)


@dataclass(frozen=True)
class Problem:
    """What there is to decide.

    Attributes:
        conflicts: pairs of positions in `inner` that cannot both be made again.
        fixed_values, fixed_inner: position -> whether it is to be made again, as the user wants it.
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
    """What is decided: the values and inner values that are made again, and the mode of each step, by position."""

    modes: tuple[int, ...]
    values: frozenset[int] = frozenset()
    inner: frozenset[int] = frozenset()
