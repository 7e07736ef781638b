"""Programs that the tests of several bridges call."""

import numpy as np


def energy(x, k):
    return 0.5 * np.sum(k * x * x) + np.sum(np.sin(x))


def heat(steps, u, a):
    for _ in range(steps):
        u[1:-1] += a * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u, np.sum(u[1:-1] * a), steps


def waves(z, p):
    return {"w": np.exp(1j * z) * p["s"], "n": np.abs(z) ** 2, "name": "waves"}
