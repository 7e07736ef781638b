"""Loops over ``itertools.product`` of ranges, which are nested loops; nests of short loops."""

import itertools
from itertools import product

import numpy as np
import pytest

import sdfgad

X = np.linspace(0.3, 1.0, 5)


def pairs(x, n):
    s = 0.0
    for i, j in itertools.product(range(n), repeat=2):
        if i == j:
            continue
        s += np.sin(x[i] - 2 * x[j]) / (i + j)
    return s


def places(x, n):
    A = np.zeros((n, n, n))
    for at in product(range(n), range(1, n), range(n - 1, -1, -1)):
        A[at] += x[at[0]] * x[at[2]] + at[1]
    return np.sum(A[1] ** 2)


def after(x, n):
    i, axis_0 = 0, 3.0
    for i, (j) in product(range(n), range(2, n)):
        x[j] += 0.1 * x[i] * axis_0
    return np.sum(x) * i + j * x[0]


def empty(x, n):
    i = 7
    for i, _ in product(range(3), range(n - 5)):
        x = x * 1.01
    return np.sum(x) * i


def stopped(x, n):
    for i, j in product(range(n), range(n)):
        if x[i] * j > 2.0:
            break
        x[j] += 0.1 * x[i]
    return np.sum(x * x) * (i + j)


def begun(x, n):
    points = product(range(n), range(n))
    first = next(points)
    for i, j in points:
        x[j] += 0.1 * x[i] * i
    return np.sum(x * x) * (1 + sum(first))


@pytest.mark.parametrize("program", [pairs, places, after, empty, stopped, begun])
def test_as_in_python(program):
    g = sdfgad.differentiate(program, wrt="x")
    np.testing.assert_allclose(g.value(X, 5), program(X.copy(), 5), rtol=1e-14)
    sdfgad.check_grads(program, X, 5, wrt="x")


@pytest.mark.parametrize("program", [pairs, places, after])
def test_they_stay_loops(program):
    assert len(str(sdfgad.explain(program, X, 5, stage="parsed")).splitlines()) < 25


class Gaussian:
    def __init__(self, exponent, centre):
        self.exponent, self.centre, self.norm = exponent, centre, (2 * exponent) ** 0.75


def integrals(x):
    """Integrals of four functions each over four."""
    basis = [Gaussian(a, np.ones(3) * q) for q in x[:2] for a in (x[3], 2 * x[3])]
    table = np.zeros((4, 4, 4, 4))
    for i, j, k, m in product(range(4), repeat=4):
        apart = np.sum((basis[m].centre - basis[i].centre) ** 2)
        table[i, j, k, m] = basis[i].norm * basis[j].exponent * np.exp(-basis[k].exponent * apart)
    return np.sum(table * np.arange(256.0).reshape(4, 4, 4, 4))


def numbers(x):
    values, total = [x[0], x[1], x[2]], 0.0
    for i in range(3):
        for j in range(3):
            for k in range(3):
                for m in range(3):
                    total += np.sin(values[i] * values[j]) + i * values[k] * values[m]
    return total


def of_tuples(x):
    pairs, total = [(a, np.ones(2) * q) for q in x[:2] for a in (x[3], x[4])], 0.0
    for i, j, k in product(range(4), repeat=3):
        total += pairs[i][0] * pairs[j][0] * np.exp(-np.sum((pairs[k][1] - pairs[i][1]) ** 2))
    return total


@pytest.mark.parametrize(("program", "most"), [(integrals, 60), (numbers, 25), (of_tuples, 40)])
def test_nests_of_short_loops_that_look_up_items_stay_loops(program, most):
    """They had a statement, or several, for each of 64 to 256 trips."""
    assert len(str(sdfgad.explain(program, X, stage="parsed")).splitlines()) < most


def all_nests(x):
    return integrals(x) + numbers(x) + of_tuples(x)


def test_gradients_of_nests_of_short_loops():
    g = sdfgad.differentiate(all_nests)
    np.testing.assert_allclose(g.value(X), all_nests(X), rtol=1e-13)
    sdfgad.check_grads(all_nests, X)


def few_trips(x):
    values, total = [x[0], x[1], x[2]], 0.0
    for i in range(3):
        for j in range(3):
            total += np.sin(values[i] * values[j])
    return total


def test_a_few_trips_are_written_out():
    """Of so few numbers the compiler keeps what it needs in registers."""
    assert "for " not in str(sdfgad.explain(few_trips, X, stage="parsed"))
