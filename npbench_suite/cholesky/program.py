"""Cholesky factorisation: the lower triangle of A becomes the factor, row by row."""

import numpy as np


def initialize(N, rng):
    X = rng.uniform(-1, 1, (N, N))
    return {"A": X @ X.T / N + np.eye(N)}


def cholesky(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = (A[i, j] - np.dot(A[i, :j], A[j, :j])) / A[j, j]
        A[i, i] = np.sqrt(A[i, i] - np.dot(A[i, :i], A[i, :i]))
