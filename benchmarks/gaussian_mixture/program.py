"""Log-likelihood of a mixture of Gaussians with full covariances, and a Wishart prior.

The inverse covariance of a cluster is the square of a lower-triangular factor; ``factors`` has, in a row for each
cluster, the logarithms of its diagonal and then what is below the diagonal, row by row.
"""

import math

import numpy as np


def initialize(k, d, n, rng):
    return {
        "alphas": rng.normal(size=k),
        "means": rng.uniform(-1, 1, (k, d)),
        "factors": 0.5 * rng.normal(size=(k, d + d * (d - 1) // 2)),
        "x": rng.normal(size=(n, d)),
        "gamma": 1.1,
        "m": 2,
    }


def log_sum_exp(a, axis):
    largest = np.max(a, axis=axis, keepdims=True)
    return np.squeeze(largest, axis=axis) + np.log(np.sum(np.exp(a - largest), axis=axis))


def unpack(packed, d):
    Q = np.diag(np.exp(packed[:d]))
    Q[np.tril_indices(d, -1)] = packed[d:]
    return Q


def log_weighted_density(alpha, mean, packed, Q, x):
    d = mean.shape[0]
    y = (x - mean) @ Q.T
    return alpha + np.sum(packed[:d]) - 0.5 * np.sum(y**2, axis=1)


def log_gamma(a, d):
    """The multivariate gamma function."""
    result = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(d):
        result += math.lgamma(a - 0.5 * j)
    return result


def log_wishart(factors, k, d, gamma, m):
    degrees = d + m + 1
    constant = degrees * d * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma(0.5 * degrees, d)
    squares = np.sum(np.exp(factors[:, :d]) ** 2) + np.sum(factors[:, d:] ** 2)
    return k * constant + m * np.sum(factors[:, :d]) - 0.5 * gamma**2 * squares


def gaussian_mixture(alphas, means, factors, x, gamma, m):
    k, d = means.shape
    n = x.shape[0]
    Q = [unpack(factors[i], d) for i in range(k)]
    densities = np.stack([log_weighted_density(alphas[i], means[i], factors[i], Q[i], x) for i in range(k)])
    likelihood = np.sum(log_sum_exp(densities, 0)) - n * log_sum_exp(alphas, 0)
    return likelihood - 0.5 * n * d * math.log(2 * math.pi) + log_wishart(factors, k, d, gamma, m)
