"""Marginal likelihood of a Gaussian process in JAX: the density of a normal distribution, without a factorisation."""

import jax
import jax.numpy as jnp


def reference(X, y, log_lengths, log_amplitude, log_noise):
    def covariance(a, b):
        return jnp.exp(2 * log_amplitude - 0.5 * jnp.sum(jnp.exp(-2 * log_lengths) * (a - b) ** 2))

    K = jax.vmap(lambda a: jax.vmap(lambda b: covariance(a, b))(X))(X) + jnp.diag(jnp.exp(2 * log_noise) + 0 * y)
    return {"return": 0.5 * (y @ jnp.linalg.inv(K) @ y + jnp.linalg.slogdet(2 * jnp.pi * K)[1])}
