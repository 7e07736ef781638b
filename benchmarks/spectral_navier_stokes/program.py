"""Forced flow in a periodic square: the vorticity equation in Fourier modes, by Runge-Kutta steps of fourth order.

The result is half the mean square of the final vorticity's distance from an observed one.
"""

import numpy as np


def waves(nx, ny, rng):
    """A sum of a few long waves of random amplitudes and phases."""
    x = 2 * np.pi * np.arange(nx)[:, None] / nx
    y = 2 * np.pi * np.arange(ny)[None, :] / ny
    field = np.zeros((nx, ny))
    for kx in range(-3, 4):
        for ky in range(1, 4):
            amplitude, phase = rng.uniform(0.1, 0.5), rng.uniform(0, 2 * np.pi)
            field += amplitude * np.cos(kx * x + ky * y + phase)
    return field


def initialize(nx, ny, steps, dt, viscosity, rng):
    return {
        "vorticity": waves(nx, ny, rng),
        "forcing": 0.3 * waves(nx, ny, rng),
        "observed": waves(nx, ny, rng),
        "viscosity": viscosity,
        "dt": dt,
        "steps": steps,
    }


def tendency(w_hat, f_hat, kx, ky, k2, keep, viscosity, shape):
    k2_safe = np.where(k2 == 0.0, 1.0, k2)
    psi_hat = w_hat / k2_safe
    u = np.fft.irfft2(1j * ky * psi_hat, s=shape)
    v = np.fft.irfft2(-1j * kx * psi_hat, s=shape)
    w_x = np.fft.irfft2(1j * kx * w_hat, s=shape)
    w_y = np.fft.irfft2(1j * ky * w_hat, s=shape)
    advection = np.fft.rfft2(u * w_x + v * w_y)
    return keep * (f_hat - advection) - viscosity * k2 * w_hat


def spectral_navier_stokes(vorticity, forcing, observed, viscosity, dt, steps):
    nx, ny = vorticity.shape
    kx = np.fft.fftfreq(nx, d=1.0 / nx)[:, np.newaxis]
    ky = np.fft.rfftfreq(ny, d=1.0 / ny)[np.newaxis, :]
    k2 = kx**2 + ky**2

    # Products of two modes that are kept do not alias onto modes that are kept.
    keep = (np.abs(kx) < nx / 3) & (np.abs(ky) < ny / 3)

    f_hat = np.fft.rfft2(forcing)
    w_hat = keep * np.fft.rfft2(vorticity)
    for _ in range(steps):
        k_1 = tendency(w_hat, f_hat, kx, ky, k2, keep, viscosity, (nx, ny))
        k_2 = tendency(w_hat + 0.5 * dt * k_1, f_hat, kx, ky, k2, keep, viscosity, (nx, ny))
        k_3 = tendency(w_hat + 0.5 * dt * k_2, f_hat, kx, ky, k2, keep, viscosity, (nx, ny))
        k_4 = tendency(w_hat + dt * k_3, f_hat, kx, ky, k2, keep, viscosity, (nx, ny))
        w_hat += dt / 6.0 * (k_1 + 2.0 * k_2 + 2.0 * k_3 + k_4)

    final = np.fft.irfft2(w_hat, s=(nx, ny))
    return 0.5 * np.mean((final - observed) ** 2)
