"""Rank-2 update and two matrix-vector products in JAX, to time gradients of.

The expert form never builds the updated matrix, and scales vectors, not matrices.
"""

import jax.numpy as jnp


def port(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    """The program, statement by statement."""
    A = A + (jnp.outer(u1, v1) + jnp.outer(u2, v2))
    x = x + (beta * y @ A + z)
    return w + alpha * A @ x


def expert(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    """The products with the matrix and with its update apart."""
    y = beta * y
    x = alpha * (x + z + y @ A + (y @ u1) * v1 + (y @ u2) * v2)
    return w + A @ x + (v1 @ x) * u1 + (v2 @ x) * u2
