"""Symmetric rank-2k update: the lower triangle of C becomes that of alpha (A B^T + B A^T) + beta C."""


def initialize(M, N, rng):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": rng.uniform(-1, 1, (N, N)),
        "A": rng.uniform(-1, 1, (N, M)),
        "B": rng.uniform(-1, 1, (N, M)),
    }


def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * (A[: i + 1, k] * B[i, k] + B[: i + 1, k] * A[i, k])
