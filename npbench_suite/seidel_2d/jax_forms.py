"""Gauss-Seidel iteration in two dimensions, in JAX, for timing.

The expert form solves a row's recurrence with one constant triangular matrix. Small: a scan over rows that carries
the row above; larger: a wavefront in which sweep t is at row s - 2 t, so that one step updates a row of each sweep.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax


def port(TSTEPS, N, A):
    """All sweeps, point by point along each row."""
    A = jnp.asarray(A)

    def point(j, carry):
        i, A = carry
        return i, A.at[i, j].set((A[i, j] + A[i, j - 1]) / 9.0)

    def row(i, A):
        above, below = A[i - 1], A[i + 1]
        A = A.at[i, 1:-1].add(above[:-2] + above[1:-1] + above[2:] + A[i, 2:] + below[:-2] + below[1:-1] + below[2:])
        return lax.fori_loop(1, N - 1, point, (i, A))[1]

    return lax.fori_loop(0, TSTEPS - 1, lambda _, A: lax.fori_loop(1, N - 1, row, A), A)


def expert(TSTEPS, N, A):
    """All sweeps: row by row where rows are short, otherwise all sweeps at once on a wavefront."""
    if TSTEPS <= 1:
        return A
    return by_rows(TSTEPS - 1, N - 2, A) if N <= 64 else by_wavefront(TSTEPS - 1, N - 2, A)


def powers_of_a_ninth(n):
    """The lower triangular matrix that solves 9 x[j] = r[j] + x[j - 1]."""
    distance = np.arange(n)[:, None] - np.arange(n)[None, :]
    return np.where(distance >= 0, 9.0 ** -(np.maximum(distance, 0) + 1.0), 0.0)


def by_rows(sweeps, n, A):
    """Each new row is a constant matrix times the new row above, plus what the old rows and the edges give."""
    solve = powers_of_a_ninth(n)
    carry_down = jnp.asarray(solve @ (np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)))
    solve = jnp.asarray(solve.T)

    def sweep(A, _):
        old = A[1:-1, 1:-1] + A[1:-1, 2:] + A[2:, :-2] + A[2:, 1:-1] + A[2:, 2:]
        edges = jnp.zeros((n, n)).at[:, 0].set(A[1:-1, 0] + A[:-2, 0]).at[:, -1].add(A[:-2, -1])

        def row(above, known):
            new = known + carry_down @ above
            return new, new

        _, rows = lax.scan(row, A[0, 1:-1], (old + edges) @ solve)
        return jnp.concatenate([A[:1], jnp.concatenate([A[1:-1, :1], rows, A[1:-1, -1:]], axis=1), A[-1:]]), None

    return lax.scan(sweep, A, None, length=sweeps)[0]


def by_wavefront(sweeps, n, A):
    """Step s updates row s - 2 t in sweep t; a sweep that is above or below its rows holds the fixed row there."""
    solve = jnp.asarray(powers_of_a_ninth(n).T)
    steps = n + 2 * (sweeps - 1)
    row = np.arange(1, steps + 1)[:, None] - 2 * np.arange(sweeps)[None, :]
    index = np.clip(row, 0, n + 1)
    below = jnp.broadcast_to(A[-1], (max(steps - n, 0), n + 2))
    first = jnp.concatenate([A, below])
    inputs = (first[1 : steps + 1], first[2 : steps + 2], A[index, 0], A[index, -1], row <= 0, row > n)

    def solved(right):
        if n <= 150:
            return right @ solve
        # The same matrix as a product: (1 + S / 9) (1 + S^2 / 9^2) (1 + S^4 / 9^4) ..., down to 9^-32.
        x = right / 9.0
        for shift in (1, 2, 4, 8, 16):
            x = x + 9.0**-shift * jnp.pad(x, ((0, 0), (shift, 0)))[:, :n]
        return x

    def step(state, inputs):
        last, before = state
        here, next_row, left, end, at_top, at_bottom = inputs
        old = jnp.concatenate([here[None], before[:-1]])
        around = last + jnp.concatenate([next_row[None], last[:-1]])
        right = around[:, :-2] + around[:, 1:-1] + around[:, 2:] + old[:, 1:-1] + old[:, 2:]
        right = jnp.concatenate([right[:, :1] + left[:, None], right[:, 1:]], axis=1)
        new = jnp.concatenate([left[:, None], solved(right), end[:, None]], axis=1)
        new = jnp.where(at_top[:, None], A[0], jnp.where(at_bottom[:, None], A[-1], new))
        return (new, last), new[-1]

    start = jnp.broadcast_to(A[0], (sweeps, n + 2))
    _, final = lax.scan(step, (start, start), inputs)
    return jnp.concatenate([A[:1], final[2 * (sweeps - 1) :], A[-1:]])
