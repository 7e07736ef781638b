"""JAX forms of adi. The expert form computes the coefficients of the elimination, the same for all lines and steps,
once and outside, and scans along the implicit axis, carrying one line; the second half step works on the transpose."""

import jax.numpy as jnp
import numpy as np
from jax import lax


def port(TSTEPS, N, u):
    """The program's loops, with in-place updates as .at[].set."""
    r1 = 2.0 * N * N / TSTEPS
    r2 = 1.0 * N * N / TSTEPS
    a = -r1 / 2.0
    b = 1.0 + r1
    d = -r2 / 2.0
    e = 1.0 + r2

    def step(_, state):
        u, v, p, q = state

        def eliminate_rows(j, state):
            p, q = state
            denominator = a * p[1:-1, j - 1] + b
            explicit = (1.0 + 2.0 * d) * u[j, 1:-1] - d * (u[j, :-2] + u[j, 2:])
            p = p.at[1:-1, j].set(-a / denominator)
            return p, q.at[1:-1, j].set((explicit - a * q[1:-1, j - 1]) / denominator)

        def substitute_rows(k, v):
            j = N - 2 - k
            return v.at[j, 1:-1].set(p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j])

        def eliminate_columns(j, state):
            p, q = state
            denominator = d * p[1:-1, j - 1] + e
            explicit = (1.0 + 2.0 * a) * v[1:-1, j] - a * (v[:-2, j] + v[2:, j])
            p = p.at[1:-1, j].set(-d / denominator)
            return p, q.at[1:-1, j].set((explicit - d * q[1:-1, j - 1]) / denominator)

        def substitute_columns(k, u):
            j = N - 2 - k
            return u.at[1:-1, j].set(p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j])

        v = v.at[0, 1:-1].set(1.0)
        p = p.at[1:-1, 0].set(0.0)
        q = q.at[1:-1, 0].set(1.0)
        p, q = lax.fori_loop(1, N - 1, eliminate_rows, (p, q))
        v = v.at[N - 1, 1:-1].set(1.0)
        v = lax.fori_loop(0, N - 2, substitute_rows, v)

        u = u.at[1:-1, 0].set(1.0)
        p = p.at[1:-1, 0].set(0.0)
        q = q.at[1:-1, 0].set(1.0)
        p, q = lax.fori_loop(1, N - 1, eliminate_columns, (p, q))
        u = u.at[1:-1, N - 1].set(1.0)
        u = lax.fori_loop(0, N - 2, substitute_columns, u)
        return u, v, p, q

    zero = jnp.zeros_like(u)
    return lax.fori_loop(0, TSTEPS, step, (u, zero, zero, zero))[0]


def _coefficients(N, r):
    """The factors of the forward elimination and of the backward substitution, and the inverse denominators."""
    p, inverse = np.zeros(N - 1), np.zeros(N - 1)
    for j in range(1, N - 1):
        inverse[j] = 1.0 / (1.0 + r - r / 2.0 * p[j - 1])
        p[j] = r / 2.0 * inverse[j]
    return p[1:], inverse[1:, None]


def _half_step(field, N, implicit, explicit):
    """Implicit along the first axis and explicit along the second; from N - 2 rows of N to the interior."""
    p, inverse = _coefficients(N, implicit)
    right = ((1.0 - explicit) * field[:, 1:-1] + explicit / 2.0 * (field[:, :-2] + field[:, 2:])) * inverse

    def recur(previous, line):
        factor, known = line
        new = factor * previous + known
        return new, new

    ones = jnp.ones(N - 2)
    # The factor of the elimination equals that of the substitution.
    _, q = lax.scan(recur, ones, (p, right))
    return lax.scan(recur, ones, (p, q), reverse=True)[1]


def expert(TSTEPS, N, u):
    """Scans over the lines, within a scan over the steps."""
    r1 = 2.0 * N * N / TSTEPS
    r2 = 1.0 * N * N / TSTEPS
    ones = jnp.ones((N - 2, 1))

    def step(field, _):
        v = _half_step(field, N, r1, r2)
        v = jnp.concatenate([ones, v.T, ones], axis=1)
        return jnp.concatenate([ones, _half_step(v, N, r2, r1).T, ones], axis=1), None

    inner, _ = lax.scan(step, u[1:-1], length=TSTEPS)
    return jnp.concatenate([u[:1], inner, u[-1:]])


def library(TSTEPS, N, u):
    """One call for each tridiagonal system with many right sides."""
    r1 = 2.0 * N * N / TSTEPS
    r2 = 1.0 * N * N / TSTEPS
    ones = jnp.ones((N - 2, 1))
    ends = jnp.zeros((N - 2, 1)).at[jnp.array([0, -1])].set(1.0)

    def half_step(field, implicit, explicit):
        right = (1.0 - explicit) * field[:, 1:-1] + explicit / 2.0 * (field[:, :-2] + field[:, 2:])
        off = jnp.full(N - 2, -implicit / 2.0)
        diagonal = jnp.full(N - 2, 1.0 + implicit)
        return lax.linalg.tridiagonal_solve(
            off.at[0].set(0.0), diagonal, off.at[-1].set(0.0), right + implicit / 2.0 * ends
        )

    def step(_, field):
        v = half_step(field, r1, r2)
        v = jnp.concatenate([ones, v.T, ones], axis=1)
        return jnp.concatenate([ones, half_step(v, r2, r1).T, ones], axis=1)

    return jnp.concatenate([u[:1], lax.fori_loop(0, TSTEPS, step, u[1:-1]), u[-1:]])
