"""Finite-difference time-domain method in two dimensions in JAX."""

import jax.numpy as jnp


def reference(TMAX, ex, ey, hz, _fict_):
    ex, ey, hz = jnp.asarray(ex), jnp.asarray(ey), jnp.asarray(hz)
    for t in range(TMAX):
        ey = ey.at[0].set(_fict_[t])
        ey = ey.at[1:].add(-0.5 * jnp.diff(hz, axis=0))
        ex = ex.at[:, 1:].add(-0.5 * jnp.diff(hz, axis=1))
        curl = jnp.diff(ex, axis=1)[:-1] + jnp.diff(ey, axis=0)[:, :-1]
        hz = hz.at[:-1, :-1].add(-0.7 * curl)
    return {"ex": ex, "ey": ey, "hz": hz}
