"""Binomial checkpointing (Revolve): schedules that reverse a loop of equal segments with few kept states.

Griewank and Walther, Algorithm 799: Revolve, ACM Transactions on Mathematical Software 26(1), 2000. With β(s, r) =
binomial(s + r, s), s slots reverse up to β(s, r) segments while no segment is advanced more than r times.

A segment is *advanced* when it runs without taping, and *reversed* when it runs with taping and its adjoint follows at
once. Revolve tapes the last segment on its first sweep. Here the rest of the program comes in between: the forward
sweep runs all segments to the end. So the rest of the program takes the part of one more segment after the last, and
the schedules here are Revolve's for ``units + 1`` segments, cut in two where it would reverse that one. Hence, exactly,
and no schedule of this kind advances less::

    advances in forward_schedule(units, slots) = units
    advances in reverse_schedule(units, slots) = replays(units, slots) = advances(units + 1, slots) - units

Among those with the fewest advances, the schedules have the fewest saves. No slot from min(slots, units) on is used.
"""

from __future__ import annotations

import functools
import math

import numpy as np

Row = tuple[int, int, int, int, int]


@functools.lru_cache(maxsize=4096)
def advances(units: int, slots: int) -> int:
    """The least number of advances that reverse `units` segments with `slots` kept states, the first one included.

    Revolve's count: its first sweep goes up to the last segment, which is taped there. With r the least integer such
    that β(slots, r) ≥ units, it is r·units - binomial(slots + r, r - 1) (Griewank and Walther 2000).

    Raises:
        ValueError: `units` is negative or `slots` is not positive.
    """
    _check(units, slots)
    repeats = _repeats(units, slots)
    return repeats * units - math.comb(slots + repeats, repeats - 1) if repeats else 0


def replays(units: int, slots: int) -> int:
    """How many advances the reverse sweep does; it runs each segment once more than that, with taping.

    Raises:
        ValueError: `units` is negative or `slots` is not positive.
    """
    _check(units, slots)
    return advances(units + 1, slots) - units


def forward_schedule(units: int, slots: int) -> np.ndarray:
    """The forward sweep: which states are kept while all segments run.

    Returns:
        A read-only int64 table with a line ``(slot, start, end)`` for each kept state, in order: keep the current
        state, which is that at the start of segment `start`, in slot `slot`; then advance segments start, …, end-1.
        Lines follow on each other: the first starts at 0 in slot 0, the last ends at `units`. Without segments there
        are no lines.

    Raises:
        ValueError: `units` is negative or `slots` is not positive.
    """
    _check(units, slots)
    return _tables(units, min(slots, max(units, 1)))[0]


def reverse_schedule(units: int, slots: int) -> np.ndarray:
    """The reverse sweep, from the states that `forward_schedule` kept.

    Returns:
        A read-only int64 table with lines ``(load, start, end, keep, reverse)``, each meaning, in this order:

        1. If load ≥ 0, load the state in slot `load`. Either way the current state is now the one at the start of
           segment `start`; load is -1 where the line before ended there.
        2. Advance segments start, …, end-1; often there are none.
        3. If keep ≥ 0, keep the current state, the one at the start of segment `end`, in slot `keep`.
        4. If reverse = 1, run segment `end` with taping and reverse it; what state is current afterwards is not used.

        Each line does exactly one of 3 and 4. `reverse` is 1 on one line for each segment, in descending order.

    Raises:
        ValueError: `units` is negative or `slots` is not positive.
    """
    _check(units, slots)
    return _tables(units, min(slots, max(units, 1)))[1]


def _check(units: int, slots: int) -> None:
    if units < 0 or slots < 1:
        raise ValueError(f"no schedule for {units} segments with {slots} kept states")


def _beta(slots: int, repeats: int) -> int:
    return math.comb(slots + repeats, slots) if slots >= 0 and repeats >= 0 else 0


@functools.lru_cache(maxsize=65536)
def _repeats(units: int, slots: int) -> int:
    """The least r with β(slots, r) ≥ units."""
    if slots == 1:
        return max(units - 1, 0)
    repeats, reach = 0, 1
    while reach < units:
        repeats += 1
        reach = reach * (slots + repeats) // repeats
    return repeats


@functools.lru_cache(maxsize=65536)
def _first_part(units: int, slots: int) -> int:
    """How far to advance before the next state is kept, with the state at the start kept in one of the `slots`.

    Any length with β(slots, r-2) ≤ length ≤ β(slots, r-1) and β(slots-1, r-1) ≤ units - length ≤ β(slots-1, r) leads
    to the fewest advances; this one, the rule of the article in one formula, also to the fewest saves.
    """
    if units == 1:
        return 0
    repeats = _repeats(units, slots)
    balanced = units - _beta(slots - 1, repeats - 1) - _beta(slots - 2, repeats - 1)
    return min(max(balanced, _beta(slots, repeats - 2), 1), _beta(slots, repeats - 1))


def _rows(units: int, slots: int) -> list[Row]:
    """Revolve's whole schedule, with lines as in `reverse_schedule`; the state at the start is in slot 0 already."""
    rows: list[Row] = []
    pending = [(0, units, 0, -1)]  # First segment, number of segments, slot of its state, slot to load or -1.
    while pending:
        start, count, slot, load = pending.pop()
        part = _first_part(count, slots - slot)
        middle = start + part
        if part:
            pending.append((start, part, slot, slot))
        if part == count - 1:
            rows.append((load, start, middle, -1, 1))
        else:
            rows.append((load, start, middle, slot + 1, 0))
            pending.append((middle, count - part, slot + 1, -1))
    return rows


@functools.lru_cache(maxsize=64)
def _tables(units: int, slots: int) -> tuple[np.ndarray, np.ndarray]:
    rows = _rows(units + 1, slots) if units else []
    cut = next((i + 1 for i, row in enumerate(rows) if row[4]), 0)
    kept = [0, *(row[3] for row in rows[: max(cut - 1, 0)])]
    forward = [(slot, row[1], row[2]) for slot, row in zip(kept, rows[:cut], strict=False)]
    return _table(forward, 3), _table(rows[cut:], 5)


def _table(rows: list[Row] | list[tuple[int, int, int]], columns: int) -> np.ndarray:
    table = np.array(rows, dtype=np.int64).reshape(-1, columns)
    table.flags.writeable = False
    return table
