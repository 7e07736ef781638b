"""Compressible Euler equations in a periodic box: finite volumes with minmod slopes, HLL fluxes, Heun's method.

The fields are stacked: density, both velocities and pressure, or density, both momenta and energy.
"""

import numpy as np


def initialize(nx, ny, nt, rng):
    # Waves with noise in each cell, so that hardly any slopes are equal or zero; subsonic.
    x, y = np.meshgrid((np.arange(nx) + 0.5) / nx, (np.arange(ny) + 0.5) / ny, indexing="ij")
    shift = rng.uniform(0, 2 * np.pi, 4)
    rho = 1.0 + 0.2 * np.sin(2 * np.pi * x + shift[0])
    u = 0.3 + 0.1 * np.sin(2 * np.pi * y + shift[1])
    v = 0.2 + 0.1 * np.sin(2 * np.pi * x + shift[2])
    p = 1.0 + 0.2 * np.cos(2 * np.pi * y + shift[3])
    return {
        "W": np.stack([rho, u, v, p]) + rng.uniform(-0.05, 0.05, (4, nx, ny)),
        "nt": nt,
        "dt": 0.1 / max(nx, ny),
        "dx": 1.0 / nx,
        "dy": 1.0 / ny,
        "gamma": 1.4,
    }


def conserved(W, gamma):
    U = np.empty_like(W)
    U[0] = W[0]
    U[1] = W[0] * W[1]
    U[2] = W[0] * W[2]
    U[3] = W[3] / (gamma - 1.0) + 0.5 * W[0] * (W[1] ** 2 + W[2] ** 2)
    return U


def primitive(U, gamma):
    W = np.empty_like(U)
    W[0] = U[0]
    W[1] = U[1] / U[0]
    W[2] = U[2] / U[0]
    W[3] = (gamma - 1.0) * (U[3] - 0.5 * (U[1] ** 2 + U[2] ** 2) / U[0])
    return W


def minmod(a, b):
    return 0.5 * (np.sign(a) + np.sign(b)) * np.minimum(np.abs(a), np.abs(b))


def flux(W, U, direction):
    F = W[direction] * U
    F[direction] += W[3]
    F[3] += W[direction] * W[3]
    return F


def hll(left, right, gamma, direction):
    U_left = conserved(left, gamma)
    U_right = conserved(right, gamma)
    F_left = flux(left, U_left, direction)
    F_right = flux(right, U_right, direction)

    sound_left = np.sqrt(gamma * left[3] / left[0])
    sound_right = np.sqrt(gamma * right[3] / right[0])
    slow = np.minimum(left[direction] - sound_left, right[direction] - sound_right)
    fast = np.maximum(left[direction] + sound_left, right[direction] + sound_right)

    between = (fast * F_left - slow * F_right + slow * fast * (U_right - U_left)) / (fast - slow)
    return np.where(slow > 0, F_left, np.where(fast < 0, F_right, between))


def difference_of_fluxes(W, gamma, direction):
    """In each cell, what flows out in a direction less what flows in."""
    slope = minmod(W - np.roll(W, 1, axis=direction), np.roll(W, -1, axis=direction) - W)
    left = W + 0.5 * slope
    right = np.roll(W - 0.5 * slope, -1, axis=direction)
    F = hll(left, right, gamma, direction)
    return F - np.roll(F, 1, axis=direction)


def rate(U, dx, dy, gamma):
    W = primitive(U, gamma)
    return -difference_of_fluxes(W, gamma, 1) / dx - difference_of_fluxes(W, gamma, 2) / dy


def finite_volume_euler(W, nt, dt, dx, dy, gamma):
    U = conserved(W, gamma)
    for _ in range(nt):
        first = rate(U, dx, dy, gamma)
        second = rate(U + dt * first, dx, dy, gamma)
        U += 0.5 * dt * (first + second)
    return primitive(U, gamma)
