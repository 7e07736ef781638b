"""Vertical advection, in JAX, for timing."""

import jax
import jax.numpy as jnp

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

    upper, right = jax.lax.fori_loop(1, K - 1, between, (upper, right))

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

    return jax.lax.fori_loop(0, K - 1, back, (solution, utens_stage))[1]
