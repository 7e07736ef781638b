"""Returns out of loops that go on to update, in place, what was returned."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram

A = np.array([0.5, 2.0, 3.0])


def root(a, tol):
    x = np.ones(3)
    slope = np.zeros(3)
    for k in range(30):
        error = x * x - a
        if np.max(np.abs(error)) < tol:
            return x, slope[1:], k
        slope[:] = 2.0 * x
        for i in range(3):
            x[i] -= error[i] / slope[i]
    return x, slope[1:], -1


def returned(a):
    x, slope, steps = root(a, 1e-13)
    x[0] *= 2.0
    return np.sum(x**3) + np.sum(slope**2) * (1.0 if steps > 0 else 1e3)


def test_what_is_returned_is_what_it_was():
    value, gradient = sdfgad.value_and_grad(returned)(A)
    np.testing.assert_allclose(value, returned(A.copy()), rtol=1e-13)
    np.testing.assert_allclose(gradient, 1.5 * np.sqrt(A) * [8.0, 1.0, 1.0] + [0.0, 4.0, 4.0], rtol=1e-6)


def twice(x):
    for _ in range(9):
        if np.sum(x) > 9.0:
            return x, x
        x[0] += 1.0
    return x, x


def keeps(box, x):
    box["x"] = x
    for _ in range(9):
        if np.sum(x) > 9.0:
            return x
        x[0] += 1.0
    return x


def closed_over(x):
    def first():
        return x[0]

    for _ in range(9):
        if np.sum(x) > 9.0:
            return x, first
        x[0] += 1.0
    return x, first


def of_two_names(a):
    x, y = twice(a * 1.0)
    x += 1.0
    return np.sum(y)


def of_a_dict(a):
    box = {}
    x = keeps(box, a * 1.0)
    x += 1.0
    return np.sum(box["x"])


def of_a_closure(a):
    x, first = closed_over(a * 1.0)
    x += 1.0
    return first()


def of_the_caller(a):
    y = a * 1.0
    x, _ = twice(y)
    x += 1.0
    return np.sum(y)


@pytest.mark.parametrize("program", [of_two_names, of_a_dict, of_a_closure, of_the_caller])
def test_an_array_to_which_another_name_refers_is_never_copied(program):
    """It is refused, or right: in Python the updates of the result are seen by that name."""
    try:
        value = sdfgad.differentiate(program, wrt="a").value(A)
    except UnsupportedProgram:
        return
    np.testing.assert_allclose(value, program(A.copy()), rtol=1e-14)
