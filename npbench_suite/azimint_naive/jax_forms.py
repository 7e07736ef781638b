"""JAX forms of azimint_naive. The expert form makes the masks of the rings again in the reverse sweep rather than keep
them. The library form is another algorithm: it finds the ring of each radius by arithmetic and sums by index, in one
pass over the data, where the program makes one for each ring."""

import jax
import jax.numpy as jnp
from jax import lax


def port(data, radius, npt):
    """The program's loop over the rings, with masks for the selection."""
    outer = radius.max()

    def ring(i, means):
        low = outer * i / npt
        high = outer * (i + 1) / npt
        inside = jnp.logical_and(low <= radius, radius < high)
        return means.at[i].set(jnp.sum(jnp.where(inside, data, 0.0)) / jnp.sum(inside))

    return lax.fori_loop(0, npt, ring, jnp.zeros(npt))


def expert(data, radius, npt):
    """A scan over the rings that stacks their means."""
    radius = lax.stop_gradient(radius)
    edges = jnp.max(radius) * jnp.arange(npt + 1) / npt

    @jax.checkpoint
    def ring(data, between):
        inside = (between[0] <= radius) & (radius < between[1])
        return jnp.sum(jnp.where(inside, data, 0.0)) / jnp.sum(inside)

    return lax.scan(lambda _, between: (None, ring(data, between)), None, (edges[:-1], edges[1:]))[1]


def library(data, radius, npt):
    """Sums and counts of the rings, by index; one more ring takes what lies outside."""
    radius = lax.stop_gradient(radius)
    ring = jnp.minimum((radius * (npt / jnp.max(radius))).astype(jnp.int32), npt)
    totals = jnp.zeros(npt + 1).at[ring].add(data, mode="promise_in_bounds")
    counts = jnp.zeros(npt + 1, jnp.int32).at[ring].add(1, mode="promise_in_bounds")
    return totals[:npt] / counts[:npt]
