"""Loops whose first trip differs from the others: peeled, and not unrolled."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import Rebound
from sdfgad.ir.program import walk
from tests.helpers_ir import assert_value_and_slope, parsed


def shape_of_the_first_trip(x, s):
    """The borders of the trip before, at first a row of one line."""
    old, u = np.zeros((1, 5)), np.outer(x, x)
    for t in range(40):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        u[4, :] = old + s * (u[3, :] - u[4, :])
        old = u[3, :].copy()
    return np.sum(u**2, axis=0)


def view_from_the_second_trip_on(x, s):
    """A live view: what the next trip reads is the row as it is then."""
    old, u, frames = np.zeros(5), np.outer(x, x), []
    for t in range(40):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        u[4, :] = old + s * (u[3, :] - u[4, :])
        old = u[3, :]
        if t % 10 == 0:
            frames.append(u.copy())
    return np.sum(u**2, axis=0) + frames[-1][2]


def one_view_bound_anew(x, s):
    u = np.outer(x, x)
    old, halves = u[3, :], [u[:2]]
    for t in range(40):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        u[4, :] = s * old + u[3, :] - u[4, :]
        old, halves[0] = u[3, :], u[:2]
        if x[0] > 5.0:
            old = u[3, :]
    return old + np.sum(u**2, axis=0) + halves[0][1]


def kind_of_the_first_trip(x, s):
    last, total = None, 0.0 * x
    for t in range(40):
        total = total + s * x**2 if last is None else total + np.sin(last) * s
        last = total * 0.9
    return total


@pytest.mark.parametrize(
    ("program", "most"),
    [
        (shape_of_the_first_trip, 20),
        (view_from_the_second_trip_on, 25),
        (one_view_bound_anew, 15),
        (kind_of_the_first_trip, 15),
    ],
)
def test_a_loop_whose_first_trip_differs(program, most):
    arguments = np.random.default_rng(3).uniform(0.2, 0.9, 5), 0.3
    assert_value_and_slope(program, *arguments)
    assert sum(1 for _ in walk(parsed(program, *arguments).program.body)) <= most


def two_in_one(x, s):
    return np.sum(view_from_the_second_trip_on(x, s) * kind_of_the_first_trip(x, s))


def test_compiled_gradients_of_loops_whose_first_trip_differs():
    x = np.random.default_rng(3).uniform(0.2, 0.9, 5)
    sdfgad.check_grads(two_in_one, x, 0.3)


def other_view_in_each_trip(x, s):
    u = np.outer(x, x)
    old = u[0]
    for t in range(300):
        u[t % 5] = s * old
        old = u[t % 4]
    return np.sum(u)


def test_views_that_differ_from_trip_to_trip_are_refused():
    with pytest.raises(Rebound, match="`old` may stand for several arrays") as caught:
        sdfgad.differentiate(other_view_in_each_trip)(np.ones(5), 0.3)
    assert caught.value.where.text == "for t in range(300):"
