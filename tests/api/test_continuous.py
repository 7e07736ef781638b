"""`solve_ivp` with its continuous adjoint: gradients as analysis, the discrete adjoint and differences give them."""

from functools import partial

import numpy as np
import pytest
from scipy import integrate

import sdfgad
from tests.helpers import line_of
from tests.helpers_tiers import some

TIMES = np.linspace(0.0, 2.0, 9)
Y0, A = np.array([1.0, 0.5]), np.array([1.5, 1.0, 3.0, 1.0])
DATA = np.random.default_rng(3).uniform(0.5, 2.0, (2, 9))


def predators(t, y, a):
    return [a[0] * y[0] - a[1] * y[0] * y[1], -a[2] * y[1] + a[3] * y[0] * y[1]]


def fit(y0, a, data, times, method, adjoint):
    found = sdfgad.solve_ivp(
        predators, (0.0, 2.0), y0, method, times, args=(a,), rtol=1e-10, atol=1e-10, adjoint=adjoint
    )
    return np.sum((found.y - data) ** 2)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_both_adjoints_agree(method):
    g = sdfgad.differentiate(fit, wrt=("y0", "a", "times"))
    found, expected = (g(Y0, A, DATA, TIMES, method, adjoint) for adjoint in ("continuous", "discrete"))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_values_are_those_of_scipy():
    g = sdfgad.differentiate(fit, wrt="a")
    found = integrate.solve_ivp(predators, (0.0, 2.0), Y0, "RK45", TIMES, args=(A,), rtol=1e-10, atol=1e-10)
    expected = np.sum((found.y - DATA) ** 2)
    assert g.value(Y0, A, DATA, TIMES, "RK45", "continuous") == pytest.approx(expected, rel=1e-10)
    # It runs in NumPy, too.
    assert fit(Y0, A, DATA, TIMES, "RK45", "continuous") == expected


def long_decay(y0, rate, end, adjoint):
    found = sdfgad.solve_ivp(
        lambda t, y, rate: -rate * y, (0.0, end), y0, args=(rate,), rtol=1e-9, atol=1e-12, adjoint=adjoint
    )
    return np.sum(found.y[:, -1])


def test_it_stores_no_steps():
    y0, rate, end = np.linspace(1.0, 2.0, 50), np.linspace(0.1, 0.5, 50), 20.0
    g = sdfgad.differentiate(long_decay, wrt=("y0", "rate", "end"))
    by_y0, by_rate, by_end = g(y0, rate, end, "continuous")
    exact = np.exp(-rate * end)
    np.testing.assert_allclose(by_y0, exact, rtol=1e-6)
    np.testing.assert_allclose(by_rate, -end * y0 * exact, rtol=1e-6)
    np.testing.assert_allclose(by_end, np.sum(-rate * y0 * exact), rtol=1e-6)
    peaks = [g.measure(y0, rate, end, adjoint).peak_bytes for adjoint in ("continuous", "discrete")]
    assert peaks[0] < 0.3 * peaks[1]


def with_containers(y0, p, start, scale):
    """Backwards in time, from a right side that the program defines, by containers with integers among them."""

    def right(t, y, p, k, power):
        return p["rates"][0] * y**power - p["rates"][1] * np.roll(y, k) * t

    ends = start, 0.5 * start
    found = sdfgad.solve_ivp(right, ends, y0, "DOP853", args=(p, 1, 2), rtol=1e-11, atol=1e-11)
    return scale * np.sum(found.y[:, -1] ** 2) + found.t[-1]


def test_containers_and_steps_back():
    p = {"rates": [np.array([0.3, -0.2, 0.1]), 0.4], "name": "two"}
    arguments = np.array([0.5, 0.8, -0.3]), p, 1.5, 2.0
    assert sdfgad.check_grads(with_containers, *arguments).error < 1e-7


def pendulum(y0, length, times):
    def right(t, y, length):
        return np.stack((y[1], -9.81 / length * np.sin(y[0])))

    found = sdfgad.solve_ivp(right, (0.0, 1.0), y0, "DOP853", times, args=(length,), rtol=1e-11, atol=1e-11)
    return np.sum(found.y[0] ** 2)


def test_second_derivatives():
    y0, times = np.array([0.5, 0.1]), np.array([0.3, 1.0])
    curvature = sdfgad.hvp(pendulum, (y0, 1.2, times), (np.zeros(2), 1.0, np.zeros(2)))[1]
    h = 1e-4
    slopes = [sdfgad.grad(pendulum, 1)(y0, 1.2 + sign * h, times) for sign in (1.0, -1.0)]
    assert curvature == pytest.approx((slopes[0] - slopes[1]) / (2.0 * h), rel=1e-5)


def solved(fun, **more):
    found = sdfgad.solve_ivp(fun, (0.0, 1.0), np.ones(2), args=(1.0,), rtol=1e-9, atol=1e-10, **more)
    return np.sum(found.y[:, -1])


def decaying(rate, t, y, z):
    return -rate * y * z


