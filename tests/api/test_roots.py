"""Roots of functions of one number inside of programs: SciPy's values, and the implicit function's derivatives."""

import math

import numpy as np
import pytest
from scipy import optimize

import sdfgad
from sdfgad.errors import ProgramRaises, UnsupportedProgram
from tests.helpers import assert_close, line_of
from tests.helpers_ir import parsed

P = np.array([0.5, 2.0])


def kepler(e, p, anomaly):
    return e - p[0] * math.sin(e) - anomaly


def roots(p):
    """By all methods; with a branch; where the function is steep, flat, and noisy; of a helper; in a loop."""
    total = 0.0
    for k in range(3):
        total += optimize.brentq(kepler, -9.0, 9.0, args=(p, p[1] + k))
    return np.array(
        [
            optimize.brentq(lambda x: np.cos(x) - p[0] * x, 0.0, 2.0),
            optimize.bisect(lambda x, s: x**3 - s, 0, 5, args=(p[1],)),
            optimize.brentq(lambda x: 1e8 * (np.exp(x * 1e3) - 1.0 - p[0]), -0.1, 0.1),
            optimize.newton(lambda x: x**2 - p[1], 1.0),
            optimize.newton(lambda x: x**2 - p[1], 1.0, fprime=lambda x: 2.0 * x),
            optimize.root_scalar(lambda x: np.tanh(x) - p[0] * p[1] / 2.0, bracket=[-3, 3], method="brentq").root,
            optimize.root_scalar(lambda x: (3.0 * x if x > 1.0 else 1.0 * x) - p[1] * 3, bracket=[0.0, 9.0]).root,
            optimize.root_scalar(lambda x: x * p[0] - p[1] * p[0] + 1e6 - 1e6, x0=1.0, x1=3.0, method="secant").root,
            optimize.bisect(lambda x: x - p[0], 0.0, 1.0),
            total,
        ]
    )


def jacobian(p, x):
    anomalies = p[1] + np.arange(3.0)
    found = [optimize.brentq(kepler, -9.0, 9.0, args=(p, one)) for one in anomalies]
    slopes = 1.0 - p[0] * np.cos(found)
    return np.array(
        [
            [-x[0] / (np.sin(x[0]) + p[0]), 0.0],
            [0.0, 1.0 / (3.0 * x[1] ** 2)],
            [1e-3 / (1.0 + p[0]), 0.0],
            [0.0, 0.5 / x[3]],
            [0.0, 0.5 / x[4]],
            np.array([p[1], p[0]]) / 2.0 / (1.0 - (p[0] * p[1] / 2.0) ** 2),
            [0.0, 1.0],
            [0.0, 1.0],
            [1.0, 0.0],
            [np.sum(np.sin(found) / slopes), np.sum(1.0 / slopes)],
        ]
    )


@pytest.mark.slow
def test_values_and_gradients():
    g = sdfgad.differentiate(roots, wrt="p")
    expected = roots(P)
    assert_close(g.value(P), expected, 1e-10)
    rows = [g.vjp(P, cotangent=one) for one in np.eye(len(expected))]
    for k, (found, row) in enumerate(zip(rows, jacobian(P, expected), strict=True)):
        assert np.all(np.abs(found - row) <= 1e-8 * np.max(np.abs(row))), f"{k}: {found} is not {row}"


def loosely(p):
    """A root that is far from exact stays as it is, as in NumPy's own run."""
    return optimize.bisect(lambda x: x**3 - p[1], 0.0, 5.0, xtol=0.01)


def test_a_rough_root():
    value, found = sdfgad.differentiate(loosely, wrt="p").value_and_grad(P)
    assert value == loosely(P)
    assert_close(found, [0.0, 1.0 / (3.0 * value**2)], 1e-12)


def same_signs(p):
    return optimize.brentq(lambda x: x**2 + p[0], -1.0, 2.0)


def flat(p):
    return optimize.bisect(lambda x: p[0] * (max(x - 0.6, 0.0) + min(x - 0.4, 0.0)), 0.0, 1.0)


def kink(p):
    return optimize.bisect(lambda x: (x - 0.5) * p[0] if x > 0.5 else (x - 0.5) * p[1], 0.0, 2.0)


def without_end(p):
    return optimize.newton(lambda x: np.exp(x) * p[0], 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "text"),
    [
        (same_signs, "different signs"),
        (flat, "zero, or not the same on both sides"),
        (kink, "zero, or not the same on both sides"),
        (without_end, "within maxiter iterations"),
    ],
)
def test_what_fails_at_run_time(program, text):
    with pytest.raises(ProgramRaises, match=text) as caught:
        sdfgad.differentiate(program, wrt="p", allow_unused=True)(P)
    assert line_of(program, "return") in str(caught.value)


def several(p):
    return np.sum(optimize.newton(lambda x: x**2 - p, p))


def with_report(p):
    return optimize.brentq(lambda x: x - p[0], 0.0, 1.0, full_output=True)[0]


@pytest.mark.parametrize(("program", "text"), [(several, "from several starts at once"), (with_report, "full_output")])
def test_what_is_refused(program, text):
    with pytest.raises(UnsupportedProgram, match=text) as caught:
        parsed(program, P)
    assert line_of(program, "return") in str(caught.value)
