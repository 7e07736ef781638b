"""Segments: tables in trips, which reverse every trip once from the right state, and few ways to choose from."""

import time

import numpy as np
import pytest

from sdfgad.plan.segments import MOST_UNITS, Segments, segmentations

SHAPES = [
    Segments(trips, length, slots)
    for trips in (0, 1, 2, 3, 7, 10, 12, 13)
    for length in (1, 2, 3, 5, 13, 20)
    for slots in (1, 2, 3, 13)
]


class Loop:
    """Runs tables as the compiled program does: `current` is the trip whose state is at hand, None after an adjoint."""

    def __init__(self, segments):
        self.segments = segments
        self.current, self.kept = 0, {}
        self.replayed, self.reversed = 0, []

    def keep(self, slot):
        assert slot < self.segments.slots
        assert self.current is not None
        self.kept[slot] = self.current

    def advance(self, start, end):
        assert start == end or self.current == start
        assert 0 <= start <= end <= self.segments.trips
        self.current = end if end > start else self.current

    def forward(self):
        for keep, start, end in self.segments.forward().tolist():
            if keep >= 0:
                self.keep(keep)
            self.advance(start, end)
        assert self.current == self.segments.trips

    def reverse(self):
        self.current = None
        for load, start, middle, keep, end in self.segments.reverse().tolist():
            if load >= 0:
                self.current = self.kept[load]
            assert self.current == start
            self.advance(start, middle)
            self.replayed += middle - start
            if keep >= 0:
                self.keep(keep)
            self.tape(middle, end)

    def tape(self, start, end):
        if end == start:
            return
        assert self.current == start
        assert 0 < end - start <= self.segments.length
        self.reversed += reversed(range(start, end))
        self.current = None


def run(segments):
    loop = Loop(segments)
    loop.forward()
    loop.reverse()
    return loop


@pytest.mark.parametrize("segments", SHAPES, ids=repr)
def test_tables_reverse_every_trip_once_from_the_last(segments):
    assert run(segments).reversed == list(reversed(range(segments.trips)))


@pytest.mark.parametrize("segments", SHAPES, ids=repr)
def test_replays_bound_the_trips_that_are_run_again(segments):
    replayed = run(segments).replayed
    # The last segment may be shorter, but it is never run without being reversed.
    assert replayed == segments.replays * segments.length


def test_the_last_segment_is_shorter_if_the_length_is_no_divisor():
    segments = Segments(10, 4, 1)
    assert segments.units == 3
    assert segments.forward().tolist() == [[0, 0, 10]]
    assert segments.reverse().tolist() == [[0, 0, 8, -1, 10], [0, 0, 4, -1, 8], [0, 0, 0, -1, 4]]
    assert segments.replays == 3


def test_a_slot_for_each_segment_runs_nothing_twice():
    segments = Segments(10, 4, 3)
    assert segments.replays == 0
    assert segments.forward().tolist() == [[0, 0, 4], [1, 4, 8], [2, 8, 10]]
    assert segments.reverse().tolist() == [[2, 8, 8, -1, 10], [1, 4, 4, -1, 8], [0, 0, 0, -1, 4]]


@pytest.mark.parametrize("length", [1, 5])
def test_no_trips_have_no_rows(length):
    segments = Segments(0, length, 2)
    assert segments.units == segments.replays == 0
    assert segments.forward().shape == (0, 3)
    assert segments.reverse().shape == (0, 5)


@pytest.mark.parametrize("length", [1, 5])
def test_one_trip_is_one_segment(length):
    segments = Segments(1, length, 2)
    assert segments.forward().tolist() == [[0, 0, 1]]
    assert segments.reverse().tolist() == [[0, 0, 0, -1, 1]]


def test_tables_are_new_and_contiguous_integers():
    segments = Segments(10, 4, 2)
    for table in (segments.forward(), segments.reverse()):
        assert table.dtype == np.int64
        assert table.flags.c_contiguous
        table[...] = -5
    assert run(segments).reversed == list(reversed(range(10)))


