"""Covariance matrix in JAX."""

import jax.numpy as jnp


def reference(M, float_n, data):
    centred = data - jnp.mean(data, axis=0)
    return {"return": centred.T @ centred / (data.shape[0] - 1)}
