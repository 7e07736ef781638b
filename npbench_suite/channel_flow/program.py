"""Flow in a channel driven by the force F: Navier-Stokes with a pressure equation, until it hardly changes.

Rows are y, between two walls; columns are x, periodic. The number of time steps depends on the data.
"""

import numpy as np


def initialize(ny, nx, nit, rho, nu, F, rng):
    dt = 1.0 / ((nx - 1) * (ny - 1))
    # The fluid is nearly at rest. The flow of F alone after a step is F * dt.
    return {
        "nit": nit,
        "u": F * dt * rng.uniform(0.2, 0.8, (ny, nx)),
        "v": F * dt * rng.uniform(-0.3, 0.3, (ny, nx)),
        "dt": dt,
        "dx": 2 / (nx - 1),
        "dy": 2 / (ny - 1),
        "p": rng.uniform(0.9, 1.1, (ny, nx)),
        "rho": rho,
        "nu": nu,
        "F": F,
    }


def pressure_source(rho, dt, dx, dy, u, v):
    """The right side of the pressure equation."""
    b = np.zeros_like(u)
    b[1:-1, 1:-1] = rho * (
        ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) * (1 / dt)
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy)) * ((v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
    )

    # The last column, whose neighbour is the first one.
    b[1:-1, -1] = rho * (
        ((u[1:-1, 0] - u[1:-1, -2]) / (2 * dx) + (v[2:, -1] - v[0:-2, -1]) / (2 * dy)) * (1 / dt)
        - ((u[1:-1, 0] - u[1:-1, -2]) / (2 * dx)) ** 2
        - ((v[2:, -1] - v[0:-2, -1]) / (2 * dy)) ** 2
        - 2 * ((u[2:, -1] - u[0:-2, -1]) / (2 * dy)) * ((v[1:-1, 0] - v[1:-1, -2]) / (2 * dx))
    )

    # The first column, whose neighbour is the last one.
    b[1:-1, 0] = rho * (
        ((u[1:-1, 1] - u[1:-1, -1]) / (2 * dx) + (v[2:, 0] - v[0:-2, 0]) / (2 * dy)) * (1 / dt)
        - ((u[1:-1, 1] - u[1:-1, -1]) / (2 * dx)) ** 2
        - ((v[2:, 0] - v[0:-2, 0]) / (2 * dy)) ** 2
        - 2 * ((u[2:, 0] - u[0:-2, 0]) / (2 * dy)) * ((v[1:-1, 1] - v[1:-1, -1]) / (2 * dx))
    )
    return b


def relax_pressure(nit, p, dx, dy, b):
    """Jacobi sweeps over ``p``, whose normal derivative is 0 at the walls."""
    old = np.empty_like(p)

    for sweep in range(nit):
        old = p.copy()
        p[1:-1, 1:-1] = (
            dy**2 * (old[1:-1, 2:] + old[1:-1, 0:-2])
            + dx**2 * (old[2:, 1:-1] + old[0:-2, 1:-1])
            - dx**2 * dy**2 * b[1:-1, 1:-1]
        ) / (2 * (dx**2 + dy**2))
        p[1:-1, -1] = (
            dy**2 * (old[1:-1, 0] + old[1:-1, -2]) + dx**2 * (old[2:, -1] + old[0:-2, -1]) - dx**2 * dy**2 * b[1:-1, -1]
        ) / (2 * (dx**2 + dy**2))
        p[1:-1, 0] = (
            dy**2 * (old[1:-1, 1] + old[1:-1, -1]) + dx**2 * (old[2:, 0] + old[0:-2, 0]) - dx**2 * dy**2 * b[1:-1, 0]
        ) / (2 * (dx**2 + dy**2))

        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]


