"""Normal matrix times a vector in JAX."""

import jax.numpy as jnp


def reference(A, x):
    return {"return": jnp.matmul(A.T, jnp.matmul(A, x))}
