"""Linear solve by LU factorisation: A is factorised in place, x solves A x = b and y solves L y = b."""

import numpy as np


def initialize(N, rng):
    return {
        "A": rng.uniform(-1, 1, (N, N)) / N + np.diag(rng.uniform(1.5, 2.5, N)),
        "b": rng.uniform(-1, 1, N),
    }


def ludcmp(A, b):
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = (A[i, j] - np.dot(A[i, :j], A[:j, j])) / A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= np.dot(A[i, :i], A[:i, j])
    for i in range(A.shape[0]):
        y[i] = b[i] - np.dot(A[i, :i], y[:i])
    for i in range(A.shape[0] - 1, -1, -1):
        x[i] = (y[i] - np.dot(A[i, i + 1 :], x[i + 1 :])) / A[i, i]
    return x, y
