"""JAX forms of cholesky."""

import jax.numpy as jnp
from jax import lax


def port(A):
    """The program's loops, with whole rows and masks for the slices."""
    n = A.shape[0]
    columns = jnp.arange(n)

    def row(i, A):
        def entry(j, A):
            product = jnp.dot(jnp.where(columns < j, A[i, :], 0.0), A[j, :])
            new = (A[i, j] - product) / A[j, j]
            return A.at[i, j].set(jnp.where(j < i, new, A[i, j]))

        A = lax.fori_loop(0, n, entry, A)
        before = jnp.where(columns < i, A[i, :], 0.0)
        return A.at[i, i].set(jnp.sqrt(A[i, i] - jnp.dot(before, before)))

    return lax.fori_loop(0, n, row, A)


def library(A):
    """jnp.linalg.cholesky of the lower triangle, mirrored."""
    symmetric = jnp.tril(A) + jnp.tril(A, -1).T
    return jnp.linalg.cholesky(symmetric, symmetrize_input=False) + jnp.triu(A, 1)
