"""A matrix plus the sum of the hyperbolic tangents of its diagonal in JAX."""

import jax.numpy as jnp


def reference(a):
    return {"return": a + jnp.sum(jnp.tanh(jnp.diagonal(a)))}
