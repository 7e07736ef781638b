"""LU factorisation without pivoting: A becomes its unit lower and its upper factor, row by row."""

import numpy as np


def initialize(N, rng):
    return {"A": rng.uniform(-1, 1, (N, N)) / N + np.diag(rng.uniform(1.5, 2.5, N))}


def lu(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = (A[i, j] - np.dot(A[i, :j], A[:j, j])) / A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= np.dot(A[i, :i], A[:i, j])
