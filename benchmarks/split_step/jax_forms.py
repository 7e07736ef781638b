"""A quantum particle in a potential, in JAX, to time gradients of.

The expert form joins the half kicks of neighbouring steps to whole ones.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax


def port(psi, potential, detector, length, dt, steps):
    """The program, statement by statement."""
    nx, ny = psi.shape
    dx = length / nx
    dy = length / ny
    kx = 2 * jnp.pi * jnp.fft.fftfreq(nx, d=dx)
    ky = 2 * jnp.pi * jnp.fft.fftfreq(ny, d=dy)
    kinetic = 0.5 * (kx[:, jnp.newaxis] ** 2 + ky[jnp.newaxis, :] ** 2)
    half_kick = jnp.exp(-0.5j * dt * potential)
    drift = jnp.exp(-1j * dt * kinetic)

    def step(n, state):
        state = state * half_kick
        state = jnp.fft.ifft2(drift * jnp.fft.fft2(state))
        return state * half_kick

    state = lax.fori_loop(0, steps, step, psi)
    return jnp.sum(detector * jnp.abs(state) ** 2) * dx * dy


def expert(psi, potential, detector, length, dt, steps):
    """A scan over whole kicks and drifts, with half a kick before and after."""
    nx, ny = psi.shape
    kx = np.fft.fftfreq(nx, 1.0 / nx)[:, None]
    ky = np.fft.fftfreq(ny, 1.0 / ny)[None, :]
    drift = jnp.exp(-0.5j * dt * (2 * np.pi / length) ** 2 * (kx**2 + ky**2))
    half_kick = jnp.exp(-0.5j * dt * potential)
    kick = half_kick * half_kick

    def step(state, _):
        return jnp.fft.ifft2(drift * jnp.fft.fft2(kick * state)), None

    # The first kick is half a kick, and the last only changes phases.
    state, _ = lax.scan(step, jnp.fft.ifft2(drift * jnp.fft.fft2(half_kick * psi)), None, length=steps - 1)
    return jnp.sum(detector * (state.real**2 + state.imag**2)) * (length / nx) * (length / ny)
