"""Vertical advection in JAX: a dense solve for each column."""

import jax
import jax.numpy as jnp


def reference(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    # Both halves of the wind through the K - 1 faces between levels, where the advected differences are.
    wind = 0.125 * (wcon[1:, :, 1:] + wcon[:-1, :, 1:])
    change = wind * jnp.diff(u_stage, axis=-1)
    none = ((0, 0), (0, 0))
    below, above = jnp.pad(wind, (*none, (1, 0))), jnp.pad(wind, (*none, (0, 1)))
    explicit = jnp.pad(change, (*none, (1, 0))) + jnp.pad(change, (*none, (0, 1)))
    right = dtr_stage * u_pos + utens + utens_stage - explicit

    diagonal = jax.vmap(jax.vmap(jnp.diag))
    lower_upper = jax.vmap(jax.vmap(lambda w: jnp.diag(w, 1) - jnp.diag(w, -1)))
    matrices = diagonal(dtr_stage + below - above) + lower_upper(wind)
    solution = jnp.linalg.solve(matrices, right[..., None])[..., 0]
    return {"utens_stage": dtr_stage * (solution - u_pos)}
