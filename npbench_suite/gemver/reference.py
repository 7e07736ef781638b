"""Rank-2 update and two matrix-vector products in JAX."""

import jax.numpy as jnp


def reference(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A = A + jnp.stack([u1, u2], axis=1) @ jnp.stack([v1, v2])
    x = x + z + beta * (A.T @ y)
    return {"A": A, "w": w + alpha * (A @ x), "x": x}
