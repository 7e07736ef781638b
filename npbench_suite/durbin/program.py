"""Toeplitz solve by the Levinson-Durbin recursion: the Yule-Walker equations T y = -r.

T is symmetric, with 1 and then r in its first row, and positive definite where r is small.
"""

import numpy as np


def initialize(N, rng):
    return {"r": rng.uniform(-1, 1, N) / N}


def durbin(r):
    y = np.empty_like(r)
    y[0] = -r[0]
    reflection = -r[0]
    error = 1.0

    for k in range(1, r.shape[0]):
        error *= 1.0 - reflection * reflection
        reflection = -(np.dot(np.flip(r[:k]), y[:k]) + r[k]) / error
        y[:k] += reflection * np.flip(y[:k])
        y[k] = reflection

    return y
