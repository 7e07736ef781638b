"""JAX forms of arc_distance. The expert form takes one arccosine of 1 - 2 * haversine: a derivative with one square
root, and whole angles only, so that each sine and cosine serves the value and the gradient."""

import jax.numpy as jnp


def port(theta_1, phi_1, theta_2, phi_2):
    """The program in jnp."""
    haversine = (
        jnp.cos(theta_1) * jnp.cos(theta_2) * jnp.sin((phi_2 - phi_1) / 2) ** 2 + jnp.sin((theta_2 - theta_1) / 2) ** 2
    )
    return 2 * jnp.arctan2(jnp.sqrt(haversine), jnp.sqrt(1 - haversine))


def expert(theta_1, phi_1, theta_2, phi_2):
    """The angle by its cosine."""
    product = jnp.cos(theta_1) * jnp.cos(theta_2)
    return jnp.arccos(jnp.cos(theta_2 - theta_1) - product * (1 - jnp.cos(phi_2 - phi_1)))
