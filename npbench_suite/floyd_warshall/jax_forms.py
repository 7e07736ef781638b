"""All shortest paths in JAX, to time gradients of.

The expert form keeps of each step only which detours are shorter. The library form is another algorithm: it runs the
loop on constants, notes the last node before the end of each way, and adds up the lengths of the edges of each way by
pointer doubling; only these sums are differentiated.
"""

import jax.numpy as jnp
from jax import lax


def port(path):
    """The program, statement by statement: one loop."""

    def step(k, path):
        return jnp.minimum(path, jnp.add.outer(path[:, k], path[k, :]))

    return lax.fori_loop(0, path.shape[0], step, path)


def expert(path):
    """A scan whose derivative needs the masks alone."""

    def step(path, k):
        detour = path[:, k][:, None] + path[k]
        return jnp.where(detour < path, detour, path), None

    return lax.scan(step, path, jnp.arange(path.shape[0]))[0]


def predecessors(path):
    """For each pair of nodes, the last node before the end of the shortest way."""
    node = jnp.arange(path.shape[0], dtype=jnp.int32)

    def step(k, state):
        path, last = state
        detour = path[:, k][:, None] + path[k]
        shorter = detour < path
        return jnp.where(shorter, detour, path), jnp.where(shorter, last[k], last)

    start = (path, jnp.broadcast_to(node[:, None], path.shape))
    return lax.fori_loop(0, path.shape[0], step, start)[1]


def library(path):
    """The lengths of the edges of each shortest way, summed over 1, 2, 4, ... edges back from its end."""
    N = path.shape[0]
    node = jnp.arange(N, dtype=jnp.int32)
    hop = predecessors(lax.stop_gradient(path))
    done = hop == node[:, None]
    total = path[hop, node]
    edges = 1
    while edges < N:
        total = total + jnp.where(done, 0.0, jnp.take_along_axis(total, hop, axis=1))
        done = done | jnp.take_along_axis(done, hop, axis=1)
        hop = jnp.take_along_axis(hop, hop, axis=1)
        edges *= 2
    return total
