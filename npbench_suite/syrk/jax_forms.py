"""Symmetric rank-k update, in JAX, for timing.

The expert form does one matmul; alpha is applied to A beforehand, so that the derivative in alpha needs no further one.
"""

import jax.numpy as jnp
from jax import lax


def port(alpha, beta, C, A):
    """The program's loops over rows and columns, the part of a row up to the diagonal by masks."""
    N, M = A.shape
    index = jnp.arange(N)

    def row(i, C):
        C = C.at[i, :].multiply(jnp.where(index <= i, beta, 1.0))

        def column(k, C):
            return C.at[i, :].add(jnp.where(index <= i, alpha * A[i, k] * A[:, k], 0.0))

        return lax.fori_loop(0, M, column, C)

    return lax.fori_loop(0, N, row, C)


def expert(alpha, beta, C, A):
    """One matmul, on the lower triangle."""
    lower = jnp.tri(C.shape[0], dtype=bool)
    return jnp.where(lower, (alpha * A) @ A.T + beta * C, C)
