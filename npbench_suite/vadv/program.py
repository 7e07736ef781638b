"""Vertical advection, half explicit and half implicit: a tridiagonal system along the last axis for each column."""

import numpy as np

EXPLICIT = 0.5
IMPLICIT = 0.5


def initialize(I, J, K, rng):
    # The wind is weak enough for diagonally dominant systems.
    return {
        "utens_stage": rng.uniform(0, 1, (I, J, K)),
        "u_stage": rng.uniform(0, 1, (I, J, K)),
        "wcon": rng.uniform(-0.2, 0.2, (I + 1, J, K)),
        "u_pos": rng.uniform(0, 1, (I, J, K)),
        "utens": rng.uniform(0, 1, (I, J, K)),
        "dtr_stage": 3.0 / 20.0,
    }


def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    I, J, K = utens_stage.shape[0], utens_stage.shape[1], utens_stage.shape[2]
    # Eliminated coefficients, eliminated right sides, and the solution on the level above.
    upper = np.ndarray((I, J, K), dtype=utens_stage.dtype)
    right = np.ndarray((I, J, K), dtype=utens_stage.dtype)
    above = np.ndarray((I, J), dtype=utens_stage.dtype)

    # Forward: the first level, those between, the last.
    for k in range(1):
        wind_up = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        explicit_up = wind_up * EXPLICIT

        upper[:, :, k] = wind_up * IMPLICIT
        diagonal = dtr_stage - upper[:, :, k]

        advection = -explicit_up * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        right[:, :, k] = utens[:, :, k] + utens_stage[:, :, k] + dtr_stage * u_pos[:, :, k] + advection

        inverse = 1.0 / diagonal
        upper[:, :, k] = inverse * upper[:, :, k]
        right[:, :, k] = inverse * right[:, :, k]

    for k in range(1, K - 1):
        wind_down = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        wind_up = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        explicit_down = wind_down * EXPLICIT
        explicit_up = wind_up * EXPLICIT

        lower = wind_down * IMPLICIT
        upper[:, :, k] = wind_up * IMPLICIT
        diagonal = dtr_stage - lower - upper[:, :, k]

        advection = -explicit_down * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        advection = advection - explicit_up * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        right[:, :, k] = utens[:, :, k] + utens_stage[:, :, k] + dtr_stage * u_pos[:, :, k] + advection

        inverse = 1.0 / (diagonal - lower * upper[:, :, k - 1])
        upper[:, :, k] = inverse * upper[:, :, k]
        right[:, :, k] = inverse * (right[:, :, k] - lower * right[:, :, k - 1])

    for k in range(K - 1, K):
        wind_down = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        explicit_down = wind_down * EXPLICIT
        lower = wind_down * IMPLICIT
        diagonal = dtr_stage - lower

        advection = -explicit_down * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        right[:, :, k] = utens[:, :, k] + utens_stage[:, :, k] + dtr_stage * u_pos[:, :, k] + advection

        inverse = 1.0 / (diagonal - lower * upper[:, :, k - 1])
        right[:, :, k] = inverse * (right[:, :, k] - lower * right[:, :, k - 1])

    # Backward.
    for k in range(K - 1, K - 2, -1):
        solution = right[:, :, k]
        above[:] = solution
        utens_stage[:, :, k] = dtr_stage * (solution - u_pos[:, :, k])

    for k in range(K - 2, -1, -1):
        solution = right[:, :, k] - upper[:, :, k] * above[:, :]
        above[:] = solution
        utens_stage[:, :, k] = dtr_stage * (solution - u_pos[:, :, k])
