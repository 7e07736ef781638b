"""General matrix-matrix product: C becomes alpha A B + beta C."""


def initialize(NI, NJ, NK, rng):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": rng.uniform(-1, 1, (NI, NJ)),
        "A": rng.uniform(-1, 1, (NI, NK)),
        "B": rng.uniform(-1, 1, (NK, NJ)),
    }


def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C
