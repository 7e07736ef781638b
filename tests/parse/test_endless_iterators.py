"""Loops over `itertools.count`, `cycle` and `repeat`, which data ends."""

import itertools

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope, parsed, size_of

X = np.array([0.9, 0.6, 1.2, 0.7])


def fixed_point(x):
    y = 1.0
    for i in itertools.count():
        new = np.cos(y * x[0]) * x[1]
        if abs(new - y) < 1e-10 or i >= 300:
            break
        y = new
    return y + i * x[2]


def by_steps(x):
    y, k = x[0], 0
    for k in itertools.count(start=3, step=2):
        y += np.sin(x[1] * k) * 0.1
        if y > 1.1 or k > 50:
            return y * k
    return y


def float_times(x):
    y = 1.0
    for t in itertools.count(x[0], 0.25):
        y += t * x[1]
        if y > 6.0:
            break
    return y + t


def known_end(x):
    y = x[0]
    for i in itertools.count():
        if i == 25:
            break
        y = np.cos(y * x[1])
    return y + i


def repeated(x):
    y = x[0]
    for _ in itertools.repeat(None):
        y *= 1.0 + 0.1 * x[1]
        if y > 3.0:
            break
    return y


def in_turns(x):
    y = 0.0
    for v in itertools.cycle(list(x)):
        y += v * v
        if y > 9.5:
            break
    return y * x[0]


def rows_in_turns(x):
    y = 0.0
    for row in itertools.cycle(np.outer(x, x)):
        y += row @ x
        if y > 30.0:
            break
    return y


def together(x):
    y = 1.0
    for k, (i, v) in enumerate(zip(itertools.count(4), itertools.cycle(list(x))), 2):
        y += 0.2 * v
        if y > 4.0 or k > 80:
            return y * k + i * v
    return y


def within_a_loop(x):
    total = 0.0
    for a in range(3):
        for k in itertools.count(a, 2):
            total += np.sin(x[a] * k) + 1.0
            if total > 4.0 + 5.0 * a:
                break
    return total


LOOPS = [fixed_point, by_steps, float_times, repeated, in_turns, rows_in_turns, together, within_a_loop]


@pytest.mark.parametrize("program", [*LOOPS, known_end])
def test_value_and_slope(program):
    assert_value_and_slope(program, X)


@pytest.mark.parametrize("program", LOOPS)
def test_they_are_loops(program):
    assert size_of(parsed(program, X).program.body) < 40


def test_compiled():
    gradient = sdfgad.differentiate(together, wrt="x")
    step = np.array([0.3, -0.5, 0.2, 0.4])
    for x in (X, X[::-1].copy(), 2.0 * X):
        value, slope = gradient.value_and_grad(x)
        assert np.isclose(value, together(x), rtol=1e-14)
        difference = (together(x + 1e-6 * step) - together(x - 1e-6 * step)) / 2e-6
        assert np.isclose(slope @ step, difference, rtol=1e-7)


def functions_in_turns(x):
    y = 0.0
    for function in itertools.cycle([np.sin, np.cos]):
        y += function(x[0] + y)
        if y > 3.0:
            break
    return y


def test_what_has_no_place_in_an_array_is_refused():
    """It would be unrolled without an end."""
    with pytest.raises(
        UnsupportedProgram, match=r"over an endless iterator goes on.*\n.*py:\d+: for function in.*\n.*% n"
    ):
        sdfgad.differentiate(functions_in_turns)(X)


# --- counts from outside


class Body:
    numbers = itertools.count()

    def __init__(self, mass):
        self.number = next(self.numbers)
        self.mass = mass


def numbered(x):
    bodies = [Body(v) for v in x]
    weights = {one.number: one.mass**2 for one in bodies}
    first = min(weights)
    return sum(weights[one.number] * (one.number - first + 1) for one in bodies) + 0.5 * first


def test_a_count_from_outside_begins_where_it_is_at_the_call():
    g = sdfgad.differentiate(numbered, wrt="x")
    for start in (0, 0, 7):
        Body.numbers = itertools.count(start)
        value, slope = g.value_and_grad(X)
        assert next(Body.numbers) == start
        Body.numbers = itertools.count(start)
        assert np.isclose(value, numbered(X), rtol=1e-14)
        np.testing.assert_allclose(slope, 2.0 * X * np.arange(1, 5), rtol=1e-14)


def test_a_count_that_others_have_advanced_is_seen():
    Body.numbers = itertools.count()
    g = sdfgad.differentiate(numbered, wrt="x")
    before = g.value(X)
    next(Body.numbers)
    assert np.isclose(g.value(X), before + 0.5, rtol=1e-14)
