"""B-splines of scipy.interpolate, made in the program or before it; interp1d of all kinds; methods of PPoly."""

import numpy as np
import pytest
from scipy import interpolate

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(0.3, 3.6, 9)
AT = np.linspace(0.31, 3.7, 9)
KNOTS = np.linspace(0.0, 4.0, 12)
VALUES = np.sin(KNOTS) * KNOTS + 1.0
T, C = np.array([0.0, 0, 0, 0, 1, 2, 2.5, 3, 4, 4, 4, 4]), np.arange(8.0) ** 1.1
SPLINE = interpolate.BSpline(T, C, 3)
ROWS = interpolate.BSpline(T, np.stack([C, C**2], 1), 3, extrapolate=False)
PERIODIC = interpolate.BSpline(T, C, 3, extrapolate="periodic")
THROUGH = {k: interpolate.make_interp_spline(KNOTS, VALUES, k=k) for k in (0, 1, 2, 3, 5)}


def made_before(x):
    s = THROUGH[3]
    methods = s(x[0], 2) + s.derivative()(x[1]) + s.derivative(2)(x[2]) + s.antiderivative()(x[3])
    integrals = s.integrate(x[0], x[2]) + ROWS.integrate(-1.0, x[4])[1] + s(x[1], 4)
    return np.sum(SPLINE(x)) + np.nansum(ROWS(1.3 * x) ** 2) + np.sum(PERIODIC(1.7 * x)) + methods + integrals


def degrees_made_before(x):
    return sum(k * np.sum(THROUGH[k](x) * x) for k in THROUGH) + np.sum(THROUGH[3](x.reshape(3, 3)))


def coefficients(x):
    s = interpolate.BSpline(T, x[:8], 3)
    moved = interpolate.BSpline(np.cumsum(x), x[:5], 3)
    return np.sum(s(AT)) + np.sum(moved.antiderivative(2)(AT)) + moved.integrate(1.0, 5 * x[2])


def points(x):
    return sum(k * np.sum(interpolate.make_interp_spline(np.cumsum(x), x**2, k=k)(AT + 0.7)) for k in (1, 2, 3, 5))


def ends(x):
    t, y = np.cumsum(x), np.stack([x**2, x], 1)
    free = interpolate.make_interp_spline(t, y, bc_type="natural")(AT) * np.array([1.0, 2.0])
    clamped = interpolate.make_interp_spline(t, x**2, bc_type="clamped").derivative()(AT)
    given = interpolate.make_interp_spline(t, x**2, bc_type=([(1, x[0])], [(2, x[1])]))(AT)
    through = interpolate.splev(AT, interpolate.make_interp_spline(t, x))
    return np.sum(free) + np.sum(clamped) + np.sum(given) + np.sum(through)


TCK = interpolate.splrep(KNOTS, VALUES)
SMOOTH = interpolate.UnivariateSpline(KNOTS, VALUES, s=0.05)
CONSTANT = interpolate.UnivariateSpline(KNOTS, VALUES, s=0, ext=3)
FITTED = interpolate.LSQUnivariateSpline(KNOTS, VALUES, [1.1, 2.5])
SURFACE = interpolate.RectBivariateSpline(KNOTS, KNOTS[:9], np.outer(VALUES, np.cos(KNOTS[:9])))
LOWER = interpolate.RectBivariateSpline(KNOTS, KNOTS[:9], np.outer(VALUES, np.cos(KNOTS[:9])), kx=2, ky=1)
CURVE, _ = interpolate.splprep([np.cos(KNOTS), np.sin(KNOTS)], s=0)


def fitpack_made_before(x):
    value = np.sum(interpolate.splev(x, TCK)) + np.sum(interpolate.splev(x, TCK, der=1) * x)
    zero = np.sum(interpolate.splev(x + 1, TCK, der=2, ext=1)) + np.sum(interpolate.splev(x, SPLINE))
    integral = interpolate.splint(x[0], x[2], TCK) + interpolate.splint(-1, 3 * x[-1], TCK)
    return value + zero + integral + np.sum(np.array(interpolate.splev(x / 4, CURVE)) * x)


def univariate_made_before(x):
    methods = np.sum(SMOOTH.derivative()(x) * x) + SMOOTH.integral(x[0], x[3]) + SMOOTH.antiderivative()(x[1])
    edges = np.sum(CONSTANT(1.7 * x - 1)) + np.sum(CONSTANT.derivative()(1.7 * x - 1) * x)
    return np.sum(SMOOTH(x) * FITTED(x)) + methods + edges + SMOOTH(x[1], 1)


def surfaces_made_before(x):
    points = SURFACE.ev(x, 0.5 * x) + SURFACE.ev(x, 1.5 * x[::-1] - 0.5, dx=1) * x + LOWER.ev(x, 0.5 * x)
    grid = SURFACE(x, 0.5 * x) * np.outer(x, x) + LOWER(x, 0.5 * x) + SURFACE(x, x, dx=1, dy=1)
    return np.sum(points) + np.sum(grid) + SURFACE(x[0], x[1])[0, 0] + np.sum(SURFACE(x, x, grid=False))


