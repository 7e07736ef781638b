"""Covariance matrix of M variables, a column of data each, by NumPy's own function."""

import numpy as np


def initialize(M, N, rng):
    return {"M": M, "float_n": float(N), "data": rng.uniform(-1, 1, (N, M))}


def covariance2(M, float_n, data):
    return np.cov(np.transpose(data))
