"""Triangular matrix product in JAX."""

import jax.numpy as jnp


def reference(alpha, A, B):
    unit_lower = jnp.tril(A, -1) + jnp.eye(A.shape[0])
    return {"B": alpha * jnp.matmul(unit_lower.T, B)}
