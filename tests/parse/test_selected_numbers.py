"""Python's functions of selected elements, ``min(x[mask], default=1.0)``, and SciPy's of constants."""

import numpy as np
import pytest
from scipy import special
from scipy.stats import chi2, t

import sdfgad
from sdfgad.errors import ShapeMismatch
from tests.helpers_ir import assert_value_and_slope

X = np.linspace(-1.0, 2.0, 12).reshape(3, 4)
Y = np.sin(np.arange(12.0) + 0.5).reshape(3, 4)


def step(x, y):
    """The ratio test of an interior point method, and other functions of what a mask selects."""
    longest = 0.99 * min(1, min(-x[y < 0] / y[y < 0], default=1))
    none = max(x[y > 2.0], default=x[0, 0]) + sum(x[y > 2.0], y[0, 1])
    return longest * x[1, 1] + max(x[y < 0]) * min(y[x > 0]) + sum(x[y > 0] ** 2) + none


def test_python_functions_of_selected_elements():
    g = sdfgad.differentiate(step, wrt=("x", "y"))
    for x in (X, 1e-3 * X + 0.1):
        value, gradients = g.value_and_grad(x, Y)
        np.testing.assert_allclose(value, step(x, Y), rtol=1e-13)
        d, h = np.cos(np.arange(12.0)).reshape(3, 4), 1e-6
        for gradient, (dx, dy) in zip(gradients, ((d, 0.0), (0.0, d)), strict=True):
            ahead, behind = (step(x + s * dx, Y + s * dy) for s in (h, -h))
            np.testing.assert_allclose(np.sum(gradient * d), (ahead - behind) / (2.0 * h), rtol=1e-6, atol=1e-9)


def least(x):
    return min(x[x > 0.0]) * 2.0


def test_extrema_of_nothing_raise():
    g = sdfgad.differentiate(least)
    np.testing.assert_allclose(g.value(X), least(X))
    with pytest.raises(ShapeMismatch, match="the minimum of no elements"):
        g.value(X - 5.0)


def without_a_number(x):
    return max(x[x > 0.0].ravel(), default=None)


def test_default_that_is_no_number():
    assert_value_and_slope(without_a_number, X)


def interval(x):
    degrees = len(x) - 1
    return t.ppf(0.975, degrees) * np.std(x) / np.sqrt(len(x)) + chi2.isf(0.05, 2) * np.mean(x)


def test_distributions_of_constants():
    x = Y.ravel()
    value, gradient = sdfgad.differentiate(interval, wrt="x").value_and_grad(x)
    np.testing.assert_allclose(value, interval(x), rtol=1e-13)
    h = 1e-6 * np.cos(np.arange(12.0))
    np.testing.assert_allclose(gradient @ h, (interval(x + h) - interval(x - h)) / 2.0, rtol=1e-6)


def special_functions(x, y):
    found = np.zeros_like(x)
    near = x < 1.2
    found[near] = special.erfc(x[near]) + np.interp(y[near], [-1.0, 0.2, 1.5], [1.0, 3.0, 2.0])
    found[y > 0] += special.gammaln(y[y > 0] + 1.0) * np.sinc(x[y > 0]) + special.jv(2, y[y > 0])
    rows = np.sum(np.interp(x[x > 0.1], [0.0, 1.0, 3.0], [0.5, 2.0, 1.0], period=3.5)) * special.expit(y[y < 0]).sum()
    return np.sum(found**2) + rows


def test_special_functions_of_selected_elements_are_of_any_number():
    """Each number of elements was compiled anew."""
    assert_value_and_slope(special_functions, X, Y)
    text = str(sdfgad.explain(special_functions, X, Y, stage="parsed"))
    assert "count" not in text
    g = sdfgad.differentiate(special_functions, wrt=("x", "y"))
    for shift in (0.0, 0.25, -0.4):
        np.testing.assert_allclose(g.value(X + shift, Y), special_functions(X + shift, Y), rtol=1e-12)
