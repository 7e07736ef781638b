"""Marginal likelihood of a Gaussian process in JAX, to time gradients of.

The expert form has the distances from one product and one triangular solution.
"""

import jax
import jax.numpy as jnp
import numpy as np


def port(X, y, log_lengths, log_amplitude, log_noise):
    """The program, statement by statement."""
    n = X.shape[0]
    difference = (X[:, None, :] - X[None, :, :]) / jnp.exp(log_lengths)
    squares = jnp.sum(difference**2, axis=-1)
    K = jnp.exp(log_amplitude) ** 2 * jnp.exp(-0.5 * squares)
    K = K + jnp.exp(log_noise) ** 2 * jnp.eye(n)
    L = jnp.linalg.cholesky(K)
    weights = jnp.linalg.solve(L.T, jnp.linalg.solve(L, y))
    half_logdet = jnp.sum(jnp.log(jnp.diag(L)))
    return 0.5 * y @ weights + half_logdet + 0.5 * n * jnp.log(2 * jnp.pi)


def expert(X, y, log_lengths, log_amplitude, log_noise):
    """The squared norm of the whitened observations."""
    n = X.shape[0]
    X = X * jnp.exp(-log_lengths)
    half_squares = 0.5 * jnp.sum(X * X, axis=1)
    exponents = X @ X.T - half_squares[:, None] - half_squares + 2 * log_amplitude
    K = jnp.exp(exponents) + jnp.exp(2 * log_noise) * jnp.eye(n)
    L = jnp.linalg.cholesky(K, symmetrize_input=False)
    white = jax.scipy.linalg.solve_triangular(L, y, lower=True)
    return 0.5 * white @ white + jnp.sum(jnp.log(jnp.diagonal(L))) + 0.5 * n * np.log(2 * np.pi)
