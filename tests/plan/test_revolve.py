"""Checkpointing schedules: run by an abstract machine, and compared with independently found optima."""

import functools
import heapq
import itertools
import time

import numpy as np
import pytest

from sdfgad.plan.revolve import advances, forward_schedule, replays, reverse_schedule

SIZES = [(1, 1), (1, 5), (2, 1), (7, 7), (7, 20), (8, 1), (1000, 3), (1000, 10), (1000, 50), (4096, 12), (300, 1)]
SMALL = [(units, slots) for units in range(1, 41) for slots in range(1, 11)]


class Machine:
    """Knows the current state (the segment that it is the start of, None after an adjoint) and the kept ones."""

    def __init__(self, slots):
        self.slots = slots
        self.current = 0
        self.kept = {}
        self.advanced = self.saved = 0
        self.reversed = []

    def keep(self, slot):
        assert 0 <= slot < self.slots
        assert self.current is not None
        self.kept[slot] = self.current
        self.saved += 1

    def load(self, slot):
        self.current = self.kept[slot]

    def advance(self, start, end):
        assert self.current == start <= end
        self.current = end
        self.advanced += end - start

    def reverse(self, segment):
        assert self.current == segment
        self.reversed.append(segment)
        self.current = None


def run(units, slots):
    """The machine after both sweeps, and the advances of each."""
    machine = Machine(slots)
    for slot, start, end in forward_schedule(units, slots).tolist():
        machine.keep(slot)
        machine.advance(start, end)
    assert machine.current == units
    forward, machine.current = machine.advanced, None
    for load, start, end, keep, reverse in reverse_schedule(units, slots).tolist():
        assert (keep >= 0) + reverse == 1
        if load >= 0:
            machine.load(load)
        machine.advance(start, end)
        if keep >= 0:
            machine.keep(keep)
        if reverse:
            machine.reverse(end)
    return machine, forward, machine.advanced - forward


@functools.cache
def split_optimum(units, slots):
    """Fewest advances, then fewest saves besides the first, by trying every place of the next kept state."""
    if units <= 1:
        return 0, 0
    if slots == 1:
        return units * (units - 1) // 2, 0
    return min(
        (
            part + split_optimum(part, slots)[0] + split_optimum(units - part, slots - 1)[0],
            split_optimum(part, slots)[1] + split_optimum(units - part, slots - 1)[1] + (units - part > 1),
        )
        for part in range(1, units)
    )


@functools.cache
def last_sweep_optimum(units, slots):
    """Fewest advances after a forward sweep that ran to the end, by trying every place of the first sweep's states."""
    if units == 0 or slots == 1:
        return split_optimum(units, slots)[0]
    parts = range(1, units + 1)
    return min(split_optimum(part, slots)[0] + last_sweep_optimum(units - part, slots - 1) for part in parts)


def searched_optimum(units, slots):
    """Fewest advances of any sequence of keeping, dropping, loading, advancing and reversing: a shortest path."""
    # Position; kept states; segments still to reverse, which are all until the end has been reached.
    first = (0, frozenset([0]), None)
    order = itertools.count()  # Nodes have none.
    queue, done = [(0, next(order), first)], set()
    while queue:
        cost, _, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        position, kept, left = node
        if left == 0:
            return cost
        steps = [(0, (state, kept, left)) for state in kept]
        steps += [(0, (position, kept - {state}, left)) for state in kept]
        if position is not None and len(kept) < slots:
            steps.append((0, (position, kept | {position}, left)))
        if position is not None and position < (units if left is None else left - 1):
            steps.append((1, (position + 1, kept, left)))
        if position == units and left is None:
            steps.append((0, (None, kept, units)))
        if left is not None and position == left - 1:
            steps.append((0, (None, kept, left - 1)))
        for price, following in steps:
            heapq.heappush(queue, (cost + price, next(order), following))
    raise AssertionError("no schedule")


@pytest.mark.parametrize(("units", "slots"), SIZES)
def test_schedules_run_and_cost_what_the_formula_says(units, slots):
    machine, forward, backward = run(units, slots)
    assert machine.reversed == list(range(units - 1, -1, -1))
    assert forward == units
    assert backward == replays(units, slots)
    assert forward + backward == advances(units + 1, slots)


def test_small_schedules_run_and_are_optimal():
    for units, slots in SMALL:
        machine, forward, backward = run(units, slots)
        assert machine.reversed == list(range(units - 1, -1, -1))
        assert (forward, backward) == (units, last_sweep_optimum(units, slots))
        assert (forward + backward, machine.saved - 1) == split_optimum(units + 1, slots)
        assert all(slot < min(slots, units) for slot in machine.kept)


def test_formula_is_the_optimum_over_splits():
    assert all(advances(units, slots) == split_optimum(units, slots)[0] for units, slots in SMALL)


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_no_other_sequence_of_actions_is_cheaper(slots):
    for units in range(1, 9):
        assert advances(units + 1, slots) == searched_optimum(units, slots)


def test_one_segment():
    assert advances(1, 1) == 0
    assert forward_schedule(1, 3).tolist() == [[0, 0, 1]]
    assert reverse_schedule(1, 3).tolist() == [[0, 0, 0, -1, 1]]


def test_no_segments():
    assert advances(0, 2) == replays(0, 2) == 0
    assert forward_schedule(0, 2).shape == (0, 3)
    assert reverse_schedule(0, 2).shape == (0, 5)


def test_a_slot_for_each_segment_replays_nothing():
    for units in (1, 2, 9, 500):
        for slots in (units, units + 1, 10 * units, 10**9):
            assert advances(units, slots) == units - 1
            assert replays(units, slots) == 0
            assert forward_schedule(units, slots).tolist() == [[i, i, i + 1] for i in range(units)]
            assert reverse_schedule(units, slots).tolist() == [[i, i, i, -1, 1] for i in reversed(range(units))]


def test_one_slot_is_quadratic():
    assert advances(100_000, 1) == 100_000 * 99_999 // 2
    assert forward_schedule(50, 1).tolist() == [[0, 0, 50]]
    assert reverse_schedule(50, 1).tolist() == [[0, 0, i, -1, 1] for i in reversed(range(50))]


def test_known_numbers():
    # β(3, 2) = 10 segments with 3 slots: 2·10 - binomial(5, 1).
    assert advances(10, 3) == 15
    assert forward_schedule(9, 3).tolist() == [[0, 0, 4], [1, 4, 7], [2, 7, 9]]


def test_more_slots_never_cost_more():
    counts = [replays(200, slots) for slots in range(1, 210)]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(("units", "slots"), [(-1, 1), (3, 0), (0, 0), (3, -2)])
def test_nonsense_is_refused(units, slots):
    for function in (advances, replays, forward_schedule, reverse_schedule):
        with pytest.raises(ValueError, match="no schedule"):
            function(units, slots)


def test_tables_are_shared_and_so_read_only():
    table = reverse_schedule(30, 4)
    assert table is reverse_schedule(30, 4)
    assert table.dtype == forward_schedule(30, 4).dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 1


def test_counting_and_scheduling_are_fast():
    start = time.perf_counter()
    for slots in (1, 2, 3, 40, 5_000, 99_999, 10**6):
        advances(99_999, slots)
    for slots in (1, 2, 12, 64, 4_097):
        reverse_schedule(4095, slots)
    # Milliseconds, really; this only notices another order of growth, on a busy machine.
    assert time.perf_counter() - start < 5
