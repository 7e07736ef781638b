"""Negative logarithm of the marginal likelihood of a Gaussian process: a Gaussian kernel with a length for each
dimension, and noise."""

import numpy as np


def initialize(n, d, rng):
    X = rng.uniform(-1, 1, (n, d))
    return {
        "X": X,
        "y": np.sin(2.0 * X).sum(axis=1) + 0.2 * rng.normal(size=n),
        "log_lengths": rng.uniform(-0.5, 0.5, d),
        "log_amplitude": 0.2,
        "log_noise": -1.5,
    }


def kernel(X, lengths, amplitude):
    difference = (X[:, None, :] - X[None, :, :]) / lengths
    squares = np.sum(difference**2, axis=-1)
    return amplitude**2 * np.exp(-0.5 * squares)


def gaussian_process(X, y, log_lengths, log_amplitude, log_noise):
    n = X.shape[0]
    K = kernel(X, np.exp(log_lengths), np.exp(log_amplitude))
    K = K + np.exp(log_noise) ** 2 * np.eye(n)
    L = np.linalg.cholesky(K)
    weights = np.linalg.solve(L.T, np.linalg.solve(L, y))
    half_logdet = np.sum(np.log(np.diag(L)))
    return 0.5 * y @ weights + half_logdet + 0.5 * n * np.log(2 * np.pi)
