"""First and second derivatives of special functions against mpmath, and their values at the ends of their domains."""

from functools import partial

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
            *(special.y0(x), special.y1(x), special.yn(2, x), special.yv(1.5, x), special.k0(x), special.k1(x)),
            *(special.kn(2, x), special.kv(0.5, x), special.iv(2, x), special.iv(0.3, x), special.jv(1.5, x)),
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
    *[lambda x, v=v: mpmath.bessely(v, x) for v in (0, 1, 2, 1.5)],
    *[lambda x, v=v: mpmath.besselk(v, x) for v in (0, 1, 2, 0.5)],
    *[lambda x, v=v: mpmath.besseli(v, x) for v in (2, 0.3)],
    lambda x: mpmath.besselj(1.5, x),
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


def of_real_orders(x):
    return np.stack(
        [
            *(special.jv(0.5, x), special.jv(2.5, x), special.yv(0.7, x), special.yn(3, x), special.kv(1.3, x)),
            *(special.k0(x), special.iv(1.3, x), special.iv(4, x)),
        ]
    )


def test_bessel_functions_over_many_decades():
    x = np.concatenate([np.geomspace(1e-3, 600.0, 60), [0.0]])
    found, expected = sdfgad.differentiate(of_real_orders).value(x), of_real_orders(x)
    # Oscillating ones are as accurate as their argument.
    np.testing.assert_allclose(found[4:], expected[4:], rtol=1e-11)
    np.testing.assert_allclose(found[:4], expected[:4], rtol=1e-10, atol=1e-12)
    value = sdfgad.differentiate(of_real_orders).value
    ends = np.array([-1.0, np.nan, np.inf])
    np.testing.assert_allclose(value(ends)[:, :2], of_real_orders(ends)[:, :2], rtol=1e-12)
    # SciPy has NaN at infinity for some of them; these are the limits.
    np.testing.assert_array_equal(value(ends)[:, 2], [0, 0, 0, 0, 0, 0, np.inf, np.inf])


def test_slopes_of_bessel_functions_at_zero():
    slopes = sdfgad.differentiate(lambda x: special.iv(1, x) + special.iv(2, x) + special.jv(1.5, x))(0.0)
    assert slopes["x"] == 0.5
    assert sdfgad.differentiate(lambda x: special.jv(0.5, x))(0.0)["x"] == np.inf


def curved_at_zero(x):
    return np.stack([special.iv(2, x[0]), special.ive(2, x[1]), special.jv(2.0, x[2]), special.iv(3, x[3])])


def test_second_derivatives_of_bessel_functions_at_zero():
    """Of f / x, which is 0 / 0, only the limit was taken."""
    slopes = sdfgad.differentiate(curved_at_zero, wrt="x", reduce="sum")
    moved = sdfgad.jvp(lambda x: slopes(x), (np.zeros(4),), (np.ones(4),))[1]
    np.testing.assert_allclose(moved, [0.25, 0.25, 0.25, 0.0], atol=1e-15)


EVEN_AND_ODD = [lambda x: mpmath.sincpi(x), *(partial(f, n) for f in (mpmath.besselj, mpmath.besseli) for n in (0, 1))]
EVEN_AND_ODD.append(lambda x: mpmath.exp(-x) * mpmath.besseli(1, x))


def even_and_odd(x):
    return np.stack(
        [np.sinc(x[0]), special.j0(x[1]), special.j1(x[2]), special.i0(x[3]), special.i1(x[4]), special.i1e(x[5])]
    )


def test_derivatives_up_to_the_third_at_zero_and_near_it():
    """Quotients by the argument cancel there, and so do their derivatives, of which only the first was right."""
    x = np.array([0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.3, 0.99, 1.01, 2.7, 9.0])
    program = even_and_odd
    with mpmath.workdps(60):
        for order in (1, 2, 3):
            program = sdfgad.differentiate(program, wrt="x", reduce="sum")
            found = program(np.tile(x, (6, 1)))
            points = [mpmath.mpf(t) + (mpmath.mpf("1e-25") if t == 0 else 0) for t in x]
            expected = [[mpmath.diff(f, t, order, h=mpmath.mpf("1e-30")) for t in points] for f in EVEN_AND_ODD]
            # i1e has a kink in its first derivative at 0.
            found[5, :1] = np.array(expected, float)[5, :1] if order > 1 else found[5, :1]
            np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("program", [lambda x: special.kv(x, 1.0), lambda x: special.yv(-1.0, x)])
def test_orders_of_bessel_functions_are_constants(program):
    with pytest.raises(sdfgad.UnsupportedProgram, match="order of a Bessel function must be a constant") as caught:
        sdfgad.differentiate(program)(1.5)
    assert "special." in str(caught.value)


# --- slopes of densities at the ends of their ranges

ENDS = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 9.5]


def of_density(a, b):
    """The derivative of ``x**(a - 1) (1 - x)**(b - 1) / B(a, b)`` at 0: its limit from the right."""
    if a in (1.0, 2.0):
        return -b * (b - 1) if a == 1.0 else b * (b + 1)
    return -np.inf if a < 1 else np.inf if a < 2 else 0.0


def beta_cdf(x, a, b):
    return special.betainc(a, b, x)


def gamma_cdf(x, a):
    return special.gammainc(a, x)


