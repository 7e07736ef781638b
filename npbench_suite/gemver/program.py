"""Rank-2 update of a matrix, then a product with its transpose and one with the matrix itself."""

import numpy as np


def initialize(N, rng):
    vectors = {name: rng.uniform(-1, 1, N) for name in ("u1", "v1", "u2", "v2", "w", "x", "y", "z")}
    return {"alpha": 1.5, "beta": 1.2, "A": rng.uniform(-1, 1, (N, N)), **vectors}


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x
