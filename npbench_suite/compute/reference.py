"""A clipped array plus another in JAX."""

import jax.numpy as jnp


def reference(array_1, array_2, a, b, c):
    clipped = jnp.where(array_1 < 2.0, 2.0, jnp.where(array_1 > 10.0, 10.0, array_1))
    return {"return": clipped * a + array_2 * b + c}
