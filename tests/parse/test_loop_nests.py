"""Loops over ``itertools.product`` of ranges, which are nested loops."""

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
