"""Ideal magnetohydrodynamics in a periodic plane, with constrained transport.

Finite volumes with van Leer's slopes, Rusanov's fluxes and Heun's method. ``bx`` and ``by`` are the magnetic field at
the right and upper faces of the cells, so that the differences of each cell stay zero.
"""

import numpy as np


def initialize(nx, ny, nt, rng):
    x, y = np.meshgrid(2 * np.pi * np.arange(nx) / nx, 2 * np.pi * np.arange(ny) / ny, indexing="ij")
    dx = 1.0 / max(nx, ny)
    # The potential is at the upper right corners of the cells.
    potential = 0.1 * np.cos(x + 0.4) * np.sin(y + 0.3) + 0.03 * dx * rng.uniform(-1, 1, (nx, ny))

    def noise():
        return 0.05 * rng.uniform(-1, 1, (nx, ny))

    return {
        "rho": 1.0 + 0.2 * np.sin(x + 1.0) + noise(),
        "vx": 0.3 * np.sin(y + 0.5) + noise(),
        "vy": 0.3 * np.sin(x + 0.2) + noise(),
        "p": 1.0 + 0.2 * np.cos(x + y + 0.1) + noise(),
        "bx": (potential - np.roll(potential, 1, axis=1)) / dx,
        "by": -(potential - np.roll(potential, 1, axis=0)) / dx,
        "nt": nt,
        "courant": 0.3,
        "dx": dx,
        "gamma": 5.0 / 3.0,
    }


def at_centers(bx, by):
    return 0.5 * (bx + np.roll(bx, 1, axis=0)), 0.5 * (by + np.roll(by, 1, axis=1))


def conserved(rho, vx, vy, p, bx, by, gamma):
    cx, cy = at_centers(bx, by)
    energy = p / (gamma - 1.0) + 0.5 * rho * (vx**2 + vy**2) + 0.5 * (cx**2 + cy**2)
    return [rho, rho * vx, rho * vy, energy, bx, by]


def primitive(state, gamma):
    rho, mx, my, energy, bx, by = state
    cx, cy = at_centers(bx, by)
    vx = mx / rho
    vy = my / rho
    p = (gamma - 1.0) * (energy - 0.5 * rho * (vx**2 + vy**2) - 0.5 * (cx**2 + cy**2))
    return rho, vx, vy, p, bx, by


def fast_speed(rho, p, bn, bt, gamma):
    sound = gamma * p / rho
    alfven = (bn**2 + bt**2) / rho
    both = sound + alfven
    return np.sqrt(0.5 * (both + np.sqrt(both**2 - 4.0 * sound * bn**2 / rho)))


def limited_slope(q, axis):
    a = q - np.roll(q, 1, axis=axis)
    b = np.roll(q, -1, axis=axis) - q
    return np.where(a * b > 0, 2.0 * a * b / (a + b), 0.0)


def faces(q, axis):
    half = 0.5 * limited_slope(q, axis)
    return q + half, np.roll(q - half, -1, axis=axis)


def flux(rho, vn, vt, p, bn, bt, gamma):
    """What is conserved and its flux, in the normal direction: mass, both momenta, energy, transverse field."""
    magnetic = 0.5 * (bn**2 + bt**2)
    total = p + magnetic
    energy = p / (gamma - 1.0) + 0.5 * rho * (vn**2 + vt**2) + magnetic
    values = (rho, rho * vn, rho * vt, energy, bt)
    fluxes = (
        rho * vn,
        rho * vn**2 + total - bn**2,
        rho * vn * vt - bn * bt,
        (energy + total) * vn - bn * (vn * bn + vt * bt),
        vn * bt - vt * bn,
    )
    return values, fluxes


def rusanov(rho, vn, vt, p, bt, bn, axis, gamma):
    rho_left, rho_right = faces(rho, axis)
    vn_left, vn_right = faces(vn, axis)
    vt_left, vt_right = faces(vt, axis)
    p_left, p_right = faces(p, axis)
    bt_left, bt_right = faces(bt, axis)

    speed = np.maximum(
        np.abs(vn_left) + fast_speed(rho_left, p_left, bn, bt_left, gamma),
        np.abs(vn_right) + fast_speed(rho_right, p_right, bn, bt_right, gamma),
    )
    values_left, fluxes_left = flux(rho_left, vn_left, vt_left, p_left, bn, bt_left, gamma)
    values_right, fluxes_right = flux(rho_right, vn_right, vt_right, p_right, bn, bt_right, gamma)

    result = []
    for i in range(5):
        mean = 0.5 * (fluxes_left[i] + fluxes_right[i])
        result.append(mean - 0.5 * speed * (values_right[i] - values_left[i]))
    return result


def rates(state, dx, gamma):
    rho, vx, vy, p, bx, by = primitive(state, gamma)
    cx, cy = at_centers(bx, by)
    mass_x, normal_x, across_x, energy_x, field_x = rusanov(rho, vx, vy, p, cy, bx, 0, gamma)
    mass_y, normal_y, across_y, energy_y, field_y = rusanov(rho, vy, vx, p, cx, by, 1, gamma)

    def divergence(fx, fy):
        return (np.roll(fx, 1, axis=0) - fx + np.roll(fy, 1, axis=1) - fy) / dx

    # At corners.
    electric = 0.25 * (field_y + np.roll(field_y, -1, axis=0) - field_x - np.roll(field_x, -1, axis=1))
    return [
        divergence(mass_x, mass_y),
        divergence(normal_x, across_y),
        divergence(across_x, normal_y),
        divergence(energy_x, energy_y),
        -(electric - np.roll(electric, 1, axis=1)) / dx,
        (electric - np.roll(electric, 1, axis=0)) / dx,
    ]


def time_step(state, courant, dx, gamma):
    rho, vx, vy, p, bx, by = primitive(state, gamma)
    cx, cy = at_centers(bx, by)
    fastest = np.sqrt((gamma * p + cx**2 + cy**2) / rho)
    return courant * dx / np.max(np.sqrt(vx**2 + vy**2) + fastest)


def mhd(rho, vx, vy, p, bx, by, nt, courant, dx, gamma):
    state = conserved(rho, vx, vy, p, bx, by, gamma)
    for _ in range(nt):
        dt = time_step(state, courant, dx, gamma)
        first = rates(state, dx, gamma)
        predicted = [q + dt * k for q, k in zip(state, first, strict=True)]
        second = rates(predicted, dx, gamma)
        state = [q + 0.5 * dt * (a + b) for q, a, b in zip(state, first, second, strict=True)]
    return primitive(state, gamma)
