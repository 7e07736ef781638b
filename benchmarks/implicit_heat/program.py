"""Heat equation with variable conductivity: each half of a step is implicit in one direction and explicit in the other.

The conductivity is one of cells; at the border the temperature is zero.
"""

import numpy as np


def initialize(nx, ny, nt, rng):
    return {
        "T": rng.uniform(0, 1, (nx, ny)),
        "conductivity": rng.uniform(0.5, 1.5, (nx, ny)),
        "source": rng.uniform(0, 1, (nx, ny)),
        "nt": nt,
        "dt": 2.0 / (nx * ny),
        "dx": 1.0 / nx,
    }


def faces(k):
    """The conductivities between cells along the first axis, and at its ends."""
    result = np.empty((k.shape[0] + 1, k.shape[1]))
    result[1:-1] = 2.0 * k[1:] * k[:-1] / (k[1:] + k[:-1])
    result[0] = 2.0 * k[0]
    result[-1] = 2.0 * k[-1]
    return result


def flow(T, face):
    """What flows into cells along the first axis."""
    result = -(face[1:] + face[:-1]) * T
    result[1:] += face[1:-1] * T[:-1]
    result[:-1] += face[1:-1] * T[1:]
    return result


def thomas(lower, diagonal, upper, right):
    """The solutions of tridiagonal systems along the first axis."""
    n = diagonal.shape[0]
    c = np.zeros_like(diagonal)
    d = np.zeros_like(diagonal)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        d[i] = (right[i] - lower[i] * d[i - 1]) / pivot
    x = np.zeros_like(diagonal)
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def implicit(T, face, r):
    return thomas(-r * face[:-1], 1.0 + r * (face[1:] + face[:-1]), -r * face[1:], T)


def implicit_heat(T, conductivity, source, nt, dt, dx):
    r = 0.5 * dt / dx**2
    face_x = faces(conductivity)
    face_y = faces(conductivity.T)
    for _ in range(nt):
        right = T + r * flow(T.T, face_y).T + 0.5 * dt * source
        half = implicit(right, face_x, r)
        right = half + r * flow(half, face_x) + 0.5 * dt * source
        T[:] = implicit(right.T, face_y, r).T
