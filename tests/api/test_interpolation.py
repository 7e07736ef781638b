"""scipy.interpolate: piecewise polynomials from outside, and lines between points, in values and gradients."""

import numpy as np
import pytest
from scipy import interpolate

import sdfgad
from sdfgad.errors import ProgramRaises
from tests.helpers import assert_close

KNOTS = np.array([0.0, 0.7, 1.5, 2.0, 3.1])
VALUES = np.array([1.0, -0.5, 0.8, 0.3, 1.2])
INSIDE = np.array([0.1, 0.65, 1.1, 1.9, 2.4, 3.0])
AROUND = np.array([-0.4, 0.2, 1.2, 1.9, 3.3])


def slope(f, x, step=1e-6):
    rows = [step * row for row in np.eye(x.size)]
    return np.array([(f(x + d) - f(x - d)) / (2 * step) for d in rows])


def check(program, x, *rest):
    g = sdfgad.differentiate(program, wrt=[*range(1 + len(rest))])
    value, found = g.value_and_grad(x, *rest)
    assert_close(value, program(x, *rest))
    arguments = [x, *rest]
    for k, one in enumerate(found):
        expected = slope(lambda moved, k=k: program(*arguments[:k], moved, *arguments[k + 1 :]), arguments[k])
        assert_close(one, expected, 1e-6)


SPLINES = {
    "natural": interpolate.CubicSpline(KNOTS, VALUES, bc_type="natural"),
    "not-a-knot": interpolate.CubicSpline(KNOTS, VALUES),
    "without extrapolation": interpolate.CubicSpline(KNOTS, VALUES, extrapolate=False),
    "periodic": interpolate.CubicSpline(KNOTS, [*VALUES[:-1], 1.0], bc_type="periodic"),
    "pchip": interpolate.PchipInterpolator(KNOTS, VALUES),
    "akima": interpolate.Akima1DInterpolator(KNOTS, VALUES),
    "rows": interpolate.CubicSpline(KNOTS, np.stack([VALUES, VALUES**2], axis=1)),
}


@pytest.mark.parametrize("name", SPLINES)
@pytest.mark.parametrize("nu", [0, 1])
def test_piecewise_polynomials(name, nu):
    spline = SPLINES[name]

    def program(x):
        return np.sum(np.nan_to_num(spline(x, nu)) ** 2)

    check(program, AROUND if name != "akima" else INSIDE)


@pytest.mark.parametrize("kind", ["linear", "nearest", "previous", "next"])
def test_interp1d_from_outside(kind):
    f = interpolate.interp1d(KNOTS, VALUES, kind=kind, bounds_error=False, fill_value=(0.5, -2.0))

    def program(x):
        return np.sum(f(x) * np.sin(x))

    check(program, AROUND)


def test_numbers_of_interp1d_from_outside():
    """At a number it is a number, or a row, whatever is beyond the ends."""
    rows = np.stack([VALUES, 2 * VALUES, VALUES**2], axis=1)
    ends = interpolate.interp1d(KNOTS, rows, axis=0, bounds_error=False, fill_value=(rows[0], rows[-1]))
    columns = interpolate.interp1d(KNOTS, rows.T, bounds_error=False, fill_value=0.3)
    f = interpolate.interp1d(KNOTS, VALUES)

    def program(x):
        at = 0.5 * (KNOTS[0] + KNOTS[-1]) + 0.1 * np.tanh(x[0])
        return float(f(at)) + f(at) * np.ndim(f(at)) + ends(at) @ rows[1] + columns(at)[1] + np.sum(ends(x) @ rows[2])

    check(program, AROUND)


@pytest.mark.parametrize("fill", ["extrapolate", 0.3])
@pytest.mark.parametrize("kind", ["linear", "previous"])
def test_interp1d_inside(fill, kind):
    fails = None if fill == "extrapolate" else False

    def program(x, values, knots):
        f = interpolate.interp1d(knots, values, kind=kind, bounds_error=fails, fill_value=fill)
        return np.sum(np.nan_to_num(f(x)) * x) + np.sum(knots**2)

    check(program, AROUND, VALUES, KNOTS)


def test_a_point_outside():
    f = interpolate.interp1d(KNOTS, VALUES)
    g = sdfgad.differentiate(lambda x: np.sum(f(x)), wrt="x")
    with pytest.raises(ProgramRaises, match="outside of the range of interp1d"):
        g(AROUND)
