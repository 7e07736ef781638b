"""Alternating-direction implicit method for a diffusion equation, with boundary value 1.

A half step solves a tridiagonal system along each line of the grid by the Thomas algorithm: p and q hold
the eliminated coefficients, v the field between the two half steps.
"""

import numpy as np


def initialize(TSTEPS, N, rng):
    return {"TSTEPS": TSTEPS, "N": N, "u": rng.uniform(-1, 1, (N, N))}


def adi(TSTEPS, N, u):
    v = np.zeros_like(u)
    p = np.zeros_like(u)
    q = np.zeros_like(u)

    # Diffusion numbers over the first and the second axis, for coefficients 2 and 1 and the step 1 / TSTEPS.
    r1 = 2.0 * N * N / TSTEPS
    r2 = 1.0 * N * N / TSTEPS
    a = -r1 / 2.0
    b = 1.0 + r1
    d = -r2 / 2.0
    e = 1.0 + r2

    for t in range(TSTEPS):
        # Implicit along the first axis.
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = 1.0
        for j in range(1, N - 1):
            p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
            explicit = (1.0 + 2.0 * d) * u[j, 1:-1] - d * (u[j, :-2] + u[j, 2:])
            q[1:-1, j] = (explicit - a * q[1:-1, j - 1]) / (a * p[1:-1, j - 1] + b)
        v[N - 1, 1:-1] = 1.0
        for j in range(N - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]

        # Implicit along the second axis.
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = 1.0
        for j in range(1, N - 1):
            p[1:-1, j] = -d / (d * p[1:-1, j - 1] + e)
            explicit = (1.0 + 2.0 * a) * v[1:-1, j] - a * (v[:-2, j] + v[2:, j])
            q[1:-1, j] = (explicit - d * q[1:-1, j - 1]) / (d * p[1:-1, j - 1] + e)
        u[1:-1, N - 1] = 1.0
        for j in range(N - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
