"""Correlation matrix of M variables, a column of data each; data is centred and scaled in place.

A variable that hardly varies is not scaled by its standard deviation.
"""

import numpy as np


def initialize(M, N, rng):
    data = rng.uniform(-1, 1, (N, M))
    # All columns but the second have a standard deviation far above the program's limit.
    data[:, 1] *= 0.05
    return {"M": M, "float_n": float(N), "data": data}


def correlation(M, float_n, data):
    mean = np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float_n) * deviation
    corr = np.eye(M, dtype=data.dtype)
    for i in range(M - 1):
        corr[i + 1 : M, i] = corr[i, i + 1 : M] = data[:, i] @ data[:, i + 1 : M]
    return corr
