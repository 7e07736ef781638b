"""scipy.integrate.quad and fixed_quad inside of programs: SciPy's values, and gradients as analysis gives them."""

import math

import numpy as np
import pytest
from scipy import integrate

import sdfgad
from sdfgad.errors import ProgramRaises, UnsupportedProgram
from tests.helpers import assert_close, line_of
from tests.helpers_ir import parsed

P, ENDS = np.array([0.5, 2.0]), np.array([0.1, 2.0])


def bell(x, scale, center):
    return math.exp(-((x - center) ** 2) / (2.0 * scale))


def over_parts(p, ends):
    """Smooth, backwards, over infinite intervals, with a singular derivative, a peak, a kink, and of vectors."""
    peak, error = integrate.quad(lambda x: 1.0 / ((x - 0.3) ** 2 + 1e-4 * p[1]), ends[1], ends[0])
    return np.array(
        [
            integrate.quad(bell, -np.inf, np.inf, args=(p[0], p[1]))[0],
            integrate.quad(lambda x: np.exp(-p[1] * x), ends[0], np.inf)[0],
            integrate.quad(lambda x: np.exp(p[1] * x), -np.inf, ends[0])[0],
            integrate.quad(lambda x: x ** p[0], 0, 1)[0],
            peak,
            integrate.quad(lambda x: abs(x - p[0]), ends[0], ends[1], epsabs=1e-12, epsrel=1e-12)[0],
            integrate.fixed_quad(lambda x, s: s * np.exp(x), ends[0], ends[1], (p[1],), 7)[0],
            1.0 * (error < 1e-5),
        ]
    )


def derivatives(p, ends):
    """The rows of the Jacobian by p[0], p[1], ends[0], ends[1]."""
    (q, r), (a, b) = p, ends
    width = 1e-2 * np.sqrt(r)

    def primitive(x):
        return np.arctan((x - 0.3) / width) / width

    def by_width(x):
        return -primitive(x) / width - (x - 0.3) / ((x - 0.3) ** 2 + width**2) / width

    def peak(x):
        return 1.0 / ((x - 0.3) ** 2 + width**2)

    return [
        [np.sqrt(np.pi / (2.0 * q)), 0.0, 0.0, 0.0],
        [0.0, -np.exp(-r * a) * (a / r + 1.0 / r**2), -np.exp(-r * a), 0.0],
        [0.0, np.exp(r * a) * (a / r - 1.0 / r**2), np.exp(r * a), 0.0],
        [-1.0 / (1.0 + q) ** 2, 0.0, 0.0, 0.0],
        [0.0, (by_width(a) - by_width(b)) * width / (2.0 * r), peak(a), -peak(b)],
        [2.0 * q - a - b, 0.0, -abs(a - q), abs(b - q)],
        [0.0, np.exp(b) - np.exp(a), -r * np.exp(a), r * np.exp(b)],
        [0.0, 0.0, 0.0, 0.0],
    ]


@pytest.mark.slow
def test_values_and_gradients():
    g = sdfgad.differentiate(over_parts, wrt=("p", "ends"))
    assert_close(g.value(P, ENDS), over_parts(P, ENDS), 1e-9)
    rows = []
    for one in np.eye(8):
        rows.append(np.concatenate(g.vjp(P, ENDS, cotangent=one)))
    # The kink is as near to a point as the tolerance of the integral, whose error is the square of the distance.
    assert_close(rows[:5], derivatives(P, ENDS)[:5], 1e-8)
    assert_close(rows[5], derivatives(P, ENDS)[5], 1e-5)
    assert_close(rows[6:], derivatives(P, ENDS)[6:], 1e-9)


def in_a_loop(p):
    total = 0.0
    for k in range(4):
        total += integrate.quad(lambda x, k=k: np.sin(p[0] * x + k), 0.0, p[1] + k)[0]
    return total


def test_integrals_in_a_loop():
    g = sdfgad.differentiate(in_a_loop, wrt="p")
    value, found = g.value_and_grad(P)
    assert_close(value, in_a_loop(P), 1e-12)
    k, (q, r) = np.arange(4.0), P
    end = q * (r + k) + k
    by_q = np.sum((np.cos(end) - np.cos(k)) / q**2 + np.sin(end) * (r + k) / q)
    assert_close(found, [by_q, np.sum(np.sin(end))], 1e-12)


def divergent(p):
    return integrate.quad(lambda x: p[0] / x, 0.0, 1.0)[0]


def up_to_data(p):
    return integrate.quad(lambda x: np.exp(-p[0] * x), 0.0, p[1])[0]


def test_what_fails_at_run_time():
    with pytest.raises(ProgramRaises, match="does not converge within the limit") as caught:
        sdfgad.differentiate(divergent, wrt="p")(P)
    assert line_of(divergent, "return") in str(caught.value)
    g = sdfgad.differentiate(up_to_data, wrt="p")
    assert_close(g(P), [(1.0 * 2.0 * np.exp(-1.0) * 0.5 - (1.0 - np.exp(-1.0))) / 0.25, np.exp(-1.0)], 1e-12)
    with pytest.raises(ProgramRaises, match="a limit of quad is infinite"):
        g(np.array([0.5, np.inf]))


def with_points(p):
    return integrate.quad(lambda x: p[0] * abs(x), -1.0, 1.0, points=[0.0])[0]


def in_two_dimensions(p):
    return integrate.dblquad(lambda x, y: p[0] * x * y, 0.0, 1.0, 0.0, 1.0)[0]


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (with_points, "full_output, points, weight and complex_func of quad are not supported"),
        (in_two_dimensions, "an adaptive quadrature in several dimensions"),
    ],
)
def test_what_is_refused(program, text):
    with pytest.raises(UnsupportedProgram, match=text) as caught:
        parsed(program, P)
    assert line_of(program, "return") in str(caught.value)
