"""JAX forms of cholesky2. The expert form factors by halves, with XLA's factorisation for the smallest blocks: products
take most of the work, forward and in the gradient."""

import jax.numpy as jnp
from jax import lax

LEAF = 300


def port(A):
    """The program's call; only the lower triangle counts, of which JAX takes the mean with the upper one."""
    symmetric = jnp.tril(A) + jnp.tril(A, -1).T
    return A.at[:].set(jnp.linalg.cholesky(symmetric) + jnp.triu(A, k=1))


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
