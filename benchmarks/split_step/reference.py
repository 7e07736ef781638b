"""A quantum particle in a potential in JAX: the transforms as products with matrices."""

import jax.numpy as jnp
import numpy as np


def reference(psi, potential, detector, length, dt, steps):
    def free(n):
        """The matrix of one free step along an axis of n points."""
        modes = np.fft.fft(np.eye(n))
        k = 2 * np.pi / length * np.fft.fftfreq(n, 1 / n)
        return modes.conj().T @ (jnp.exp(-0.5j * dt * k**2)[:, None] * modes) / n

    nx, ny = psi.shape
    along_x, along_y = free(nx), free(ny)
    kick = jnp.cos(dt * potential / 2) - 1j * jnp.sin(dt * potential / 2)
    for _ in range(steps):
        psi = kick * (along_x @ (kick * psi) @ along_y.T)
    return {"return": jnp.sum(detector * (psi.real**2 + psi.imag**2)) * length**2 / (nx * ny)}
