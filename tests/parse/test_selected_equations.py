"""Least squares of selected equations, whose number is data."""

import numpy as np
import pytest

import sdfgad

X = np.linspace(-1.0, 2.0, 12)
Y = np.sin(X)


def regression(x, y):
    """As in Monte Carlo for American options: of the paths in the money, with a basis made in several ways."""
    chosen = x > 0.1
    inside = np.where(x > 0.1)[0]
    stacked = np.vstack([np.ones(len(inside)), x[inside], x[inside] ** 2]).T
    first, squares, *_ = np.linalg.lstsq(stacked, y[inside], rcond=None)
    second = np.polyfit(x[chosen], y[chosen], 2)
    return np.sum((stacked @ first) ** 2 * x[chosen]) + first @ second + squares[0]


def test_least_squares_of_selected_equations():
    g = sdfgad.differentiate(regression, wrt=("x", "y"))
    value, gradients = g.value_and_grad(X, Y)
    np.testing.assert_allclose(value, regression(X, Y), rtol=1e-10)
    direction, h = np.cos(np.arange(12.0)), 1e-6
    for gradient, step in zip(gradients, ((direction, 0.0), (0.0, direction)), strict=True):
        ahead, behind = (regression(X + s * step[0], Y + s * step[1]) for s in (h, -h))
        np.testing.assert_allclose(gradient @ direction, (ahead - behind) / (2.0 * h), rtol=1e-6)


def sized(x):
    chosen = x > 0.0
    weights = np.zeros((len(x[chosen]), 2))
    weights[:, 0] = x[chosen]
    weights[1:, 1] = 2.0
    return np.sum(weights**2)


@pytest.mark.parametrize("shift", [0.0, 1.0, -1.2])
def test_arrays_of_as_many_rows_as_are_selected(shift):
    np.testing.assert_allclose(sdfgad.differentiate(sized, wrt="x").value(X + shift), sized(X + shift), rtol=1e-14)
