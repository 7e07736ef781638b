"""Polynomials from outside of the program, and what of matrix functions and polynomials is refused."""

import numpy as np
import pytest
import scipy.linalg
from scipy import special

import sdfgad
from sdfgad.errors import ArgumentError, SdfgadError
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope

POLY = np.poly1d([1.0, -2.0, 0.5])
SERIES = np.polynomial.Polynomial([1.0, -2.0, 0.5], domain=[0.0, 3.0])
LEGENDRE, SCALED = special.legendre(25), 0.5 * special.hermite(4)
X = np.array([0.3, 1.2, -0.7])


def from_outside(x):
    return np.sum(POLY(x) ** 2) + np.sum(SERIES(x) * x) + np.sum(LEGENDRE(0.7 * x) * SCALED(x))


def test_polynomials_from_outside():
    np.testing.assert_allclose(sdfgad.differentiate(from_outside).value(X), from_outside(X), rtol=1e-12)
    sdfgad.check_grads(from_outside, X)


def at_run_time(x):
    return np.sum(np.abs(np.roots(x)))


def test_roots_that_are_refused_at_run_time():
    with pytest.raises(ArgumentError, match="begin or end with zero"):
        sdfgad.grad(at_run_time)(np.array([0.0, 1.0, 2.0, 3.0]))


def greatest_root(x):
    roots = np.roots(x)
    return np.max(roots) ** 2 + roots[1] * x[0]


def test_real_roots_are_real_numbers():
    sdfgad.check_grads(greatest_root, np.array([1.0, -3.0, 2.0]))
    sdfgad.check_grads(at_run_time, np.array([1.0, -3.0, 2.0]))
    sdfgad.check_grads(at_run_time, np.array([1.0, 1.0, 2.0]))


def root(a):
    return np.sum(scipy.linalg.sqrtm(a))


def test_a_square_root_that_is_complex():
    with pytest.raises(ArgumentError, match="with negative or zero eigenvalues is complex"):
        sdfgad.grad(root)(np.diag([1.0, -2.0]))


def test_a_square_root_of_a_matrix_without_a_basis_of_eigenvectors():
    a = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    rest = np.random.default_rng(3).standard_normal((3, 3))
    for near in (a, a + 1e-9 * rest, a + 1e-5 * rest):
        x = scipy.linalg.sqrtm(near)
        value, gradient = sdfgad.value_and_grad(root)(near)
        np.testing.assert_allclose(value, np.sum(x), rtol=1e-10)
        # The derivative of x @ x == a.
        np.testing.assert_allclose(gradient, scipy.linalg.solve_sylvester(x.T, x.T, np.ones((3, 3))), rtol=1e-8)


def logarithm(x):
    return np.sum(scipy.linalg.logm(np.diag(x)))


def large(x):
    a = np.eye(40) * x[0]
    return np.sum(scipy.linalg.solve_sylvester(a, a, a))


def zeros(x):
    return np.sum(np.polynomial.Polynomial(x).roots())


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (logarithm, "Of a symmetric matrix write w, v = np.linalg.eigh(a)"),
        (large, "Write an iteration"),
        (zeros, "Write np.roots(p.coef[::-1])"),
    ],
)
def test_refusals(program, text):
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(program)(X)
    assert text in str(caught.value)
    assert str(caught.value.where) == line_of(program, "return")


SEVERAL, WEIGHTS = np.arange(12.0).reshape(3, 4) + 0.5, np.arange(16.0).reshape(4, 4)
FAMILIES = (
    (np.polynomial.polynomial.polyval, np.polynomial.Polynomial),
    (np.polynomial.chebyshev.chebval, np.polynomial.Chebyshev),
    (np.polynomial.legendre.legval, np.polynomial.Legendre),
    (np.polynomial.hermite.hermval, np.polynomial.Hermite),
    (np.polynomial.hermite_e.hermeval, np.polynomial.HermiteE),
    (np.polynomial.laguerre.lagval, np.polynomial.Laguerre),
)


@pytest.mark.parametrize(("value", "cls"), FAMILIES, ids=lambda one: one.__name__)
def test_series(value, cls):
    # As many points as series: all series at all points, not each at its own.
    series = cls([1.0, -2.0, 0.5, 0.25], domain=[0, 4])

    def program(x):
        several = np.sum(value(x, SEVERAL) * WEIGHTS) + np.sum(value(x, SEVERAL, tensor=False)) + value(x[0], x)
        objects = np.sum(series(x)) + np.sum(series.deriv()(x) * x) + series.integ()(x[0])
        return several + objects + np.sum(value(x / 4, np.cos(np.arange(20.0)))) + np.sum(value(x, [2.0]))

    assert_value_and_slope(program, np.array([0.3, 0.7, 1.2, 1.9]))
