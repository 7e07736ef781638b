"""JAX forms of compute. The expert form clips by comparisons, whose derivative has no ties to share out."""

import jax.numpy as jnp


def port(array_1, array_2, a, b, c):
    """The program in jnp."""
    return a * jnp.clip(array_1, 2, 10) + b * array_2 + c


def expert(array_1, array_2, a, b, c):
    """The program with selections for the clip."""
    clipped = jnp.where(array_1 < 2.0, 2.0, jnp.where(array_1 > 10.0, 10.0, array_1))
    return a * clipped + b * array_2 + c
