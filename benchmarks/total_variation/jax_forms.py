"""Denoising of an image in JAX, to time gradients of.

The expert form scans over the steps, recomputes them in the reverse sweep, and has one quotient for each pixel.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def gradient(u):
    """Forward differences, zero at the far borders."""
    gx = jnp.zeros_like(u).at[:-1, :].set(u[1:, :] - u[:-1, :])
    gy = jnp.zeros_like(u).at[:, :-1].set(u[:, 1:] - u[:, :-1])
    return gx, gy


def divergence(px, py):
    """Backward differences."""
    result = px + py
    result = result.at[1:, :].add(-px[:-1, :])
    return result.at[:, 1:].add(-py[:, :-1])


def port(noisy, clean, weight, steps, rate, smoothing):
    """The program, statement by statement."""

    def step(_, u):
        gx, gy = gradient(u)
        norm = jnp.sqrt(gx**2 + gy**2 + smoothing**2)
        return u + rate * (divergence(weight * gx / norm, weight * gy / norm) - (u - noisy))

    return jnp.mean((lax.fori_loop(0, steps, step, noisy) - clean) ** 2)


def expert(noisy, clean, weight, steps, rate, smoothing):
    """A scan of steps that are recomputed."""
    weight, pulled = rate * weight, rate * noisy

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(u, _):
        gx = jnp.pad(u[1:] - u[:-1], ((0, 1), (0, 0)))
        gy = jnp.pad(u[:, 1:] - u[:, :-1], ((0, 0), (0, 1)))
        scale = weight * lax.rsqrt(gx * gx + gy * gy + smoothing**2)
        px, py = scale * gx, scale * gy
        below = jnp.pad(px[:-1], ((1, 0), (0, 0))) + jnp.pad(py[:, :-1], ((0, 0), (1, 0)))
        return (1.0 - rate) * u + pulled + (px + py - below), None

    error = lax.scan(step, noisy, None, length=steps)[0] - clean
    return jnp.mean(error * error)
