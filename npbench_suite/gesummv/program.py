"""Sum of two scaled matrix-vector products: alpha A x + beta B x."""


def initialize(N, rng):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": rng.uniform(-1, 1, (N, N)),
        "B": rng.uniform(-1, 1, (N, N)),
        "x": rng.uniform(-1, 1, N),
    }


def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x