def fitpack_inside(x):
    t = np.cumsum(x)
    s, r = interpolate.UnivariateSpline(t, x**2, s=0), interpolate.InterpolatedUnivariateSpline(t, x**3, k=4)
    pair = np.sum(s(AT) * r(AT)) + s.derivative()(1.3) + s.integral(0.2, 3.3) + s(5.5, nu=2)
    return pair + np.sum(interpolate.splev(AT, interpolate.splrep(t, x**2, k=2, s=0), der=1))


def surface_inside(x):
    s = interpolate.RectBivariateSpline(np.cumsum(x), 2 * np.cumsum(x), np.outer(x, np.sin(x)))
    lower = interpolate.RectBivariateSpline(AT, AT, np.outer(x, np.sin(x)), kx=1, ky=2)
    return np.sum(s.ev(AT, 1.1 * AT)) + np.sum(s(AT, 1.3 * AT, dy=1)) + np.sum(lower(AT, AT))


CUBIC, PCHIP = interpolate.CubicSpline(KNOTS, VALUES), interpolate.PchipInterpolator(KNOTS, VALUES)
LOOP = interpolate.CubicSpline(KNOTS, np.sin(KNOTS * np.pi / 2), bc_type="periodic")


def methods_of_pieces(x):
    first = np.sum(CUBIC.derivative()(x) * x) + np.sum(CUBIC.antiderivative()(x)) + CUBIC.integrate(x[0], x[4])
    return first + np.sum(PCHIP.derivative(2)(x) * x) + PCHIP.integrate(-0.4, x[4]) + LOOP.integrate(x[0] - 1, 4 * x[8])


def periods_inside(x):
    s = interpolate.CubicSpline(KNOTS[:5], np.append(x[:4], x[0]), bc_type="periodic")
    return s.integrate(0.3, 9.0 * x[0]) + np.sum(s.antiderivative()(AT / 3))


PROGRAMS = [made_before, degrees_made_before, coefficients, points, ends, fitpack_made_before, univariate_made_before]
PROGRAMS += [surfaces_made_before, fitpack_inside, surface_inside, methods_of_pieces, periods_inside]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_splines(program):
    assert_value_and_slope(program, X)


def test_compiled_code():
    def program(x):
        return coefficients(x) + np.sum(SURFACE.ev(x, 0.5 * x)) + np.sum(interpolate.splev(x, TCK, der=1))

    assert sdfgad.differentiate(program).value(X) == pytest.approx(program(X), rel=1e-11)
    sdfgad.check_grads(program, X)


KINDS = ("linear", "nearest", "nearest-up", "zero", "slinear", "quadratic", "cubic", "previous", "next", 4, 5)


@pytest.mark.parametrize("kind", KINDS)
def test_interp1d_that_was_made_before(kind):
    # Those that are splines were steps here.
    f = interpolate.interp1d(KNOTS, VALUES, kind=kind)
    beyond = interpolate.interp1d(KNOTS, VALUES, kind=kind, fill_value="extrapolate")
    rows = interpolate.interp1d(KNOTS, np.stack([VALUES, VALUES**2, 3 * VALUES]), kind=kind)

    def program(x):
        return np.sum(f(x) * x) + np.sum(np.nan_to_num(beyond(1.3 * x))) + np.sum(rows(x) * x) + np.sum(rows(x[0]))

    assert_value_and_slope(program, X)


def test_interp1d_through_nans():
    f = interpolate.interp1d(KNOTS, np.where(KNOTS > 3, np.nan, VALUES), kind="cubic")
    assert_value_and_slope(lambda x: np.sum(np.isnan(f(x))) + x[0], X)


@pytest.mark.parametrize("kind", ["zero", "quadratic", "cubic", 5])
def test_interp1d_inside(kind):
    def program(x):
        t = np.cumsum(x)
        f = interpolate.interp1d(t[::-1], np.stack([x, x**2])[:, ::-1], kind=kind, fill_value="extrapolate")
        return np.sum(f(AT + 0.03) * AT) + np.sum(f(1.3))

    assert_value_and_slope(program, X)


ACROSS = interpolate.BSpline(T, np.stack([C] * 9), 3, axis=1)
BERNSTEIN = interpolate.BPoly(np.arange(33.0).reshape(3, 11) % 4, KNOTS)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (lambda x: np.sum(BERNSTEIN(x)), "Bernstein basis"),
        (lambda x: np.sum(interpolate.UnivariateSpline(KNOTS[:9], x)(x)), "smoothing spline"),
        (lambda x: np.sum(interpolate.splev(x, interpolate.splrep(KNOTS[:9], x, per=1))), "splrep with these"),
        (lambda x: np.sum(interpolate.make_interp_spline(x, x, bc_type="periodic")(x)), "this end condition"),
        (lambda x: np.sum(ACROSS(x)), "along another axis"),
        (lambda x: np.sum(ACROSS.derivative()(x) * x), "along another axis"),
        (lambda x: np.sum(ACROSS.antiderivative()(x) * x), "along another axis"),
        (lambda x: PERIODIC.integrate(0.0, x[0]), "integral of a periodic spline"),
        (lambda x: np.sum(interpolate.interp1d(x, x, kind="loose")(x)), "no such kind of interp1d"),
    ],
)
def test_refusals(program, what):
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        parsed(program, X)
    assert "lambda x:" in str(caught.value)
