"""Forced flow in a periodic square, in JAX, to time gradients of.

The expert form makes the factors of the modes once, and has the four fields of a stage in one batch of transforms.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax


def port_tendency(w_hat, f_hat, kx, ky, k2, keep, viscosity, shape):
    """The change of the modes, as the program has it."""
    k2_safe = jnp.where(k2 == 0.0, 1.0, k2)
    psi_hat = w_hat / k2_safe
    u = jnp.fft.irfft2(1j * ky * psi_hat, s=shape)
    v = jnp.fft.irfft2(-1j * kx * psi_hat, s=shape)
    w_x = jnp.fft.irfft2(1j * kx * w_hat, s=shape)
    w_y = jnp.fft.irfft2(1j * ky * w_hat, s=shape)
    advection = jnp.fft.rfft2(u * w_x + v * w_y)
    return keep * (f_hat - advection) - viscosity * k2 * w_hat


def port(vorticity, forcing, observed, viscosity, dt, steps):
    """The program, statement by statement."""
    nx, ny = vorticity.shape
    kx = jnp.fft.fftfreq(nx, d=1.0 / nx)[:, jnp.newaxis]
    ky = jnp.fft.rfftfreq(ny, d=1.0 / ny)[jnp.newaxis, :]
    k2 = kx**2 + ky**2
    keep = (jnp.abs(kx) < nx / 3) & (jnp.abs(ky) < ny / 3)
    f_hat = jnp.fft.rfft2(forcing)
    w_hat = keep * jnp.fft.rfft2(vorticity)

    def step(n, w_hat):
        k_1 = port_tendency(w_hat, f_hat, kx, ky, k2, keep, viscosity, (nx, ny))
        k_2 = port_tendency(w_hat + 0.5 * dt * k_1, f_hat, kx, ky, k2, keep, viscosity, (nx, ny))
        k_3 = port_tendency(w_hat + 0.5 * dt * k_2, f_hat, kx, ky, k2, keep, viscosity, (nx, ny))
        k_4 = port_tendency(w_hat + dt * k_3, f_hat, kx, ky, k2, keep, viscosity, (nx, ny))
        return w_hat + dt / 6.0 * (k_1 + 2.0 * k_2 + 2.0 * k_3 + k_4)

    w_hat = lax.fori_loop(0, steps, step, w_hat)
    final = jnp.fft.irfft2(w_hat, s=(nx, ny))
    return 0.5 * jnp.mean((final - observed) ** 2)


def expert(vorticity, forcing, observed, viscosity, dt, steps):
    """A scan over steps; the velocities and the slopes of the vorticity are transformed together."""
    nx, ny = vorticity.shape
    kx = np.fft.fftfreq(nx, d=1.0 / nx)[:, None]
    ky = np.fft.rfftfreq(ny, d=1.0 / ny)[None, :]
    k2 = kx**2 + ky**2
    inverse = 1.0 / np.where(k2 == 0.0, 1.0, k2)
    keep = ((np.abs(kx) < nx / 3) & (np.abs(ky) < ny / 3)).astype(float)
    factors = 1j * np.stack([ky * inverse, -kx * inverse, kx + 0 * ky, ky + 0 * kx])
    source = keep * jnp.fft.rfft2(forcing)
    damping = viscosity * k2

    def tendency(w_hat):
        u, v, w_x, w_y = jnp.fft.irfft2(factors * w_hat, s=(nx, ny))
        return source - keep * jnp.fft.rfft2(u * w_x + v * w_y) - damping * w_hat

    def step(w_hat, _):
        a = tendency(w_hat)
        b = tendency(w_hat + 0.5 * dt * a)
        c = tendency(w_hat + 0.5 * dt * b)
        d = tendency(w_hat + dt * c)
        return w_hat + dt / 6.0 * (a + 2.0 * (b + c) + d), None

    w_hat, _ = lax.scan(step, keep * jnp.fft.rfft2(vorticity), None, length=steps)
    return 0.5 * jnp.mean((jnp.fft.irfft2(w_hat, s=(nx, ny)) - observed) ** 2)
