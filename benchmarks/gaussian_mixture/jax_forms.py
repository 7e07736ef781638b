"""Log-likelihood of a mixture of Gaussians in JAX, to time gradients of.

The expert form unpacks all factors by one scatter and has the densities of all clusters from one product of arrays.
"""

import math

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp


def log_sum_exp(a, axis):
    """As the program has it."""
    largest = jnp.max(a, axis=axis, keepdims=True)
    return jnp.squeeze(largest, axis=axis) + jnp.log(jnp.sum(jnp.exp(a - largest), axis=axis))


def unpack(packed, d):
    """The lower-triangular factor of one cluster."""
    return jnp.diag(jnp.exp(packed[:d])).at[jnp.tril_indices(d, -1)].set(packed[d:])


def log_weighted_density(alpha, mean, packed, Q, x):
    """The logarithms of the weighted densities of one cluster, up to a constant."""
    d = mean.shape[0]
    y = (x - mean) @ Q.T
    return alpha + jnp.sum(packed[:d]) - 0.5 * jnp.sum(y**2, axis=1)


def wishart_constant(d, gamma, m):
    """What does not depend on the factors."""
    degrees = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(d):
        log_gamma += math.lgamma(0.5 * degrees - 0.5 * j)
    return degrees * d * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma


def log_wishart(factors, k, d, gamma, m):
    """The prior."""
    squares = jnp.sum(jnp.exp(factors[:, :d]) ** 2) + jnp.sum(factors[:, d:] ** 2)
    return k * wishart_constant(d, gamma, m) + m * jnp.sum(factors[:, :d]) - 0.5 * gamma**2 * squares


def port(alphas, means, factors, x, gamma, m):
    """The program, statement by statement; the loops over clusters are unrolled."""
    k, d = means.shape
    n = x.shape[0]
    Q = [unpack(factors[i], d) for i in range(k)]
    densities = jnp.stack([log_weighted_density(alphas[i], means[i], factors[i], Q[i], x) for i in range(k)])
    likelihood = jnp.sum(log_sum_exp(densities, 0)) - n * log_sum_exp(alphas, 0)
    return likelihood - 0.5 * n * d * math.log(2 * math.pi) + log_wishart(factors, k, d, gamma, m)


def expert(alphas, means, factors, x, gamma, m):
    """All clusters at once."""
    k, d = means.shape
    n = x.shape[0]
    logs, below = factors[:, :d], factors[:, d:]
    diagonal = jnp.exp(logs)
    rows, columns = np.tril_indices(d, -1)
    Q = jnp.zeros((k, d, d)).at[:, rows, columns].set(below).at[:, np.arange(d), np.arange(d)].set(diagonal)
    shifts = jnp.einsum("kij,kj->ki", Q, means)
    y = (x @ Q.reshape(k * d, d).T).reshape(n, k, d) - shifts
    half_logdets = jnp.sum(logs, axis=1)
    densities = alphas + half_logdets - 0.5 * jnp.sum(y * y, axis=2)
    likelihood = jnp.sum(logsumexp(densities, axis=1)) - n * logsumexp(alphas)
    squares = jnp.sum(diagonal * diagonal) + jnp.sum(below * below)
    prior = k * wishart_constant(d, gamma, m) + m * jnp.sum(half_logdets) - 0.5 * gamma**2 * squares
    return likelihood + prior - 0.5 * n * d * math.log(2 * math.pi)
