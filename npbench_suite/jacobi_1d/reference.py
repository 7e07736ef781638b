"""Jacobi iteration in one dimension in JAX."""

import jax.numpy as jnp


def sweep(source, target):
    weights = jnp.full(3, 0.33333)
    return target.at[1:-1].set(jnp.convolve(source, weights, mode="valid"))


def reference(TSTEPS, A, B):
    A, B = jnp.asarray(A), jnp.asarray(B)
    for _ in range(TSTEPS - 1):
        B = sweep(A, B)
        A = sweep(B, A)
    return {"A": A, "B": B}