class Decay:
    def __init__(self, rate):
        self.rate = rate

    def right(self, t, y, z):
        return -self.rate * y * z

    def __call__(self, t, y, z):
        return -self.rate * y * z


def by_partial(rate):
    return solved(partial(decaying, rate))


def by_checkpoint(rate):
    return solved(sdfgad.checkpoint(lambda t, y, z: -rate * y * z))


def by_a_gradient(rate):
    slope = sdfgad.grad(lambda y: 0.5 * rate * np.sum(y * y))
    return solved(lambda t, y, z: -slope(y) * z)


def by_a_batch(rate):
    return solved(sdfgad.vmap(lambda t, y, z: -rate * y * z, in_axes=(None, 0, None)))


def by_linearize(rate):
    _, push = sdfgad.linearize(lambda y: -rate * y, np.ones(2))
    return solved(lambda t, y, z: push(y) * z)


def by_a_default(rate):
    return solved(lambda t, y, z, rate=rate: -rate * y * z)


def by_a_method(rate):
    return solved(Decay(rate).right)


def by_an_object(rate):
    return solved(Decay(rate))


def within_a_function(rate):
    model = Decay(rate)
    return solved(lambda t, y, z: model(t, y, z))


HIDDEN = (by_partial, by_checkpoint, by_a_gradient, by_a_batch, by_linearize, by_a_default, by_a_method, by_an_object)


@pytest.mark.parametrize("program", [*HIDDEN, within_a_function], ids=lambda one: one.__name__)
def test_numbers_that_are_not_passed(program):
    """A gradient by them would be lost without a word."""
    with pytest.raises(sdfgad.UnsupportedProgram, match="the right side of solve_ivp reads") as caught:
        sdfgad.grad(lambda rate: program(rate) + rate)(0.5)
    assert "Pass it by `args`" in caught.value.todo


def kinds_of_args(k, v, y0):
    options = {"rtol": 1e-9, "atol": 1e-10}
    one = sdfgad.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), np.ones(1), args=(k,), **options).y[0, -1]
    two = sdfgad.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), np.ones(1), args=(v[1],), **options).y[0, -1]
    three = sdfgad.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0, **options).y[:, -1]
    four = sdfgad.solve_ivp(lambda t, y, n: -y * n, (0.0, 1.0), y0, args=(2,), **options).y[:, -1]
    return one + two + np.sum(three + four)


@pytest.mark.parametrize("dtype", some([np.float32, np.float64], 2))
def test_kinds_of_arguments(dtype):
    k, v = dtype(0.5), np.array([0.3, 0.7], dtype)
    by_k, by_v, by_y0 = sdfgad.grad(kinds_of_args, (0, 1, 2))(k, v, np.array([1.0, 0.5]))
    assert by_k == pytest.approx(-np.exp(-0.5), rel=1e-6)
    np.testing.assert_allclose(by_v, [0.0, -np.exp(-0.7)], rtol=1e-6)
    np.testing.assert_allclose(by_y0, np.full(2, np.exp(-1.0) + np.exp(-2.0)), rtol=1e-6)


def with_tolerances(rate):
    tolerances = np.array([1e-9, 1e-10])
    found = sdfgad.solve_ivp(
        lambda t, y, rate: -rate * y, (0.0, 1.0), np.ones(2), args=(rate,), rtol=1e-9, atol=tolerances
    )
    return np.sum(found.y[:, -1])


def test_a_tolerance_for_each_element():
    rate = np.array([0.5, 0.7])
    np.testing.assert_allclose(sdfgad.grad(with_tolerances)(rate), -np.exp(-rate), rtol=1e-6)


def of_an_object(y0, rate):
    model = Decay(rate)
    return np.sum(sdfgad.solve_ivp(lambda t, y, m: -m.rate * y, (0.0, 1.0), y0, args=(model,)).y[:, -1])


def unpassed(y0, rate):
    return np.sum(sdfgad.solve_ivp(lambda t, y: -rate * y, (0.0, 1.0), y0).y[:, -1])


def unknown(y0, rate):
    return np.sum(sdfgad.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0, adjoint="both").y[:, -1]) * rate


def implicit(y0, rate):
    return np.sum(sdfgad.solve_ivp(lambda t, y, r: -r * y, (0.0, 1.0), y0, "BDF", args=(rate,)).y[:, -1])


@pytest.mark.parametrize(
    ("program", "what", "todo"),
    [
        (unpassed, "the right side of solve_ivp reads `rate`", "Pass it by `args`"),
        (of_an_object, "`args` of solve_ivp hold an object", 'adjoint="discrete"'),
        (unknown, "adjoint='both' is not known", 'It is "continuous" or "discrete"'),
        (implicit, "an implicit method of solve_ivp is not supported", "DOP853"),
    ],
)
def test_refused(program, what, todo):
    with pytest.raises(sdfgad.SdfgadError, match=what) as caught:
        sdfgad.grad(program)(np.ones(2), 0.5)
    assert str(caught.value.where) == line_of(program, "solve_ivp")
    assert todo in str(caught.value)
