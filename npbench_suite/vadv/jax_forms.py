"""Vertical advection, in JAX, for timing.

The expert form has levels first and scans over them with the wind's and the eliminated values of one level as carry;
the library form differentiates the tridiagonal solution implicitly, by lax.custom_linear_solve.
"""

import jax.numpy as jnp
from jax import lax

EXPLICIT = 0.5
IMPLICIT = 0.5


def port(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    """The tendencies, level by level along the last axis, in arrays that are updated."""
    I, J, K = utens_stage.shape
    upper = jnp.empty((I, J, K), dtype=utens_stage.dtype)
    right = jnp.empty((I, J, K), dtype=utens_stage.dtype)

    # Forward: the first level, those between, the last.
    wind_up = 0.25 * (wcon[1:, :, 1] + wcon[:-1, :, 1])
    implicit_up = wind_up * IMPLICIT
    diagonal = dtr_stage - implicit_up
    advection = -(wind_up * EXPLICIT) * (u_stage[:, :, 1] - u_stage[:, :, 0])
    rhs = utens[:, :, 0] + utens_stage[:, :, 0] + dtr_stage * u_pos[:, :, 0] + advection
    inverse = 1.0 / diagonal
    upper = upper.at[:, :, 0].set(inverse * implicit_up)
    right = right.at[:, :, 0].set(inverse * rhs)

    def between(k, state):
        upper, right = state
        wind_down = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        wind_up = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        explicit_down = wind_down * EXPLICIT
        explicit_up = wind_up * EXPLICIT
        lower = wind_down * IMPLICIT
        implicit_up = wind_up * IMPLICIT
        diagonal = dtr_stage - lower - implicit_up
        advection = -explicit_down * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        advection = advection - explicit_up * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        rhs = utens[:, :, k] + utens_stage[:, :, k] + dtr_stage * u_pos[:, :, k] + advection
        inverse = 1.0 / (diagonal - lower * upper[:, :, k - 1])
        upper = upper.at[:, :, k].set(inverse * implicit_up)
        right = right.at[:, :, k].set(inverse * (rhs - lower * right[:, :, k - 1]))
        return upper, right

    upper, right = lax.fori_loop(1, K - 1, between, (upper, right))

    k = K - 1
    wind_down = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
    explicit_down = wind_down * EXPLICIT
    lower = wind_down * IMPLICIT
    diagonal = dtr_stage - lower
    advection = -explicit_down * (u_stage[:, :, k - 1] - u_stage[:, :, k])
    rhs = utens[:, :, k] + utens_stage[:, :, k] + dtr_stage * u_pos[:, :, k] + advection
    inverse = 1.0 / (diagonal - lower * upper[:, :, k - 1])
    right = right.at[:, :, k].set(inverse * (rhs - lower * right[:, :, k - 1]))

    # Backward.
    solution = right[:, :, k]
    utens_stage = utens_stage.at[:, :, k].set(dtr_stage * (solution - u_pos[:, :, k]))

    def back(step, state):
        k = K - 2 - step
        above, utens_stage = state
        solution = right[:, :, k] - upper[:, :, k] * above
        return solution, utens_stage.at[:, :, k].set(dtr_stage * (solution - u_pos[:, :, k]))

    return lax.fori_loop(0, K - 1, back, (solution, utens_stage))[1]


def levels_first(*arrays):
    """The arrays with their last axis first."""
    return tuple(jnp.moveaxis(array, -1, 0) for array in arrays)


def substitute_back(upper, right):
    """The solution of the eliminated system."""

    def back(above, level):
        upper, right = level
        solution = right - upper * above
        return solution, solution

    return lax.scan(back, jnp.zeros_like(right[0]), (upper, right), reverse=True)[1]


def expert(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    """The tendencies, by scans over levels that stack what they find."""
    u, wind, position, known = levels_first(u_stage, wcon, u_pos, utens_stage + utens)
    # Both halves of the wind through the face above each level; none through the last.
    wind = 0.125 * (wind[1:, 1:] + wind[1:, :-1])
    none = jnp.zeros_like(wind[:1])
    wind = jnp.concatenate([wind, none])
    u_above = jnp.concatenate([u[1:], u[-1:]])

    def forward(below, level):
        upper_below, right_below, wind_below, change_below = below
        wind, u, u_above, known, position = level
        change = wind * (u_above - u)
        inverse = 1.0 / (dtr_stage + wind_below * (1.0 + upper_below) - wind)
        upper = inverse * wind
        right = inverse * (known + dtr_stage * position - change - change_below + wind_below * right_below)
        return (upper, right, wind, change), (upper, right)

    _, (upper, right) = lax.scan(forward, (none[0],) * 4, (wind, u, u_above, known, position))
    return jnp.moveaxis(dtr_stage * (substitute_back(upper, right) - position), 0, -1)


def library(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    """The tendencies, the solution of the tridiagonal system differentiated as such."""
    u, wind, position, known = levels_first(u_stage, wcon, u_pos, utens_stage + utens)
    wind = 0.125 * (wind[1:, 1:] + wind[1:, :-1])
    change = wind * jnp.diff(u, axis=0)
    none = jnp.zeros_like(wind[:1])
    below, above = jnp.concatenate([none, wind]), jnp.concatenate([wind, none])
    diagonal = dtr_stage + below - above
    rhs = dtr_stage * position + known - jnp.concatenate([none, change]) - jnp.concatenate([change, none])

    def product(x):
        return diagonal * x - below * jnp.concatenate([none, x[:-1]]) + above * jnp.concatenate([x[1:], none])

    def solve(_, rhs):
        return tridiagonal(-below, diagonal, above, rhs)

    def transposed(_, rhs):
        return tridiagonal(jnp.concatenate([none, wind]), diagonal, jnp.concatenate([-wind, none]), rhs)

    solution = lax.custom_linear_solve(product, rhs, solve, transposed)
    return jnp.moveaxis(dtr_stage * (solution - position), 0, -1)


def tridiagonal(lower, diagonal, upper, rhs):
    """Elimination and substitution along the first axis."""

    def forward(below, level):
        lower, diagonal, upper, rhs = level
        inverse = 1.0 / (diagonal - lower * below[0])
        eliminated = (inverse * upper, inverse * (rhs - lower * below[1]))
        return eliminated, eliminated

    zeros = jnp.zeros_like(rhs[0])
    return substitute_back(*lax.scan(forward, (zeros, zeros), (lower, diagonal, upper, rhs))[1])
