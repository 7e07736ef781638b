"""Three matrix products in JAX."""

import jax.numpy as jnp


def reference(A, B, C, D):
    return {"return": jnp.matmul(jnp.matmul(A, B), jnp.matmul(C, D))}
