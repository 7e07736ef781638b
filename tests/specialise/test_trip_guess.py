"""Calls with as many slots as earlier ones needed: fewer than enough are never written beyond."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import OutOfMemory, TooFewSlots
from sdfgad.specialise.specialise import Specialisation
from sdfgad.specialise.trip_guess import FIRST, GROWTH, PATIENCE, TripGuess


class Call:
    """A call that makes so many trips; notes what it is asked."""

    def __init__(self, trips, counted=None):
        self.trips, self.counted, self.asked = trips, trips if counted is None else counted, []

    def run(self, slots):
        self.asked.append(slots["n"])
        if slots["n"] < self.trips:
            raise TooFewSlots("too few")
        return {"n": self.trips}

    def count(self):
        self.asked.append("count")
        return {"n": self.counted}


def asked(*calls):
    trip_guess = TripGuess()
    for call in calls:
        trip_guess.run("key", ["n"], call.run, call.count)
    return [call.asked for call in calls]


def test_a_first_call_is_repeated_with_more_slots_until_they_are_enough():
    assert asked(Call(10), Call(10), Call(10)) == [[FIRST], [10], [10]]
    assert asked(Call(FIRST * GROWTH), Call(100)) == [[FIRST, FIRST * GROWTH], [FIRST * GROWTH]]


def test_a_longer_call_is_repeated_with_more_and_leaves_slack():
    assert asked(Call(80), Call(88), Call(90), Call(99)) == [[FIRST, 128], [80, 320], [100], [100]]


def test_what_is_far_too_much_many_times_in_a_row_is_dropped():
    short = [Call(10) for _ in range(PATIENCE + 1)]
    assert asked(Call(100), *short, Call(12)) == [[FIRST, 128], *[[100]] * PATIENCE, [12], [12]]


def test_calls_that_are_long_and_short_in_turn():
    calls = [Call(trips) for trips in (10, 100, 10, 100) for _ in range(3)]
    assert asked(*calls) == [[FIRST], [10], [10], [10, 40, 160], *[[113]] * 8]


def test_a_call_without_trips():
    assert asked(Call(0), Call(0), Call(1)) == [[FIRST], [0], [0, GROWTH]]


def test_a_count_that_was_rounded_otherwise():
    call = Call(5, counted=4)
    TripGuess.run_counted(call.run, call.count)
    assert call.asked == ["count", 4, 9]


def test_calls_of_other_integers_have_their_own_guesses():
    trip_guess, short, long = TripGuess(), Call(3), Call(30)
    for key, call in [(3, short), (30, long), (3, short), (30, long)]:
        trip_guess.run(key, ["n"], call.run, call.count)
    assert (short.asked, long.asked) == ([FIRST, 3], [FIRST, 30])


def test_trips_are_counted_where_a_guess_needs_too_much_memory():
    trip_guess, asked = TripGuess(), []

    def run(slots):
        asked.append(slots["n"])
        if slots["n"] > 50:
            raise OutOfMemory("no memory")
        if slots["n"] < 50:
            raise TooFewSlots("too few")
        return {"n": 50}

    trip_guess.run("key", ["n"], run, lambda: {"n": 50})
    assert asked == [FIRST, GROWTH * FIRST, 50]
    with pytest.raises(OutOfMemory):
        trip_guess.run("other", ["n"], run, lambda: {"n": 51})


def until(x, bound, least):
    """Nested loops whose numbers of trips are data."""
    total = 0.0
    while np.sum(x) > bound:
        x = x * x * 0.95
        k = 0
        while k < 5 and x[k] > least:
            x[k] = np.sin(x[k]) * x[k + 1]
            k += 1
        total += np.sum(x * x)
    return total + np.sum(np.sin(x))


LEAST = 0.3


@pytest.mark.parametrize("bounds", [(3.0, 3.0, 0.1, 0.1, 2.0), (0.1, 1e-9, 3.0, 1e-30, 20.0)])
def test_gradients_of_calls_of_different_lengths(bounds, rng):
    x = rng.uniform(0.9, 1.0, 6)
    g = sdfgad.differentiate(until, wrt="x")
    for bound in bounds:
        wanted = sdfgad.differentiate(until, wrt="x")(x, bound, LEAST)
        np.testing.assert_array_equal(g(x, bound, LEAST), wanted)
        value, found = g.value_and_grad(x, bound, LEAST)
        # Another program, whose sums may run in another order.
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        np.testing.assert_allclose(value, until(x.copy(), bound, LEAST), rtol=1e-12)


def test_compiled_code_stops_at_the_last_slot(rng, monkeypatch):
    """Every number of slots that is too small is refused, and every other one will do; nothing is counted."""
    args = rng.uniform(0.9, 1.0, 6), 0.1, LEAST
    g = sdfgad.differentiate(until, wrt="x")
    wanted = g(*args)
    call, made = g._bind_and_specialise(args, {})
    trip_guess, grown, grows = made.trip_guess, TripGuess._grown, []
    monkeypatch.setattr(Specialisation, "counted", None)

    def noted(self, guess, run, count):
        return grown(self, guess, lambda trips: grows.append(trips) or run(trips), count)

    monkeypatch.setattr(TripGuess, "_grown", noted)
    right = trip_guess._guesses[call.integers]
    assert len(right) == 2
    assert min(right.values()) > 1
    for loop, trips in right.items():
        for slots in range(trips + 3):
            trip_guess._guesses, grows[:] = {call.integers: {**right, loop: slots}}, []
            np.testing.assert_array_equal(g(*args), wanted)
            assert (len(grows) > 1) == (slots < trips)


def test_with_a_limit_and_for_measurements_trips_are_counted(rng, monkeypatch):
    args = rng.uniform(0.9, 1.0, 6), 0.1, LEAST
    g = sdfgad.differentiate(until, wrt="x", memory_limit="1 MiB")
    counted, counts = Specialisation.counted, []
    monkeypatch.setattr(Specialisation, "counted", lambda *of: counts.append(1) or counted(*of))
    (peak,) = {g.measure(*args).peak_bytes for _ in range(2)}
    assert peak <= g.plan(*args).peak_bytes
    g(*args)
    counts.clear()
    g(*args)
    assert counts
    assert not g._bind_and_specialise(args, {})[1].trip_guess._guesses
