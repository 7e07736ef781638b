"""Shallow water in a closed basin: rotating, over an uneven bottom with friction, on a staggered (Arakawa C) grid.

``h`` is the depth in cells, ``u`` and ``v`` are velocities at their faces; all three are updated in place.
"""

import numpy as np


def initialize(nx, ny, nt, rng):
    u = 0.3 * rng.uniform(-1, 1, (nx + 1, ny))
    v = 0.3 * rng.uniform(-1, 1, (nx, ny + 1))
    u[0] = u[-1] = 0.0
    v[:, 0] = v[:, -1] = 0.0
    return {
        "h": 1.0 + 0.1 * rng.uniform(-1, 1, (nx, ny)),
        "u": u,
        "v": v,
        "bottom": 0.1 * rng.uniform(-1, 1, (nx, ny)),
        "coriolis": np.linspace(0.3, 0.6, ny + 1),
        "nt": nt,
        "dt": 0.1,
        "dx": 1.0,
        "g": 9.81,
        "drag": 0.05,
    }


def update_depth(h, u, v, dt, dx):
    flux_x = u[1:-1, :] * 0.5 * (h[1:, :] + h[:-1, :])
    flux_y = v[:, 1:-1] * 0.5 * (h[:, 1:] + h[:, :-1])
    h[:-1, :] -= dt / dx * flux_x
    h[1:, :] += dt / dx * flux_x
    h[:, :-1] -= dt / dx * flux_y
    h[:, 1:] += dt / dx * flux_y


def update_velocities(h, u, v, bottom, coriolis, dt, dx, g, drag):
    nx, ny = h.shape

    # At corners: absolute vorticity, without shear at the walls.
    vorticity = np.zeros((nx + 1, ny + 1))
    vorticity[:, :] = coriolis
    vorticity[1:-1, 1:-1] += (v[1:, 1:-1] - v[:-1, 1:-1]) / dx - (u[1:-1, 1:] - u[1:-1, :-1]) / dx
    turn_u = vorticity[1:-1, :] * 0.5 * (v[1:, :] + v[:-1, :])
    turn_v = vorticity[:, 1:-1] * 0.5 * (u[:, 1:] + u[:, :-1])

    # In cells: energy and friction.
    kinetic = 0.25 * (u[1:, :] ** 2 + u[:-1, :] ** 2 + v[:, 1:] ** 2 + v[:, :-1] ** 2)
    energy = kinetic + g * (h + bottom)
    u_mean = 0.5 * (u[1:, :] + u[:-1, :])
    v_mean = 0.5 * (v[:, 1:] + v[:, :-1])
    friction = drag * np.sqrt(u_mean**2 + v_mean**2) / h

    u[1:-1, :] += dt * (
        0.5 * (turn_u[:, 1:] + turn_u[:, :-1])
        - (energy[1:, :] - energy[:-1, :]) / dx
        - 0.5 * (friction[1:, :] + friction[:-1, :]) * u[1:-1, :]
    )
    v[:, 1:-1] += dt * (
        -0.5 * (turn_v[1:, :] + turn_v[:-1, :])
        - (energy[:, 1:] - energy[:, :-1]) / dx
        - 0.5 * (friction[:, 1:] + friction[:, :-1]) * v[:, 1:-1]
    )


def shallow_water(h, u, v, bottom, coriolis, nt, dt, dx, g, drag):
    for _ in range(nt):
        update_depth(h, u, v, dt, dx)
        update_velocities(h, u, v, bottom, coriolis, dt, dx, g, drag)
