"""Distances on the unit sphere in JAX, by the cosine of the angle between the points."""

import jax.numpy as jnp


def reference(theta_1, phi_1, theta_2, phi_2):
    cosine = jnp.sin(theta_1) * jnp.sin(theta_2) + jnp.cos(theta_1) * jnp.cos(theta_2) * jnp.cos(phi_2 - phi_1)
    return {"return": jnp.arccos(cosine)}
