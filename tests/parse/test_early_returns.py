"""Returns out of loops that go on to update, in place, what was returned."""

import numpy as np
import pytest

import sdfgad

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
    """In Python the updates of the result are seen by that name."""
    np.testing.assert_allclose(sdfgad.differentiate(program, wrt="a").value(A), program(A.copy()), rtol=1e-14)


def relaxed(x, load, tol):
    for k in range(40):
        change = 0.0
        for i in range(1, len(x) - 1):
            new = max(0.2, 0.4 * (x[i - 1] + x[i + 1]) + load[i])
            change += (new - x[i]) ** 2
            x[i] = new
        if change < tol:
            return x, k
    return x, 40


def obstacle(u, load, tol):
    """The caller's array is what is returned, whether the loop ends early or not."""
    total = 0
    for _ in range(2):
        inner, steps = relaxed(u, load, tol)
        u[0] += 0.1 * inner[2]
        total += steps
    return np.sum(inner**2) + total


@pytest.mark.parametrize("tol", [1e-6, 0.0])
def test_the_callers_array_that_a_loop_updates_is_returned_out_of_it(tol):
    u, load = np.linspace(0.5, 1.0, 6), np.array([0.1, -0.3, 0.2, 0.1, 0.3, 0.0])
    value, (u_bar, load_bar) = sdfgad.differentiate(obstacle, wrt=("u", "load")).value_and_grad(u, load, tol)
    np.testing.assert_allclose(value, obstacle(u.copy(), load, tol), rtol=1e-13)
    ends = [obstacle(u + h * np.cos(u), load + h * np.sin(u), tol) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(u_bar @ np.cos(u) + load_bar @ np.sin(u), (ends[0] - ends[1]) / 2e-6, rtol=1e-7)


def of_either(x, y, tol):
    for _ in range(5):
        y[0] *= 0.5
        x[0] += y[0]
        if y[0] < tol:
            return x
    return y


def either(a, tol):
    x, y = 1.0 * a, 2.0 * a
    found = of_either(x, y, tol)
    x += 1.0
    return np.sum(found) + y[1]


@pytest.mark.parametrize("tol", [0.3, 0.0])
def test_one_of_two_arrays_of_the_caller(tol):
    value = sdfgad.differentiate(either, wrt="a").value(A, tol)
    np.testing.assert_allclose(value, either(A.copy(), tol), rtol=1e-14)
