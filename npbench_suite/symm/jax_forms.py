"""Symmetric matrix product, in JAX, for timing.

The expert form mirrors the triangle and does one matmul; alpha is applied to A beforehand, so that the derivative in
alpha needs no further matmul.
"""

import jax.numpy as jnp
from jax import lax


def port(alpha, beta, C, A, B):
    """The program's loops over rows and columns, the part of a column above row i by masks."""
    M, N = C.shape
    index = jnp.arange(M)

    def row(i, state):
        def column(j, state):
            C, below = state
            C = C.at[:, j].add(jnp.where(index < i, alpha * B[i, j] * A[i, :], 0.0))
            below = below.at[j].set(jnp.dot(jnp.where(index < i, A[i, :], 0.0), B[:, j]))
            return C, below

        C, below = lax.fori_loop(0, N, column, state)
        return C.at[i, :].add(alpha * (A[i, i] * B[i, :] + below)), below

    return lax.fori_loop(0, M, row, (C * beta, jnp.zeros(N, dtype=C.dtype)))[0]


def expert(alpha, beta, C, A, B):
    """One matmul with the mirrored triangle."""
    below = jnp.tril(alpha * A, -1)
    return (below + jnp.diag(alpha * jnp.diagonal(A)) + below.T) @ B + beta * C
