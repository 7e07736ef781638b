"""Cholesky factorisation by NumPy's own function: the lower triangle of A becomes the factor, the upper one stays."""

import numpy as np


def initialize(N, rng):
    X = rng.uniform(-1, 1, (N, N))
    return {"A": X @ X.T / N + np.eye(N)}


def cholesky2(A):
    A[:] = np.linalg.cholesky(A) + np.triu(A, k=1)
