"""Symmetric rank-k update: the lower triangle of C becomes that of alpha A A^T + beta C."""


def initialize(M, N, rng):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": rng.uniform(-1, 1, (N, N)),
        "A": rng.uniform(-1, 1, (N, M)),
    }


def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
