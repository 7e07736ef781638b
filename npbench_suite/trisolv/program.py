"""Forward substitution: x becomes the solution of L x = b; only the lower triangle of L is read."""

import numpy as np


def initialize(N, rng):
    return {
        "L": rng.uniform(-1, 1, (N, N)) / N + np.diag(rng.uniform(1.5, 2.5, N)),
        "x": rng.uniform(-1, 1, N),
        "b": rng.uniform(-1, 1, N),
    }


def trisolv(L, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / L[i, i]
