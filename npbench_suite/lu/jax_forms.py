"""LU factorisation in JAX, to time gradients of.

The expert form halves the matrix: triangular solves and one product put the halves together, and a scan that emits
a row of U and a column of L each step factorises the smallest blocks.
"""

import jax.numpy as jnp
from jax import lax


def port(A):
    """The program, statement by statement: two loops in one, with masks for the lengths of the products."""
    N = A.shape[0]
    index = jnp.arange(N)

    def dot(A, i, j, length):
        return jnp.dot(jnp.where(index < length, A[i, :], 0.0), jnp.where(index < length, A[:, j], 0.0))

    def row(i, A):
        def lower(j, A):
            value = (A[i, j] - dot(A, i, j, j)) / A[j, j]
            return A.at[i, j].set(jnp.where(j < i, value, A[i, j]))

        def upper(j, A):
            return A.at[i, j].set(jnp.where(j >= i, A[i, j] - dot(A, i, j, i), A[i, j]))

        return lax.fori_loop(0, N, upper, lax.fori_loop(0, N, lower, A))

    return lax.fori_loop(0, N, row, A)


def eliminate(A):
    """Both factors of a small block, packed; what is left of a finished row or column is never looked at."""

    def step(A, k):
        row = A[k]
        column = A[:, k] / row[k]
        return A - column[:, None] * row, (row, column)

    _, (rows, columns) = lax.scan(step, A, jnp.arange(A.shape[0]))
    return jnp.triu(rows) + jnp.tril(columns.T, -1)


def factorise(A, most):
    """Both factors, packed, by halves down to blocks of size ``most``."""
    n = A.shape[0]
    if n <= most:
        return eliminate(A)
    h = n // 2
    first = factorise(A[:h, :h], most)
    upper = lax.linalg.triangular_solve(first, A[:h, h:], left_side=True, lower=True, unit_diagonal=True)
    lower = lax.linalg.triangular_solve(first, A[h:, :h], left_side=False, lower=False)
    return jnp.block([[first, upper], [lower, factorise(A[h:, h:] - lower @ upper, most)]])


def expert(A):
    """LU factorisation by blocks."""
    return factorise(A, max(16, -(-A.shape[0] // 8)))


def library(A):
    """The LU factorisation of LAPACK. It pivots, which changes nothing where the diagonal dominates, as here."""
    return lax.linalg.lu(A)[0]
