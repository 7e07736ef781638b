"""QR factorisation by Gram-Schmidt in JAX, to time gradients of.

The expert form works on the rows of the transpose: a scan orthogonalises a few of them, halves are put together with
matrix products, and nothing is kept of R.
"""

import jax.numpy as jnp
from jax import lax


def port(A):
    """The program, statement by statement: two nested loops."""
    N = A.shape[1]

    def column(k, state):
        A, Q, R = state
        R = R.at[k, k].set(jnp.sqrt(jnp.dot(A[:, k], A[:, k])))
        Q = Q.at[:, k].set(A[:, k] / R[k, k])

        def project(j, state):
            A, R = state
            R = R.at[k, j].set(jnp.where(j > k, jnp.dot(Q[:, k], A[:, j]), R[k, j]))
            return A.at[:, j].add(jnp.where(j > k, -R[k, j] * Q[:, k], 0.0)), R

        A, R = lax.fori_loop(0, N, project, (A, R))
        return A, Q, R

    return lax.fori_loop(0, N, column, (A, jnp.zeros_like(A), jnp.zeros((N, N), A.dtype)))[1]


def orthonormalise(rows, most):
    """The rows made orthonormal, halves at a time down to ``most`` rows."""
    n = rows.shape[0]
    if n > most:
        first = orthonormalise(rows[: n // 2], most)
        rest = rows[n // 2 :]
        return jnp.concatenate([first, orthonormalise(rest - (rest @ first.T) @ first, most)])

    def step(rows, _):
        q = rows[0] * lax.rsqrt(rows[0] @ rows[0])
        rows = rows - (rows @ q)[:, None] * q
        return jnp.concatenate([rows[1:], rows[:1]]), q

    return lax.scan(step, rows, None, length=n)[1]


def expert(A):
    """Gram-Schmidt by blocks."""
    return orthonormalise(A.T, max(16, -(-A.shape[1] // 16))).T


def library(A):
    """The QR factorisation of LAPACK, with the signs of Gram-Schmidt's."""
    Q, R = jnp.linalg.qr(A)
    return Q * jnp.sign(jnp.diagonal(R))
