"""Correlation matrix in JAX."""

import jax.numpy as jnp


def reference(M, float_n, data):
    centred = data - jnp.mean(data, axis=0)
    variance = jnp.mean(centred**2, axis=0)
    scaled = centred / jnp.sqrt(float_n * jnp.where(variance <= 0.01, 1.0, variance))
    return {"return": jnp.where(jnp.eye(M, dtype=bool), 1.0, scaled.T @ scaled), "data": scaled}
