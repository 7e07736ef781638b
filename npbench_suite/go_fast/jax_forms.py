"""Matrix plus the sum of the hyperbolic tangents of its diagonal in JAX, to time gradients of.

The expert form takes the diagonal as a slice with a stride of the flattened matrix, and sums it at once.
"""

import jax.numpy as jnp
from jax import lax


def port(a):
    """The program, statement by statement: one loop."""
    trace = lax.fori_loop(0, a.shape[0], lambda i, trace: trace + jnp.tanh(a[i, i]), 0.0)
    return a + trace


def expert(a):
    """One sum over the diagonal."""
    return a + jnp.sum(jnp.tanh(a.ravel()[:: a.shape[0] + 1]))
