"""What each trip makes anew for a library call is stored at the trip's end, and threads share loops of such trips."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad
from sdfgad.gradient.assemble import assemble
from sdfgad.ir.program import Loop
from sdfgad.optimise.passes import optimise
from sdfgad.runtime.compile import source_of
from tests.helpers_ir import adjoint_of, assert_slope, evaluated_gradients, floating, parsed
from tests.helpers_memory import check_memory
from tests.helpers_passes import check_function

RNG = np.random.default_rng(7)
A, B, X, N = RNG.uniform(0.1, 0.4, (3, 3)) + 2.0 * np.eye(3), RNG.uniform(0.5, 1.0, (3, 2)), RNG.uniform(0.5, 1.0, 4), 4


def scenarios(a, b, x, n):
    total = np.zeros((3, 2))
    for k in range(n):
        m = a * x[k] + np.eye(3)
        total += np.linalg.solve(m, b * x[k])
    return np.sum(total * total)


def in_turn(a, b, x, n):
    """The trips depend on each other, but not by the matrix."""
    u = b * 1.0
    for k in range(n):
        m = np.zeros((3, 3))
        m += a * np.sum(u)
        m[0] += x[k]
        u = np.linalg.solve(m, u + b)
    return np.sum(u * u)


def changed_twice(a, b, x, n):
    """Values in the middle of a trip are saved where they are overwritten, as before."""
    total = 0.0
    for k in range(n):
        m = a * x[k]
        c = np.linalg.inv(m)
        m = m * m + np.eye(3)
        total += np.sum(np.linalg.solve(m, b) ** 2) * c[0, 1]
    return total


def in_a_nest(a, b, x, n):
    total = 0.0
    for k in range(n):
        w = np.linalg.inv(a + x[k] * np.eye(3))
        for j in range(2):
            m = w * x[j] + np.eye(3)
            v = np.linalg.solve(m, b * x[k])
            total += np.sum(v * v) + w[0, j] ** 2
    return total


def until(a, b, x, n):
    u = b * 1.0
    while np.sum(u) > 0.2:
        m = a + np.outer(u[:, 0], u[:, 1])
        u = np.linalg.solve(m, u)
    return np.sum(u * u)


def by_sign(a, b, x, n):
    total = 0.0
    for k in range(n):
        m = a * x[k]
        y = np.linalg.solve(m, b)
        z = -y if x[k] < 0.75 else y
        total += np.sum(z * b) * x[k] ** 3
    return total


CASES = [scenarios, in_turn, changed_twice, in_a_nest, until, by_sign]


def made(program, use_slots=True):
    primal = parsed(program, A, B, X, N)
    wrt = tuple(primal.inputs[name] for name in floating(primal))
    return primal, assemble(adjoint_of(primal), wrt, primal.program.outputs["return"], use_slots=use_slots)


@pytest.mark.parametrize("program", CASES)
def test_gradients_are_the_same(program):
    for passes in ((), (optimise,)):
        (_, found), (_, expected) = (
            evaluated_gradients(*made(program, use_slots=s), 1.5, A, B, X, N, passes=passes) for s in (True, False)
        )
        for name, gradient in expected.items():
            np.testing.assert_allclose(found[name], gradient, rtol=1e-12)
    assert_slope(program, A, B, X, N)


@pytest.mark.parametrize("program", CASES)
def test_with_values_made_again_and_states_kept(program):
    check_memory(program, (A, B, X, N), trials=8)


@pytest.mark.parametrize("program", CASES)
def test_with_passes(program):
    check_function(program, (A, B, X, N))


def carried(program):
    """The arrays that a program's loop and its reversal have in common, but for tapes."""
    body = made(program)[1].program.body
    forward, reverse = (next(s for s in one if isinstance(s, Loop)) for one in (body, body[::-1]))
    primal = made(program)[0].program
    return {primal.buffers[n].source for n in forward.written & reverse.written if n in primal.buffers}


def test_matrices_stay_in_their_trip():
    assert "m" not in carried(scenarios)
    assert "m" not in carried(in_turn)


def kept(a, b, x, n):
    m = a * 1.0
    for k in range(n):
        m = a * x[k]
        b = np.linalg.solve(m, b)
    return np.sum(m * m) + np.sum(b * b)


def read_first(a, b, x, n):
    m = a * 1.0
    for k in range(n):
        c = np.sum(m * m)
        m = a * x[k] * c
        b = np.linalg.solve(m, b)
    return np.sum(b * b)


@pytest.mark.parametrize("program", [kept, read_first])
def test_what_other_trips_need_does_not(program):
    assert_slope(program, A, B, X, N)
    check_function(program, (A, B, X, N))


def responses(a, b, x):
    total = np.zeros(b.shape)
    for k in range(x.shape[0]):
        m = a * x[k] + np.eye(20)
        total += np.linalg.solve(m, b * x[k])
    return np.sum(total * total)


def test_threads_share_scenarios():
    """Forward and in reverse; the gradient is JAX's."""
    a, b, x = RNG.uniform(0.1, 0.4, (20, 20)) + 9.0 * np.eye(20), RNG.uniform(size=(20, 30)), RNG.uniform(0.5, 1.0, 400)
    g = sdfgad.differentiate(responses, wrt=("a", "b", "x"))
    assert source_of(g.programs(a, b, x)[0]).code.count("parallel for") == 2

    def same(a, b, x):
        total = jnp.sum(jax.vmap(lambda one: jnp.linalg.solve(a * one + jnp.eye(20), b * one))(x), axis=0)
        return jnp.sum(total * total)

    for found, expected in zip(g(a, b, x), jax.jit(jax.grad(same, (0, 1, 2)))(a, b, x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
