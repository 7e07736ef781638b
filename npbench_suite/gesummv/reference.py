"""Sum of two scaled matrix-vector products in JAX."""

import jax.numpy as jnp


def reference(alpha, beta, A, B, x):
    return {"return": jnp.matmul(alpha * A + beta * B, x)}