@pytest.mark.parametrize("segments", [s for s in SHAPES if s.slots <= s.units], ids=repr)
def test_table_bytes_are_an_upper_bound_without_much_above(segments):
    tables = segments.forward().nbytes + segments.reverse().nbytes
    assert tables <= segments.table_bytes
    # Both are read-only memory beside states; a bound of twice and one row is close enough.
    assert segments.table_bytes <= 2 * tables + 200


# --- other numbers of trips


def test_for_trips_keeps_the_slots():
    assert Segments(100, 4, 5).for_trips(1000) == Segments(1000, 4, 5)
    assert Segments(100, 4, 5).for_trips(100) == Segments(100, 4, 5)
    assert Segments(100, 4, 5).for_trips(13) == Segments(13, 4, 4)


def test_for_trips_keeps_a_slot_for_each_segment():
    assert Segments(100, 4, 25).for_trips(1000) == Segments(1000, 4, 250)
    assert Segments(100, 4, 25).for_trips(9) == Segments(9, 4, 3)
    assert Segments(10, 4, 7).for_trips(101) == Segments(101, 4, 26)


def test_for_trips_has_no_segment_longer_than_the_loop():
    assert Segments(100, 10, 3).for_trips(7) == Segments(7, 7, 1)
    assert Segments(100, 10, 3).for_trips(1) == Segments(1, 1, 1)
    assert Segments(100, 10, 3).for_trips(0) == Segments(0, 1, 1)


@pytest.mark.parametrize("segments", SHAPES[::7], ids=repr)
@pytest.mark.parametrize("trips", [0, 1, 2, 9, 31])
def test_for_trips_reverses_these_trips(segments, trips):
    other = segments.for_trips(trips)
    assert other.slots <= max(other.units, 1)
    assert run(other).reversed == list(reversed(range(trips)))


# --- text


@pytest.mark.parametrize(
    ("segments", "text"),
    [
        (Segments(10, 1, 10), "the state of every trip"),
        (Segments(10, 1, 99), "the state of every trip"),
        (Segments(10, 4, 3), "a state every 4 trips"),
        (Segments(10, 1, 3), "3 states by binomial checkpointing"),
        (Segments(10, 4, 2), "2 states by binomial checkpointing, segments of 4"),
    ],
)
def test_text(segments, text):
    assert str(segments) == text


# --- the ways to choose from


def test_both_extremes_are_among_the_ways():
    for trips in (1, 2, 3, 40, 100, 1000, MOST_UNITS):
        found = segmentations(trips)
        assert Segments(trips, 1, 1) in found
        assert Segments(trips, 1, trips) in found
        assert Segments(trips, trips, 1) in found


def test_ways_are_distinct_and_possible():
    for trips in (1, 2, 17, 1000):
        found = segmentations(trips)
        assert len(set(found)) == len(found)
        for one in found:
            assert one.trips == trips
            assert 1 <= one.length <= trips
            assert 1 <= one.slots <= one.units


def test_small_loops_have_every_number_of_slots():
    assert {s.slots for s in segmentations(4) if s.length == 1} == {1, 2, 3, 4}


@pytest.mark.parametrize(("trips", "most"), [(10, 20), (1000, 250), (10**5, 300), (10**9, 500)])
def test_ways_are_few_and_quickly_found(trips, most):
    start = time.perf_counter()
    found = segmentations.__wrapped__(trips)
    assert time.perf_counter() - start < 0.5
    assert len(found) <= most
    assert all(s.units <= MOST_UNITS for s in found)
    assert Segments(trips, trips, 1) in found


def test_replays_of_all_ways_for_many_trips_are_quickly_found():
    start = time.perf_counter()
    found = [(s.replays, s.table_bytes) for s in segmentations(10**5)]
    assert time.perf_counter() - start < 2.0
    assert min(found)[0] == 0
