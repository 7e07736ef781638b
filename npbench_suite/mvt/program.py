"""Products of a matrix and of its transpose with vectors, added to x1 and x2."""


def initialize(N, rng):
    return {
        "x1": rng.uniform(-1, 1, N),
        "x2": rng.uniform(-1, 1, N),
        "y_1": rng.uniform(-1, 1, N),
        "y_2": rng.uniform(-1, 1, N),
        "A": rng.uniform(-1, 1, (N, N)),
    }


def mvt(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += y_2 @ A