def channel_flow(nit, u, v, dt, dx, dy, p, rho, nu, F):
    change = 1
    steps = 0

    while change > 0.001:
        uold = u.copy()
        vold = v.copy()

        b = pressure_source(rho, dt, dx, dy, u, v)
        relax_pressure(nit, p, dx, dy, b)

        u[1:-1, 1:-1] = (
            uold[1:-1, 1:-1]
            - dt / dx * uold[1:-1, 1:-1] * (uold[1:-1, 1:-1] - uold[1:-1, 0:-2])
            - dt / dy * vold[1:-1, 1:-1] * (uold[1:-1, 1:-1] - uold[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * dt / dx**2 * (uold[1:-1, 0:-2] - 2 * uold[1:-1, 1:-1] + uold[1:-1, 2:])
            + nu * dt / dy**2 * (uold[0:-2, 1:-1] - 2 * uold[1:-1, 1:-1] + uold[2:, 1:-1])
            + F * dt
        )
        v[1:-1, 1:-1] = (
            vold[1:-1, 1:-1]
            - dt / dx * uold[1:-1, 1:-1] * (vold[1:-1, 1:-1] - vold[1:-1, 0:-2])
            - dt / dy * vold[1:-1, 1:-1] * (vold[1:-1, 1:-1] - vold[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu * dt / dx**2 * (vold[1:-1, 0:-2] - 2 * vold[1:-1, 1:-1] + vold[1:-1, 2:])
            + nu * dt / dy**2 * (vold[0:-2, 1:-1] - 2 * vold[1:-1, 1:-1] + vold[2:, 1:-1])
        )

        # The last and the first column of u, then of v.
        u[1:-1, -1] = (
            uold[1:-1, -1]
            - dt / dx * uold[1:-1, -1] * (uold[1:-1, -1] - uold[1:-1, -2])
            - dt / dy * vold[1:-1, -1] * (uold[1:-1, -1] - uold[0:-2, -1])
            - dt / (2 * rho * dx) * (p[1:-1, 0] - p[1:-1, -2])
            + nu * dt / dx**2 * (uold[1:-1, -2] - 2 * uold[1:-1, -1] + uold[1:-1, 0])
            + nu * dt / dy**2 * (uold[0:-2, -1] - 2 * uold[1:-1, -1] + uold[2:, -1])
            + F * dt
        )
        u[1:-1, 0] = (
            uold[1:-1, 0]
            - dt / dx * uold[1:-1, 0] * (uold[1:-1, 0] - uold[1:-1, -1])
            - dt / dy * vold[1:-1, 0] * (uold[1:-1, 0] - uold[0:-2, 0])
            - dt / (2 * rho * dx) * (p[1:-1, 1] - p[1:-1, -1])
            + nu * dt / dx**2 * (uold[1:-1, -1] - 2 * uold[1:-1, 0] + uold[1:-1, 1])
            + nu * dt / dy**2 * (uold[0:-2, 0] - 2 * uold[1:-1, 0] + uold[2:, 0])
            + F * dt
        )
        v[1:-1, -1] = (
            vold[1:-1, -1]
            - dt / dx * uold[1:-1, -1] * (vold[1:-1, -1] - vold[1:-1, -2])
            - dt / dy * vold[1:-1, -1] * (vold[1:-1, -1] - vold[0:-2, -1])
            - dt / (2 * rho * dy) * (p[2:, -1] - p[0:-2, -1])
            + nu * dt / dx**2 * (vold[1:-1, -2] - 2 * vold[1:-1, -1] + vold[1:-1, 0])
            + nu * dt / dy**2 * (vold[0:-2, -1] - 2 * vold[1:-1, -1] + vold[2:, -1])
        )
        v[1:-1, 0] = (
            vold[1:-1, 0]
            - dt / dx * uold[1:-1, 0] * (vold[1:-1, 0] - vold[1:-1, -1])
            - dt / dy * vold[1:-1, 0] * (vold[1:-1, 0] - vold[0:-2, 0])
            - dt / (2 * rho * dy) * (p[2:, 0] - p[0:-2, 0])
            + nu * dt / dx**2 * (vold[1:-1, -1] - 2 * vold[1:-1, 0] + vold[1:-1, 1])
            + nu * dt / dy**2 * (vold[0:-2, 0] - 2 * vold[1:-1, 0] + vold[2:, 0])
        )

        # The fluid sticks to the walls.
        u[0, :] = 0
        u[-1, :] = 0
        v[0, :] = 0
        v[-1, :] = 0

        change = (np.sum(u) - np.sum(uold)) / np.sum(u)
        steps += 1

    return steps
