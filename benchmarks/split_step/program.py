"""A quantum particle in a potential, in a periodic square: split steps with Fourier transforms.

The result is the probability with which a detector finds the particle at the end.
"""

import numpy as np


def initialize(nx, ny, steps, dt, rng):
    length = 10.0
    x = length * (np.arange(nx)[:, None] / nx - 0.5)
    y = length * (np.arange(ny)[None, :] / ny - 0.5)
    packet = np.exp(-0.5 * ((x + 1.0) ** 2 + (y - 0.5) ** 2) + 2j * x - 1j * y)
    psi = packet + 0.01 * (rng.normal(size=(nx, ny)) + 1j * rng.normal(size=(nx, ny)))
    cell = (length / nx) * (length / ny)
    return {
        "psi": psi / np.sqrt(np.sum(np.abs(psi) ** 2) * cell),
        "potential": 0.5 * (x**2 + 1.5 * y**2) + 0.2 * rng.uniform(-1, 1, (nx, ny)),
        "detector": 1.0 / (1.0 + np.exp(-3.0 * x)) + 0.1 * rng.uniform(0, 1, (nx, ny)),
        "length": length,
        "dt": dt,
        "steps": steps,
    }


def split_step(psi, potential, detector, length, dt, steps):
    nx, ny = psi.shape
    dx = length / nx
    dy = length / ny
    kx = 2 * np.pi * np.fft.fftfreq(nx, d=dx)
    ky = 2 * np.pi * np.fft.fftfreq(ny, d=dy)
    kinetic = 0.5 * (kx[:, np.newaxis] ** 2 + ky[np.newaxis, :] ** 2)

    half_kick = np.exp(-0.5j * dt * potential)
    drift = np.exp(-1j * dt * kinetic)

    state = psi.copy()
    for _ in range(steps):
        state *= half_kick
        state = np.fft.ifft2(drift * np.fft.fft2(state))
        state *= half_kick

    return np.sum(detector * np.abs(state) ** 2) * dx * dy
