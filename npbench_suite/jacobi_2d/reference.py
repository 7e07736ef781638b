"""Jacobi iteration in two dimensions in JAX."""

import jax.numpy as jnp


def sweep(source, target):
    neighbours = sum(jnp.roll(source, shift, axis) for shift in (-1, 1) for axis in (0, 1))
    return target.at[1:-1, 1:-1].set((0.2 * (source + neighbours))[1:-1, 1:-1])


def reference(TSTEPS, A, B):
    A, B = jnp.asarray(A), jnp.asarray(B)
    for _ in range(TSTEPS - 1):
        B = sweep(A, B)
        A = sweep(B, A)
    return {"A": A, "B": B}