def test_second_slopes_of_betainc_at_the_ends():
    slope = sdfgad.differentiate(beta_cdf, wrt="x", reduce="sum")
    second = sdfgad.differentiate(lambda x, a, b: slope(x, a, b), wrt=("x", "a", "b"), reduce="sum")
    a, b = (grid.ravel() for grid in np.meshgrid(ENDS, ENDS))
    at_start, by_a, by_b = second(np.zeros(a.size), a, b)
    np.testing.assert_allclose(at_start, [*map(of_density, a, b)], rtol=1e-12)
    at_end, by_a_of_end, _ = second(np.ones(a.size), a, b)
    np.testing.assert_allclose(at_end, [-of_density(q, p) for p, q in zip(a, b, strict=True)], rtol=1e-12)
    # Of the density at 0, which is b where a is 1, and 0 above.
    np.testing.assert_array_equal(by_a, np.where(a > 1, 0.0, -np.inf))
    np.testing.assert_allclose(by_b, np.where(a > 1, 0.0, np.where(a == 1, 1.0, np.inf)), rtol=1e-12)
    np.testing.assert_allclose(by_a_of_end, np.where(b > 1, 0.0, np.where(b == 1, 1.0, np.inf)), rtol=1e-12)


def test_second_slopes_of_betainc_inside():
    slope = sdfgad.differentiate(beta_cdf, wrt="x", reduce="sum")
    second = sdfgad.differentiate(lambda x, a, b: slope(x, a, b), wrt=("x", "a", "b"), reduce="sum")
    a, b, x = (grid.ravel() for grid in np.meshgrid(ENDS, ENDS, [1e-9, 0.3, 0.95]))

    def density(x, a, b):
        return mpmath.power(x, a - 1) * mpmath.power(1 - x, b - 1) / mpmath.beta(a, b)

    with mpmath.workdps(40):
        for k, found in enumerate(second(x, a, b)):
            at = [(*map(mpmath.mpf, one),) for one in zip(x, a, b, strict=True)]
            orders = tuple(int(k == n) for n in range(3))
            np.testing.assert_allclose(found, [float(mpmath.diff(density, p, orders)) for p in at], rtol=1e-9)


def test_second_slopes_of_gammainc_at_the_start():
    slope = sdfgad.differentiate(gamma_cdf, wrt="x", reduce="sum")
    second = sdfgad.differentiate(lambda x, a: slope(x, a), wrt=("x", "a"), reduce="sum")
    a = np.array(ENDS)
    by_x, by_a = second(np.zeros(a.size), a)
    np.testing.assert_array_equal(by_x, [-np.inf, -1.0, np.inf, 1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(by_a, np.where(a > 1, 0.0, -np.inf))


def test_bessel_functions_next_to_zero():
    x, orders = np.array([5e-324, 1e-310, 0.99e-300]), (0.5, 1.5)
    first = sdfgad.differentiate(lambda x: np.stack([special.kv(v, x) for v in (0, *orders)])).value(x)
    second = sdfgad.differentiate(lambda x: np.stack([special.yv(v, x) for v in orders])).value(x)
    scaled = sdfgad.differentiate(lambda x: special.kve(0.5, x)).value(x)
    for found, f, rows in ((first, mpmath.besselk, (0, *orders)), (second, mpmath.bessely, orders)):
        expected = [[float(f(v, mpmath.mpf(one))) for one in x] for v in rows]
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    np.testing.assert_array_equal(scaled, first[1])


def test_pseudo_huber_far_away_and_at_zero():
    delta, r = np.array([0.0, 0.0, 0.3, 1e200, -0.5, 2.0]), np.array([0.0, 0.3, 1e200, 1.0, 0.3, 0.0])
    found, pull = sdfgad.vjp(lambda d, r: special.pseudo_huber(d, r), delta, r)
    np.testing.assert_allclose(found, [0.0, 0.0, 3e199, 0.5, np.inf, 0.0], rtol=1e-13)
    np.testing.assert_allclose(pull(np.ones(6))["r"], [0.0, 0.0, 0.3, 1.0, 0.0, 0.0], rtol=1e-13)


def test_a_program_with_one_special_function_has_that():
    """Headers for real numbers alone had another function of this name."""
    x = np.array([2.0, -1.0, 0.5])
    np.testing.assert_allclose(sdfgad.differentiate(lambda x: special.iv(1, x)).value(x), special.iv(1, x), rtol=1e-13)


def beyond_their_domains(x):
    harmonics = special.sph_harm_y(2, 1, x, 0.3).real + special.sph_harm_y(3, -3, x, 0.3).imag
    return np.stack([special.polygamma(2, x), special.polygamma(3, x), harmonics])


def test_polygamma_and_harmonics_of_negative_numbers():
    x = np.array([-0.5, -2.3, -3.0, 0.0, 1.4])
    g = sdfgad.differentiate(beyond_their_domains, reduce="sum")
    np.testing.assert_allclose(g.value(x), beyond_their_domains(x), rtol=1e-12)
    sdfgad.check_grads(beyond_their_domains, x[[0, 1, 4]])
    at_pole = sdfgad.differentiate(lambda t: special.sph_harm_y(1, 1, t, 0.0).real)(0.0)
    np.testing.assert_allclose(at_pole["t"], -np.sqrt(3 / (8 * np.pi)), rtol=1e-13)
