"""Derivatives of second and third order of programs with loops, branches and library calls, against JAX's."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sdfgad

jax.config.update("jax_enable_x64", True)
X, V = np.array([0.4, 0.7, 1.1, 0.9]), np.array([1.0, -0.5, 0.3, 0.8])


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def powers(x):
    return np.sum(x**3.5) + np.prod(x) + np.sum(x[0] ** x)


def shares(x):
    e = np.exp(x - np.max(x))
    return np.sum((e / np.sum(e)) ** 2)


def pendulum(x):
    q, p = x[0], x[1]
    for _ in range(10):
        q = q + 0.1 * p
        p = p - 0.1 * x[2] * np.sin(q)
    return q * q + x[3] * p


def relaxed(x):
    for _ in range(5):
        x = x + 0.2 * (np.roll(x, 1) - 2.0 * x + np.roll(x, -1)) * x
    return np.sum(x * x)


def nested_loops(x):
    total = 0.0
    for i in range(4):
        for j in range(i):
            total = total + np.sqrt((x[i] - x[j]) ** 2 + 0.1) * x[i]
    return total


def recurrence(x):
    y, total = x[0], 0.0
    for k in range(8):
        y = x[1] * y * (1.0 - 0.3 * y) + 0.01 * k
        total = total + y * x[2]
    return total


def horner(x):
    y = 0.0
    for k in range(4):
        y = y * 0.7 + x[3 - k] ** 2
    return np.sin(y)


def branches(x):
    if x[0] > x[1]:
        y = np.sum(x**2)
    else:
        y = np.sum(np.sin(x) * x)
    return y * x[2] if x[3] > 0.5 else y


def chosen(x):
    return np.sum(np.where(x > 0.8, x**3, np.cos(x)) * np.maximum(x, 0.5) * np.abs(x - 1.0))


def branches_in_a_loop(x):
    y = x[0]
    for k in range(6):
        y = y * 1.3 * x[1] if y < 1.0 else y * 0.5 + x[2] ** 2
        y = y + 0.01 * k
    return y * y


def clipped(x):
    return np.sum(np.clip(x * x, 0.3, 1.0) * np.exp(-x)) + np.min(x) * np.max(x)


def solved(x):
    a = np.outer(x, x) + np.diag(x + 2.0)
    return np.sum(np.linalg.solve(a, np.sin(x)) ** 2)


def factored(x):
    a = np.outer(x, x) + np.diag(np.exp(x))
    return np.sum(np.linalg.cholesky(a) ** 3)


def spectrum(x):
    a = np.outer(x, x**2)
    w, v = np.linalg.eigh(a + a.T + np.diag(np.arange(4.0)))
    return np.sum(w**3) + np.sum(v[:, 0] ** 4)


def volume(x):
    a = np.outer(x, np.cos(x)) + 2.0 * np.eye(4)
    return np.linalg.det(a) + np.sum(np.linalg.inv(a) ** 2)


def transformed(x):
    z = np.fft.fft(x * np.exp(x))
    return np.sum(np.abs(z) ** 4) + np.sum(np.real(np.fft.ifft(z**2)) ** 2)


def einsums(x):
    return np.einsum("ij,jk,k->", np.outer(x, x), np.outer(np.sin(x), x), np.exp(x))


def accumulated(x):
    return np.sum(np.cumsum(x) ** 3) + np.cumprod(x)[-1] * np.mean(x) + np.std(x)


def sorted_and_gathered(x):
    return np.sum(np.sort(x)[::-1][:2] ** 3) + np.sum(x[np.array([0, 0, 3])] ** 2 * x[1])


GROUPS = [
    (rosenbrock, powers, shares, einsums),
    (pendulum, relaxed, nested_loops, recurrence),
    (branches, chosen, branches_in_a_loop, clipped),
    (solved, factored, spectrum, volume),
    (transformed, horner, accumulated, sorted_and_gathered),
]


def in_jax(function):
    """The same function of jax.numpy."""
    return types.FunctionType(function.__code__, {**globals(), "np": jnp})


def total_of(functions):
    a, b, c, d = functions

    def total(x):
        return a(x) + 1.1 * b(x) - 0.7 * c(x) + 0.9 * d(x)

    return total


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0].__name__)
def test_second_and_third_derivatives(group):
    program, expected = total_of(group), total_of([in_jax(one) for one in group])
    np.testing.assert_allclose(program(X), expected(X), rtol=1e-12)
    along = jax.jvp(jax.grad(expected), (X,), (V,))[1]
    np.testing.assert_allclose(sdfgad.hvp(program, (X,), (V,)), along, rtol=1e-9, atol=1e-9)

    def curved(x, v):
        return np.sum(sdfgad.hvp(program, (x,), (v,)) * v)

    def curved_in_jax(x):
        return jnp.sum(jax.jvp(jax.grad(expected), (x,), (V,))[1] * V)

    third = sdfgad.grad(curved)(X, V)
    np.testing.assert_allclose(third, jax.grad(curved_in_jax)(X), rtol=1e-8, atol=1e-8)
