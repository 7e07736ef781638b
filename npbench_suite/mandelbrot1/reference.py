"""Mandelbrot set in JAX."""

import jax
import jax.numpy as jnp


def reference(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon):
    C = jnp.linspace(xmin, xmax, xn)[None, :] + 1j * jnp.linspace(ymin, ymax, yn)[:, None]

    def step(_, Z):
        return jnp.where(Z.real**2 + Z.imag**2 < horizon**2, Z * Z + C, Z)

    return {"return[0]": jax.lax.fori_loop(0, maxiter, step, jnp.zeros_like(C))}
