"""First and second derivatives of special functions against mpmath, and their values at the ends of their domains."""

import mpmath
import numpy as np
import pytest
from scipy import special

import sdfgad

P = 1.7  # a shape parameter


def of_x(x):
    return np.stack(
        [
            *(special.erfcx(x), special.log_ndtr(x), special.i1(x), special.i0e(x), special.i1e(x), special.j0(x)),
            *(special.j1(x), special.jv(2, x), special.polygamma(1, x), special.polygamma(3, x), special.beta(x, P)),
            *(special.betaln(x, P), special.gammainc(P, x), special.gammaincc(P, x), special.stdtr(P, x)),
            *(special.betainc(P, 0.6, x), special.betaincc(0.6, P, x), special.erfcinv(x), special.digamma(x)),
        ]
    )


MPMATH = [
    lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    lambda x: mpmath.log(mpmath.ncdf(x)),
    lambda x: mpmath.besseli(1, x),
    lambda x: mpmath.exp(-x) * mpmath.besseli(0, x),
    lambda x: mpmath.exp(-x) * mpmath.besseli(1, x),
    lambda x: mpmath.besselj(0, x),
    lambda x: mpmath.besselj(1, x),
    lambda x: mpmath.besselj(2, x),
    lambda x: mpmath.polygamma(1, x),
    lambda x: mpmath.polygamma(3, x),
    lambda x: mpmath.beta(x, P),
    lambda x: mpmath.log(mpmath.beta(x, P)),
    lambda x: mpmath.gammainc(P, 0, x, regularized=True),
    lambda x: mpmath.gammainc(P, x, mpmath.inf, regularized=True),
    lambda x: 1 - mpmath.betainc(P / 2, 0.5, 0, P / (P + x * x), regularized=True) / 2,
    lambda x: mpmath.betainc(P, 0.6, 0, x, regularized=True),
    lambda x: 1 - mpmath.betainc(0.6, P, 0, x, regularized=True),
    lambda x: mpmath.erfinv(1 - x),
    lambda x: mpmath.digamma(x),
]


@pytest.mark.parametrize("x", [0.31, 0.88])
def test_first_derivatives(x):
    g = sdfgad.differentiate(of_x)
    for k, f in enumerate(MPMATH):
        found = g.vjp(x, cotangent=np.eye(len(MPMATH))[k])["x"]
        with mpmath.workdps(40):
            expected = float(mpmath.diff(f, mpmath.mpf(x)))
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13, err_msg=f"row {k}")


def test_second_derivatives():
    """By central differences of the first ones: every derivative that has a rule of its own."""
    g, h, rows = sdfgad.differentiate(of_x), 1e-6, np.eye(len(MPMATH))
    for k, f in enumerate(MPMATH):
        slopes = [g.vjp(0.47 + sign * h, cotangent=rows[k])["x"] for sign in (1, -1)]
        with mpmath.workdps(40):
            expected = float(mpmath.diff(f, mpmath.mpf(0.47), 2))
        np.testing.assert_allclose((slopes[0] - slopes[1]) / (2 * h), expected, rtol=1e-7, atol=1e-7)


def by_shapes(a, b, x):
    return np.stack([special.gammainc(a, x), special.gammaincc(b, x), special.betainc(a, b, x), special.stdtr(a, x)])


@pytest.mark.parametrize(("a", "b", "x"), [(0.4, 2.5, 0.2), (3.5, 0.7, 0.9), (40.0, 55.0, 0.41), (12.0, 3.0, 0.8)])
def test_derivatives_by_shapes(a, b, x):
    g = sdfgad.differentiate(by_shapes)
    functions = [
        lambda a, b: mpmath.gammainc(a, 0, x, regularized=True),
        lambda a, b: 1 - mpmath.gammainc(b, 0, x, regularized=True),
        lambda a, b: mpmath.betainc(a, b, 0, x, regularized=True),
        lambda a, b: 1 - mpmath.betainc(a / 2, 0.5, 0, a / (a + mpmath.mpf(x) ** 2), regularized=True) / 2,
    ]
    for k, f in enumerate(functions):
        found = g.vjp(a, b, x, cotangent=np.eye(4)[k])
        with mpmath.workdps(40):
            expected = [float(mpmath.diff(f, (a, b), n)) for n in ((1, 0), (0, 1))]
        np.testing.assert_allclose([found["a"], found["b"]], expected, rtol=1e-11, atol=1e-14, err_msg=f"row {k}")


def test_ends_of_the_domains():
    """Where a density is infinite so is the derivative; at 0 and 1 the functions are constant by their shapes."""
    value = sdfgad.differentiate(lambda a, x: np.stack([special.gammainc(a, x), special.gammaincc(a, x)]))
    x = np.array([0.0, np.inf, -1.0, np.nan])
    found = value.value(1.5, x)
    np.testing.assert_array_equal(found, [[0, 1, np.nan, np.nan], [1, 0, np.nan, np.nan]])
    slopes = sdfgad.differentiate(lambda a, x: special.gammainc(a, x), reduce="sum")(np.array([0.5, 1.0, 2.0]), 0.0)
    assert slopes["x"] == np.inf
    np.testing.assert_array_equal(slopes["a"], 0.0)
    ends = sdfgad.differentiate(lambda x: special.betainc(2.0, 2.0, x), reduce="sum")(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(ends["x"], 0.0)
    at_zero = sdfgad.differentiate(lambda x: special.i1(x) + special.j1(x) + special.i1e(x))(0.0)
    assert at_zero["x"] == 1.5
