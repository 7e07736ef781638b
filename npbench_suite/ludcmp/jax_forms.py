"""Linear solve by LU factorisation in JAX, to time gradients of.

The expert form factorises by halves: triangular solves and one product put them together, and a scan that emits a row
of U and a column of L each step factorises the smallest blocks. Two triangular solves then find the solution.
"""

import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular


def factorise_in_loops(A):
    """Both factors, packed, in nested loops."""
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


def port(A, b):
    """The program, statement by statement: loops, with masks for the lengths of the products."""
    N = A.shape[0]
    index = jnp.arange(N)
    A = factorise_in_loops(A)

    def forward(i, y):
        return y.at[i].set(b[i] - jnp.dot(jnp.where(index < i, A[i, :], 0.0), jnp.where(index < i, y, 0.0)))

    def backward(k, x):
        i = N - 1 - k
        known = jnp.dot(jnp.where(index > i, A[i, :], 0.0), jnp.where(index > i, x, 0.0))
        return x.at[i].set((y[i] - known) / A[i, i])

    y = lax.fori_loop(0, N, forward, jnp.zeros_like(b))
    return lax.fori_loop(0, N, backward, jnp.zeros_like(b))


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


def expert(A, b):
    """LU factorisation by blocks and two triangular solves."""
    factors = factorise(A, max(16, -(-A.shape[0] // 8)))
    y = solve_triangular(factors, b, lower=True, unit_diagonal=True)
    return solve_triangular(factors, y)


def library(A, b):
    """The solver of LAPACK, which pivots."""
    return jnp.linalg.solve(A, b)
