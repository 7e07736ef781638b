"""Covariance matrix of M variables, a column of data each; data is centred in place."""

import numpy as np


def initialize(M, N, rng):
    return {"M": M, "float_n": float(N), "data": rng.uniform(-1, 1, (N, M))}


def covariance(M, float_n, data):
    data -= np.mean(data, axis=0)
    cov = np.zeros((M, M), dtype=data.dtype)
    for i in range(M):
        cov[i:M, i] = cov[i, i:M] = data[:, i] @ data[:, i:M] / (float_n - 1.0)
    return cov
