"""QR factorisation by modified Gram-Schmidt; A is left with its columns orthogonal, not normalised."""

import numpy as np


def initialize(M, N, rng):
    return {"A": rng.uniform(-1, 1, (M, N)) + 2.0 * np.eye(M, N)}


def gramschmidt(A):
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)

    for k in range(A.shape[1]):
        square = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(square)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= R[k, j] * Q[:, k]

    return Q, R
