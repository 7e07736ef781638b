"""All shortest paths in JAX: products of the min-plus algebra, each over ways of up to twice as many edges."""

import jax.numpy as jnp


def reference(path):
    path = jnp.asarray(path)
    edges = 1
    while edges < path.shape[0]:
        path = jnp.minimum(path, jnp.min(path[:, :, None] + path[None, :, :], axis=1))
        edges *= 2
    return {"path": path}
