"""solve_ivp and odeint inside of programs: SciPy's values, and gradients as analysis, JAX and differences give them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.ode import odeint as jax_odeint
from scipy import integrate

import sdfgad
from sdfgad.errors import ProgramRaises, SdfgadError
from tests.helpers import assert_close, line_of
from tests.helpers_ir import parsed

METHODS = ("RK23", "RK45", "DOP853")
TIMES = np.linspace(0.0, 2.0, 9)


def predators(t, y, a):
    return [a[0] * y[0] - a[1] * y[0] * y[1], -a[2] * y[1] + a[3] * y[0] * y[1]]


def fit(y0, a, data, tol, method):
    found = integrate.solve_ivp(predators, (0.0, 2.0), y0, method, TIMES, args=(a,), rtol=tol, atol=tol)
    return np.sum((found.y - data) ** 2)


def jax_fit(y0, a, data):
    def right(y, t):
        return jnp.stack(predators(t, y, a))

    found = jax_odeint(right, y0, jnp.asarray(TIMES), rtol=1e-12, atol=1e-12)
    return jnp.sum((found.T - data) ** 2)


Y0, A = np.array([1.0, 0.5]), np.array([1.5, 1.0, 3.0, 1.0])
DATA = np.random.default_rng(3).uniform(0.5, 2.0, (2, 9))


@pytest.mark.parametrize("method", METHODS)
def test_fit_of_lotka_and_volterra(method):
    g = sdfgad.differentiate(lambda y0, a, data, tol: fit(y0, a, data, tol, method), wrt=("y0", "a"))
    for tol in (1e-3, 1e-5, 1e-9):
        assert_close(g.value(Y0, A, DATA, tol), fit(Y0, A, DATA, tol, method), 1e-10)
    # The method of order 3 makes many steps where it is to be accurate.
    tol, tolerance = (1e-9, 1e-6) if method == "RK23" else (1e-12, 1e-9)
    expected = jax.grad(jax_fit, (0, 1))(jnp.asarray(Y0), jnp.asarray(A), jnp.asarray(DATA))
    for found, reference in zip(g(Y0, A, DATA, tol), expected, strict=True):
        assert_close(found, reference, tolerance)


def decay(y0, rate, ends, times):
    """Forwards and back, with times at the ends, by closures."""
    forwards = integrate.solve_ivp(lambda t, y: -rate * y, ends, y0, "DOP853", times, rtol=1e-12, atol=1e-12)
    back = integrate.solve_ivp(lambda t, y: -rate * y, ends[::-1], y0, t_eval=times[::-1], rtol=1e-12, atol=1e-12)
    return forwards.y[0], back.y[0], np.array([forwards.t[-1] + back.t[-1], 1.0 * forwards.success])


def test_decay_has_the_gradients_of_exponentials():
    y0, rate, ends, times = np.array([2.0]), np.array([0.7]), np.array([0.5, 3.0]), np.array([0.5, 1.2, 2.0, 3.0])
    g = sdfgad.differentiate(all_of_decay, wrt=("y0", "rate", "ends", "times"))
    w = np.random.default_rng(4).uniform(0.5, 1.0, 10)
    assert_close(g.value(y0, rate, ends, times), np.concatenate(decay(y0, rate, ends, times)), 1e-10)
    forwards, back = 2.0 * np.exp(-0.7 * (times - 0.5)), 2.0 * np.exp(-0.7 * (times[::-1] - 3.0))
    by_y0, by_rate, by_ends, by_times = g.vjp(y0, rate, ends, times, cotangent=w)
    u, v = w[:4], w[4:8]
    assert_close(by_y0, [(u @ forwards + v @ back) / 2.0], 1e-9)
    assert_close(by_rate, [-u @ (forwards * (times - 0.5)) - v @ (back * (times[::-1] - 3.0))], 1e-9)
    assert_close(by_ends, 0.7 * np.array([u @ forwards, v @ back]), 1e-8)
    expected = -0.7 * (u * forwards + (v * back)[::-1])
    expected[-1] += w[8]
    expected[0] += w[8]
    assert_close(by_times, expected, 1e-8)


def all_of_decay(y0, rate, ends, times):
    return np.concatenate(decay(y0, rate, ends, times))


def pendulum(state, t, damping, g):
    angle, speed = state
    return np.array([speed, -damping * speed - g * np.sin(angle)])


def swings(start, damping, g, times, weights):
    return np.sum(weights * integrate.odeint(pendulum, start, times, args=(damping, g)))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_pendulum_by_odeint(sign):
    times = sign * np.array([0.0, 0.5, 0.5, 2.0, 4.0])
    weights = np.random.default_rng(5).uniform(-1.0, 1.0, (5, 2))
    arguments = (np.array([1.0, 0.2]), 0.25, 5.0, times, weights)
    g = sdfgad.differentiate(swings, wrt=("start", "damping", "g"))
    value, gradients = g.value_and_grad(*arguments)
    assert_close(value, swings(*arguments), 2e-7)

    def exactly(start, damping, g):
        def right(t, y):
            return pendulum(y, t, damping, g)

        unique = np.array([0.0, 0.5, 2.0, 4.0]) * sign
        found = integrate.solve_ivp(right, (0.0, 4.0 * sign), start, "DOP853", unique, rtol=1e-13, atol=1e-13)
        return np.sum(weights * found.y.T[[0, 1, 1, 2, 3]])

    for k, gradient in enumerate(gradients):
        for place in np.ndindex(np.shape(gradient)):
            ends = []
            for h in (1e-3, -1e-3, 2e-3, -2e-3):
                moved = [np.array(argument, np.float64) for argument in arguments[:3]]
                moved[k][place] += h
                ends.append(exactly(moved[0], float(moved[1]), float(moved[2])))
            difference = (8.0 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / 12e-3
            assert_close(np.asarray(gradient)[place], difference, 1e-6)


def linear(matrix, y0, tol):
    """A system of a matrix, up to the end."""
    found = integrate.solve_ivp(lambda t, y: matrix @ y, (0.0, 1.5), y0, "DOP853", rtol=tol, atol=tol)
    return np.concatenate((found.y[:, -1], np.array([found.y[1, -1] * found.y[0, 0], found.t[-1], found["t"][0]])))


def test_the_end_of_a_linear_system():
    matrix, y0 = np.random.default_rng(6).uniform(-1.0, 1.0, (3, 3)), np.array([1.0, -0.5, 0.3])
    g = sdfgad.differentiate(linear, wrt=("matrix", "y0"))
    for tol in (1e-3, 1e-12):
        assert_close(g.value(matrix, y0, tol), linear(matrix, y0, tol), 1e-10)

    def exact(matrix, y0):
        end = jax.scipy.linalg.expm(1.5 * matrix) @ y0
        return jnp.concatenate((end, jnp.stack((end[1] * y0[0], 1.5, 0.0))))

    w = np.arange(1.0, 7.0)
    _, pullback = jax.vjp(exact, jnp.asarray(matrix), jnp.asarray(y0))
    for found, expected in zip(g.vjp(matrix, y0, 1e-12, cotangent=w), pullback(jnp.asarray(w)), strict=True):
        assert_close(found, expected, 1e-9)


def controlled(y0, length, longest):
    """Tolerances for each component, bounds on steps, a state that does not move, and no time at all."""
    right = lambda t, y: np.array([np.cos(t) * y[1], -y[0]])  # noqa: E731
    options = {"rtol": 1e-4, "atol": np.array([1e-5, 1e-7]), "first_step": length, "max_step": longest}
    found = integrate.solve_ivp(right, (0, 3), y0, method=integrate.RK45, t_eval=[1, 2.5], **options)
    still = integrate.solve_ivp(lambda t, y: 0.0 * y, (0.0, 1.0), y0, t_eval=[0.0, 1.0])
    none = integrate.solve_ivp(right, (1.0, 1.0), y0)
    times = np.linspace(0.0, 2.0, 3)
    return np.concatenate(
        (
            found.y.ravel(),
            still.y.ravel(),
            none.y[:, -1],
            integrate.odeint(lambda y, t: -y, y0[0], times).ravel(),
            integrate.odeint(lambda t, y: -t * y, y0, times, tfirst=True, h0=0.01, hmax=0.3).ravel(),
        )
    )


@pytest.mark.slow
def test_steps_that_are_bounded():
    g = sdfgad.differentiate(controlled, wrt="y0")
    y0 = np.array([1.0, 0.5])
    arguments = (y0, 0.1, 0.2)
    found, expected = g.value(*arguments), controlled(*arguments)
    assert_close(found[:10], expected[:10], 1e-11)
    assert_close(found[10:], expected[10:], 2e-7)
    w = np.linspace(1.0, 2.0, len(expected))
    ends = [controlled(y0 + h, 0.1, 0.2) @ w for h in (1e-4 * np.eye(2)).tolist() + (-1e-4 * np.eye(2)).tolist()]
    # The equations are linear: steps that are bounded are as long as before.
    assert_close(g.vjp(*arguments, cotangent=w), (np.array(ends[:2]) - ends[2:]) / 2e-4, 1e-5)


def test_a_limit_on_memory_holds():
    limit = 1 << 20
    plain = sdfgad.differentiate(fit_by_one, wrt=("y0", "a"))
    limited = sdfgad.differentiate(fit_by_one, wrt=("y0", "a"), memory_limit=limit)
    for one, other in zip(plain(Y0, A, DATA), limited(Y0, A, DATA), strict=True):
        assert_close(one, other, 1e-13)
    assert limited.measure(Y0, A, DATA).peak_bytes <= limited.plan(Y0, A, DATA).peak_bytes <= limit


def fit_by_one(y0, a, data):
    return fit(y0, a, data, 1e-8, "RK45")


def stiff(y0):
    return np.sum(integrate.odeint(lambda y, t: -1e7 * (y - np.cos(t)), y0, np.array([0.0, 1.0])))


def few(y0):
    return np.sum(integrate.odeint(lambda y, t: np.cos(t) * y, y0, np.array([0.0, 40.0]), mxstep=5))


def singular(y0):
    return np.sum(integrate.solve_ivp(lambda t, y: y**2, (0.0, 2.0), y0, t_eval=[2.0]).y)


def unsorted(y0):
    return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 2.0), y0, t_eval=y0 * np.array([1.0, 0.5])).y)


def outside(y0):
    return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 2.0), y0, t_eval=y0 * np.array([1.0, 2.5])).y)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (stiff, "more steps between two times than mxstep"),
        (few, "more steps between two times than mxstep"),
        (singular, "shorter than the distance between numbers"),
        (unsorted, "not sorted"),
        (outside, "outside of t_span"),
    ],
)
def test_what_fails_at_run_time(program, text):
    with pytest.raises(ProgramRaises, match=text) as caught:
        sdfgad.differentiate(program, wrt="y0")(np.array([1.0]))
    assert line_of(program, "return") in str(caught.value)


def by_method(method):
    def program(y0, times):
        return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0, method, times).y)

    return program


def all_steps(y0, times):
    return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0).y)


def row_of_steps(y0, times):
    return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0).y[0])


def transposed_steps(y0, times):
    return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0).y.T[-1])


def inner_steps(y0, times):
    return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0).y[:, 1:])


def with_events(y0, times):
    return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0, events=lambda t, y: y[0]).y[:, -1])


def with_output(y0, times):
    return np.sum(integrate.odeint(lambda y, t: -y, y0, times, full_output=True)[0])


def of_matrix(y0, times):
    return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0[None], t_eval=times).y)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (by_method("BDF"), "an implicit method of solve_ivp is not supported"),
        (by_method("Radau"), "an implicit method of solve_ivp is not supported"),
        (by_method("LSODA"), "an implicit method of solve_ivp is not supported"),
        (all_steps, "SolutionWithoutTEval is not"),
        (row_of_steps, "how many steps solve_ivp makes"),
        (transposed_steps, "how many steps solve_ivp makes"),
        (inner_steps, "how many steps solve_ivp makes"),
        (with_events, "events, dense_output and vectorized"),
        (with_output, "full_output, tcrit and hmin"),
        (of_matrix, "the initial state is to be a vector"),
    ],
)
def test_what_is_refused(program, text):
    with pytest.raises(SdfgadError, match=text) as caught:
        parsed(program, np.ones(2), np.linspace(0.0, 1.0, 3))
    assert line_of(program, "return") in str(caught.value)


def of_matrices(a):
    """A right side with methods of its own parameter, beside the index of the result."""
    found = integrate.solve_ivp(lambda t, y: (np.outer(a, a) @ y.reshape(2, 2)).ravel(), (0, 1), np.arange(4.0))
    return integrate.solve_ivp(lambda t, y: y.reshape(2, 2).ravel() * a[0], (0, 1), found.y[:, -1]).y[0, -1]


def test_a_state_that_is_reshaped():
    a = np.array([0.7, 0.5])
    value, found = sdfgad.differentiate(of_matrices, wrt="a").value_and_grad(a)
    assert_close(value, of_matrices(a), 1e-12)
    ends = [of_matrices(a + h) for h in (1e-3 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]]))]
    assert_close(found, (np.array(ends[:2]) - ends[2:]) / 2e-3, 2e-3)
