"""Triangular matrix product: B becomes alpha times the transpose of A times B, A unit lower triangular.

Only the part of A below its diagonal is read.
"""

import numpy as np


def initialize(M, N, rng):
    return {"alpha": 1.5, "A": rng.uniform(-1, 1, (M, M)), "B": rng.uniform(-1, 1, (M, N))}


def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha
