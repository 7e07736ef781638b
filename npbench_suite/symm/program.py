"""Symmetric matrix product: C becomes alpha A B + beta C, A symmetric and given by its lower triangle."""

import numpy as np


def initialize(M, N, rng):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": rng.uniform(-1, 1, (M, N)),
        "A": rng.uniform(-1, 1, (M, M)),
        "B": rng.uniform(-1, 1, (M, N)),
    }


def symm(alpha, beta, C, A, B):
    below = np.zeros(C.shape[1], dtype=C.dtype)
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            below[j] = np.dot(A[i, :i], B[:i, j])
        C[i, :] += alpha * (A[i, i] * B[i, :] + below)
