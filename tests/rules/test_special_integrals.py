"""Integrals, inverses and scaled functions of scipy.special: derivatives against mpmath, values against SciPy."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy import special

import sdfgad
from tests.helpers import module_from

P = 1.7


def bessel_rows(x):
    return np.stack(
        [
            *(special.k0e(x), special.k1e(x), special.kve(1.3, x), special.ive(1.3, x), special.ive(2, x)),
            *(special.jve(1.5, x), special.yve(0.7, x), special.spherical_jn(0, x), special.spherical_jn(2, x)),
            *(special.spherical_yn(0, x), special.spherical_yn(2, x), special.spherical_in(2, x)),
            *(special.spherical_kn(2, x), special.spherical_jn(3, x, derivative=True)),
            *(special.spherical_yn(0, x, True), special.spherical_in(1, x, True), special.spherical_kn(1, x, True)),
        ]
    )


def spherical(f, n, x):
    return mpmath.sqrt(mpmath.pi / (2 * x)) * f(n + mpf(0.5), x)


BESSEL = [
    *[lambda x, v=v: mpmath.exp(x) * mpmath.besselk(v, x) for v in (0, 1, 1.3)],
    *[lambda x, v=v: mpmath.exp(-x) * mpmath.besseli(v, x) for v in (1.3, 2)],
    lambda x: mpmath.besselj(1.5, x),
    lambda x: mpmath.bessely(0.7, x),
    *[lambda x, n=n: spherical(mpmath.besselj, n, x) for n in (0, 2)],
    *[lambda x, n=n: spherical(mpmath.bessely, n, x) for n in (0, 2)],
    lambda x: spherical(mpmath.besseli, 2, x),
    lambda x: spherical(mpmath.besselk, 2, x),
    lambda x: spherical(mpmath.besselj, 2, x) - 4 / x * spherical(mpmath.besselj, 3, x),
    lambda x: -spherical(mpmath.bessely, 1, x),
    lambda x: spherical(mpmath.besseli, 0, x) - 2 / x * spherical(mpmath.besseli, 1, x),
    lambda x: -spherical(mpmath.besselk, 0, x) - 2 / x * spherical(mpmath.besselk, 1, x),
]


def integral_rows(x):
    return np.stack(
        [
            *(special.exp1(x), special.expi(x), special.expn(0, x), special.expn(1, x), special.expn(3, x)),
            *(special.zeta(2.5, x), special.zeta(3, -x), special.dawsn(x), special.dawsn(12 * x), special.erfi(x)),
            *(special.wofz(x).imag, special.owens_t(x, P), special.owens_t(P, x), special.lambertw(x).real),
            *(
                special.lambertw(-x / 3).real,
                special.lambertw(-x / 3, -1).real,
                *special.airy(x),
                *special.airy(-4 * x),
            ),
            *(special.gammaincinv(P, x), special.gammainccinv(0.4, x), special.gammaincinv(1 + x, 0.3)),
            *(special.betaincinv(P, 0.6, x), special.betainccinv(P, 0.6, x), special.betaincinv(1 + x, P, 0.3)),
            *(special.betaincinv(P, 1 + x, 0.3), special.hyp0f1(1.5, x), special.hyp0f1(0.4, -5 * x)),
            *(special.hyp1f1(0.7, 1.5, x), special.hyp1f1(0.7, 1.5, -9 * x), special.hyp1f1(-3, 0.4, x)),
            *(special.voigt_profile(x, P, 0.4), special.voigt_profile(P, x, 0.4), special.voigt_profile(P, 0.6, x)),
            *(1e6 * special.voigt_profile(900 * x, P, 0.4), special.voigt_profile(0.3, P, -x)),
        ]
    )


def voigt(x, sigma, gamma):
    z = (x + 1j * gamma) / (sigma * mpmath.sqrt(2))
    return mpmath.re(mpmath.exp(-z * z) * mpmath.erfc(-1j * z)) / (sigma * mpmath.sqrt(2 * mpmath.pi))


def owens_t(h, a):
    integrand = lambda t: mpmath.exp(-h * h * (1 + t * t) / 2) / (1 + t * t)  # noqa: E731
    return mpmath.quad(integrand, [0, a]) / (2 * mpmath.pi)


def inverse(f, p, near):
    return mpmath.findroot(lambda y: f(y) - p, near)


def lower_gamma(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def lower_beta(a, b, x):
    return mpmath.betainc(a, b, 0, x, regularized=True)


INTEGRALS = [
    mpmath.e1,
    mpmath.ei,
    *[lambda x, n=n: mpmath.expint(n, x) for n in (0, 1, 3)],
    lambda x: mpmath.zeta(2.5, x),
    lambda x: mpmath.zeta(3, 1 - x) - 1 / x**3,
    lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
    lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-144 * x * x) * mpmath.erfi(12 * x),
    mpmath.erfi,
    lambda x: mpmath.exp(-x * x) * mpmath.erfi(x),
    lambda x: owens_t(x, mpf(P)),
    lambda x: owens_t(mpf(P), x),
    lambda x: mpmath.lambertw(x).real,
    lambda x: mpmath.lambertw(-x / 3).real,
    lambda x: mpmath.lambertw(-x / 3, -1).real,
    *[
        lambda x, f=f, s=s, d=d: f(s * x, derivative=d)
        for s in (1, -4)
        for f in (mpmath.airyai, mpmath.airybi)
        for d in (0, 1)
    ],
    lambda x: inverse(lambda y: lower_gamma(mpf(P), y), x, special.gammaincinv(P, float(x))),
    lambda x: inverse(lambda y: lower_gamma(mpf(0.4), y), 1 - x, special.gammainccinv(0.4, float(x))),
    lambda x: inverse(lambda y: lower_gamma(1 + x, y), mpf(0.3), special.gammaincinv(1 + float(x), 0.3)),
    lambda x: inverse(lambda y: lower_beta(mpf(P), mpf(0.6), y), x, special.betaincinv(P, 0.6, float(x))),
    lambda x: inverse(lambda y: lower_beta(mpf(P), mpf(0.6), y), 1 - x, special.betainccinv(P, 0.6, float(x))),
    lambda x: inverse(lambda y: lower_beta(1 + x, mpf(P), y), mpf(0.3), special.betaincinv(1 + float(x), P, 0.3)),
    lambda x: inverse(lambda y: lower_beta(mpf(P), 1 + x, y), mpf(0.3), special.betaincinv(P, 1 + float(x), 0.3)),
    lambda x: mpmath.hyp0f1(1.5, x),
    lambda x: mpmath.hyp0f1(mpf(0.4), -5 * x),
    lambda x: mpmath.hyp1f1(mpf(0.7), 1.5, x),
    lambda x: mpmath.hyp1f1(mpf(0.7), 1.5, -9 * x),
    lambda x: mpmath.hyp1f1(-3, mpf(0.4), x),
    lambda x: voigt(x, mpf(P), mpf(0.4)),
    lambda x: voigt(mpf(P), x, mpf(0.4)),
    lambda x: voigt(mpf(P), mpf(0.6), x),
    lambda x: 10**6 * voigt(900 * x, mpf(P), mpf(0.4)),
    lambda x: voigt(mpf(0.3), mpf(P), -x),
]


@pytest.mark.parametrize(("program", "references"), [(bessel_rows, BESSEL), (integral_rows, INTEGRALS)])
@pytest.mark.parametrize("x", [0.31, 0.88])
def test_derivatives(program, references, x):
    g, rows, h = sdfgad.differentiate(program), np.eye(len(references)), 1e-6
    for k, f in enumerate(references):
        slopes = [g.vjp(x + step, cotangent=rows[k])["x"] for step in (0, h, -h)]
        with mpmath.workdps(30):
            expected = [float(mpmath.re(mpmath.diff(f, mpf(x), n))) for n in (1, 2)]
        np.testing.assert_allclose(slopes[0], expected[0], rtol=2e-13, atol=1e-13, err_msg=f"row {k}")
        np.testing.assert_allclose(
            (slopes[1] - slopes[2]) / (2 * h), expected[1], rtol=1e-7, atol=1e-7, err_msg=f"row {k}"
        )


def over_decades(x):
    return np.stack(
        [
            *(special.kve(1.3, x), special.ive(1.3, x), special.ive(40, x), special.k0e(x), special.spherical_jn(7, x)),
            *(special.spherical_yn(2, x), special.spherical_in(5, x), special.spherical_kn(2, x), special.exp1(x)),
            *(special.expi(x), special.expn(4, x), special.dawsn(x), special.owens_t(x, 0.7), special.owens_t(0.7, x)),
            *(special.owens_t(x, 3.0), special.lambertw(x).real, special.zeta(1.5, x), *special.airy(x)),
            *(special.hyp0f1(0.7, x), special.hyp0f1(0.7, -x), special.hyp1f1(3.5, 1.2, -x), special.erfi(x)),
        ]
    )


def test_values_over_many_decades():
    x = np.geomspace(1e-9, 650.0, 60)
    found, expected = sdfgad.differentiate(over_decades).value(x), over_decades(x)
    # SciPy has NaN where Bi overflows
    expected = np.where(np.isnan(expected) & np.isinf(found), np.inf, expected)
    np.testing.assert_allclose(found, expected, rtol=2e-10, atol=1e-300)


def inverses(a, p):
    values = special.gammaincinv(a, p), special.gammainccinv(a, p), special.betaincinv(a, 0.6, p)
    return np.stack([*values, special.betainccinv(a, 0.6, p)])


def test_inverses_over_many_decades():
    p = np.concatenate([[0.0, 1e-30, 1e-9], np.linspace(0.1, 0.9, 9), [1 - 1e-9, 1.0, -0.1, np.nan]])
    g = sdfgad.differentiate(inverses)
    for a in (0.05, 1.0, 17.0, 300.0):
        np.testing.assert_allclose(g.value(a, p), inverses(a, p), rtol=1e-11, atol=1e-300)
    # where the density is 0 the inverse is steep, where it is infinite flat
    for a, expected in ((0.5, 0.0), (2.0, np.inf)):
        assert g.vjp(a, np.zeros(1), cotangent=np.array([[1.0], [0.0], [0.0], [0.0]]))["p"] == expected


def test_ends():
    value = sdfgad.differentiate(over_decades).value
    found = dict(zip(("zero", "infinity"), value(np.array([0.0, np.inf])).T, strict=True))
    inf, third, bairy = np.inf, special.airy(0.0)[0], special.airy(0.0)[2]
    slopes = special.airy(0.0)[1], special.airy(0.0)[3]
    zero = [
        inf,
        0,
        0,
        inf,
        0,
        -inf,
        0,
        inf,
        inf,
        -inf,
        1 / 3,
        0,
        special.owens_t(0.0, 0.7),
        0,
        special.owens_t(0.0, 3.0),
    ]
    zero += [0, inf, third, slopes[0], bairy, slopes[1], 1, 1, 1, 0]
    np.testing.assert_allclose(found["zero"], zero, rtol=1e-14)
    # the limits; SciPy has NaN for some of them
    infinity = [0, 0, 0, 0, 0, 0, inf, 0, 0, inf, 0, 0, 0, special.owens_t(0.7, inf), 0, inf, 0, 0, 0, inf, inf, inf]
    np.testing.assert_allclose(found["infinity"][:22], infinity, rtol=1e-14)


def test_slopes_at_the_ends():
    def program(x):
        return np.stack(
            [
                *(special.ive(0, x), special.ive(1, x), special.spherical_jn(1, x), special.spherical_in(1, x)),
                *(special.spherical_yn(2, x), special.spherical_kn(2, x), special.lambertw(x).real, special.exp1(x)),
                *(special.expn(3, x), special.dawsn(x), special.boxcox1p(0.7, x), special.inv_boxcox(0.7, x)),
                *(special.tandg(x), special.cosdg(x + 90.0), special.poch(x - 2.0, 3), special.airy(x)[0]),
            ]
        )

    g = sdfgad.differentiate(program)
    found = [g.vjp(0.0, cotangent=row)["x"] for row in np.eye(16)]
    degree = np.pi / 180
    expected = [0, 0.5, 1 / 3, 1 / 3, np.inf, -np.inf, 1, -np.inf, -1, 1, np.log1p(0.7) ** 2 / 2]
    expected += [-np.exp(0.7) * 0.7**2 / 2, degree, -degree, 2, special.airy(0.0)[1]]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_angles_in_degrees_are_exact_at_right_angles():
    x = np.array([-720.0, -90.0, 0.0, 45.0, 90.0, 180.0, 270.0, 1e13])
    value = sdfgad.differentiate(lambda x: np.stack([special.sindg(x), special.cosdg(x), special.tandg(x)])).value
    np.testing.assert_allclose(
        value(x), np.stack([special.sindg(x), special.cosdg(x), special.tandg(x)]), rtol=1e-15, atol=0
    )


def test_complex_branch_of_lambertw_is_nan():
    value = sdfgad.differentiate(lambda x: np.stack([special.lambertw(x).real, special.lambertw(x, -1).real])).value
    np.testing.assert_array_equal(value(-1.0), [np.nan, np.nan])
    np.testing.assert_array_equal(value(-np.exp(-1.0)), [-1.0, -1.0])


REFUSED = {
    "kve(x, 1.5)": "order of a Bessel function must be a constant",
    "spherical_jn(-1, x)": "whole number that is not negative",
    "expn(x, 1.5)": "must be a constant number",
    "zeta(0.5, x)": "constant exponents x > 1",
    "lambertw(x, 2).real": "real branches",
    "hyp1f1(x, 1.5, 1.0)": "SciPy has no derivative by it",
    "hyp0f1(-1, x)": "poles everywhere",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(text, tmp_path):
    program = module_from(f"from scipy import special\ndef program(x):\n    return special.{text}\n", tmp_path).program
    with pytest.raises(sdfgad.UnsupportedProgram, match=REFUSED[text]):
        sdfgad.differentiate(program)(0.5)
