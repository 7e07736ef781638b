"""JAX forms of cholesky. The expert form factors by halves, with XLA's factorisation for the smallest blocks: products
take most of the work, forward and in the gradient. Scans over columns in panels were 3 to 5 times slower."""

import jax.numpy as jnp
from jax import lax

LEAF = 64


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


def _factor(A):
    """The factor of the lower triangle, recursively by halves."""
    n = A.shape[0]
    if n <= LEAF:
        return lax.linalg.cholesky(jnp.tril(A) + jnp.tril(A, -1).T, symmetrize_input=False)
    half = n // 2
    first = _factor(A[:half, :half])
    below = lax.linalg.triangular_solve(first, A[half:, :half], left_side=False, lower=True, transpose_a=True)
    last = _factor(A[half:, half:] - below @ below.T)
    top = jnp.concatenate([first, jnp.zeros((half, n - half))], axis=1)
    return jnp.concatenate([top, jnp.concatenate([below, last], axis=1)])


def expert(A):
    """Blocks by triangular solves and products, with jnp.linalg.cholesky for the smallest."""
    return _factor(A) + jnp.triu(A, 1)
