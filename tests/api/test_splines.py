"""Splines of scipy.interpolate that a program makes, differentiated by knots, values and points."""

import numpy as np
import pytest
from scipy import interpolate

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import line_of

RNG = np.random.default_rng(1)
X = np.arange(8.0) * 0.7 + 0.05 * np.sin(np.arange(8))
Y, ROWS, AT = RNG.normal(size=8), RNG.normal(size=(8, 2)), RNG.uniform(-0.5, 5.5, 9)
INSIDE = np.clip(AT, X[0] + 0.01, X[-1] - 0.01)


def check(program, *args):
    np.testing.assert_allclose(sdfgad.differentiate(program).value(*args), program(*args), rtol=1e-12)
    sdfgad.check_grads(program, *args)


CONDITIONS = ["not-a-knot", "natural", "clamped", ((1, 0.3), (2, -0.4)), ((2, 0.7), (1, 0.2)), ("natural", "clamped")]


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
@pytest.mark.parametrize("values", [Y, ROWS], ids=["vector", "rows"])
def test_cubic_splines(condition, values):
    if values is ROWS and isinstance(condition[0], tuple):
        return

    def program(x, y, t):
        s = interpolate.CubicSpline(x, y, bc_type=condition)
        slopes = np.sum(s(t, 1) ** 2) + np.sum(s.derivative(2)(t)) + np.sum(s.c[0])
        return np.sum(s(t) ** 2) + 0.1 * slopes + np.sum(s.integrate(x[0] + 0.1, x[-1] - 0.2) ** 2)

    check(program, X, values, AT)


def test_a_periodic_spline():
    def program(x, y, t):
        s = interpolate.CubicSpline(x, np.concatenate((y[:-1], y[:1])), bc_type="periodic")
        return np.sum(s(t) ** 2)

    check(program, X, Y, AT)
    check(program, X, ROWS, AT)


def pchip(x, y, t):
    s = interpolate.PchipInterpolator(x, y)
    return np.sum(s(t) ** 2) + np.sum(s.antiderivative()(t))


def akima(x, y, t):
    return np.sum(interpolate.Akima1DInterpolator(x, y)(np.clip(t, x[0] + 0.01, x[-1] - 0.01)) ** 2)


def hermite(x, y, t):
    return np.sum(interpolate.CubicHermiteSpline(x, y, 0.3 * y)(t) ** 2)


@pytest.mark.parametrize("program", [pchip, akima, hermite])
@pytest.mark.parametrize("values", [Y, ROWS], ids=["vector", "rows"])
def test_other_slopes(program, values):
    check(program, X, values, AT)


def test_few_points():
    x = np.array([0.0, 1.0, 2.5])

    def program(y):
        at = np.array([0.3, 0.9])
        three = interpolate.CubicSpline(x, y[:3])(2.0 * at) + interpolate.CubicSpline(x, y[:3], bc_type="natural")(at)
        two = interpolate.CubicSpline(x[:2], y[:2])(at) + interpolate.PchipInterpolator(x[:2], y[:2])(at)
        return np.sum(three**2) + np.sum(two**3)

    check(program, Y)


@pytest.mark.parametrize("kind", ["linear", "nearest", "previous", "cubic"])
def test_interp1d_of_rows(kind):
    def program(x, y, t):
        return np.sum(interpolate.interp1d(x, y, kind=kind, axis=0, fill_value="extrapolate")(t) ** 2 * x[:1] * t[0])

    check(program, X, ROWS, INSIDE)


def unknown_end(x, y):
    return np.sum(interpolate.CubicSpline(x, y, bc_type="loose")(x))


@pytest.mark.parametrize(
    ("program", "line", "text"),
    [
        (unknown_end, "return", "Use 'not-a-knot', 'natural' or 'clamped'"),
    ],
)
def test_refusals(program, line, text):
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(program)(X, Y)
    assert text in str(caught.value)
    assert str(caught.value.where) == line_of(program, line)
