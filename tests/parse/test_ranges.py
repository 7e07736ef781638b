"""``range`` with bounds known at run time has Python's trips, and guards that hold for just those."""

import pytest

from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.expr import Lin
from sdfgad.parse.builder import Builder
from sdfgad.parse.ranges import Range
from sdfgad.parse.strides import ravelled, unravelled


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -3])
@pytest.mark.parametrize("start", [-2, 0, 5])
@pytest.mark.parametrize("stop", [-3, 0, 1, 6])
def test_trips_and_guards(start, stop, step):
    span = Range(Lin(start), Lin(stop), step)
    expected = range(start, stop, step)
    assert max(span.trips.const, 0) == len(expected)
    for trip in range(-1, len(expected) + 2):
        runs = all(form.const >= 0 for form in span.guards(Lin(trip)))
        assert runs == (0 <= trip < len(expected))
        if runs:
            assert span.index(Lin(trip)) == expected[trip]


def test_symbolic_bounds():
    n, trip = Lin.symbol("n"), Lin.symbol("k")
    assert Range(Lin(1), n, 1).trips == n - 1
    assert Range(n, Lin(-1), -1).trips == n + 1
    assert Range(n, Lin(-1), -1).index(trip) == n - trip
    assert Range(Lin(0), n, 1, period_count=Lin(4), period=2).trips == Lin(4)


def test_arguments():
    assert Range.of(Builder({"n": 4}), [Lin.symbol("n")]) == Range(Lin(0), Lin.symbol("n"), 1)
    assert Range.of(Builder({}), [4]) == range(4)
    assert Range.of(Builder({}), [1, 4, -2]) == range(1, 4, -2)
    with pytest.raises(UnsupportedProgram, match="step must not be zero"):
        Range.of(Builder({}), [0, 4, 0])
    with pytest.raises(UnsupportedProgram, match="a range bound that is not an integer"):
        Range.of(Builder({}), [0.5])


def at(form, flat):
    return form.substitute({"f": flat})


def test_positions_of_known_indices():
    sizes = [2, 1, 3]
    assert ravelled((Lin(1), Lin(0), Lin(2)), sizes) == Lin(5)
    for flat in range(6):
        index = unravelled(Lin(flat), sizes)
        assert [i.const for i in index[1:2]] == [0]
    i, j = Lin.symbol("i"), Lin.symbol("j")
    assert unravelled(ravelled((i, Lin(0), Lin(2)), sizes), sizes)[0] == i
    assert unravelled(ravelled((i, j), [4, 1]), [4, 1])[0] == i + j
