"""Mandelbrot set in JAX: all points are iterated on, and those that have left stay where they are."""

import jax
import jax.numpy as jnp


def reference(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon):
    C = jnp.linspace(xmin, xmax, xn)[None, :] + 1j * jnp.linspace(ymin, ymax, yn)[:, None]

    def left(Z):
        return Z.real**2 + Z.imag**2 > horizon**2

    Z = jax.lax.fori_loop(0, itermax, lambda _, Z: jnp.where(left(Z), Z, Z * Z + C), jnp.zeros_like(C))
    return {"return[0]": jnp.where(left(Z), Z, 0.0)}
