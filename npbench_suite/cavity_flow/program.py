"""Flow in a square cavity whose lid slides with velocity 1: Navier-Stokes with a pressure equation.

Rows are y and columns x. Each time step relaxes the pressure ``nit`` times; u, v and p change in place.
"""

import numpy as np


def initialize(ny, nx, nt, nit, rho, nu, rng):
    return {
        "nx": nx,
        "ny": ny,
        "nt": nt,
        "nit": nit,
        "u": rng.uniform(-0.5, 0.5, (ny, nx)),
        "v": rng.uniform(-0.5, 0.5, (ny, nx)),
        "dt": 1.0 / ((nx - 1) * (ny - 1)),
        "dx": 2 / (nx - 1),
        "dy": 2 / (ny - 1),
        "p": rng.uniform(-0.5, 0.5, (ny, nx)),
        "rho": rho,
        "nu": nu,
    }


def set_source(b, rho, dt, u, v, dx, dy):
    """The right side of the pressure equation, into ``b``."""
    b[1:-1, 1:-1] = rho * (
        ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) * (1 / dt)
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy)) * ((v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
    )


def relax_pressure(nit, p, dx, dy, b):
    """Jacobi sweeps over ``p``: its normal derivative is 0 at the walls, and p = 0 at the lid."""
    old = np.empty_like(p)
    old = p.copy()

    for sweep in range(nit):
        old = p.copy()
        p[1:-1, 1:-1] = (
            dy**2 * (old[1:-1, 2:] + old[1:-1, 0:-2])
            + dx**2 * (old[2:, 1:-1] + old[0:-2, 1:-1])
            - dx**2 * dy**2 * b[1:-1, 1:-1]
        ) / (2 * (dx**2 + dy**2))

        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def cavity_flow(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    uold = np.empty_like(u)
    vold = np.empty_like(v)
    b = np.zeros((ny, nx))

    for step in range(nt):
        uold = u.copy()
        vold = v.copy()

        set_source(b, rho, dt, u, v, dx, dy)
        relax_pressure(nit, p, dx, dy, b)

        # Upwind advection, pressure gradient and viscosity.
        u[1:-1, 1:-1] = (
            uold[1:-1, 1:-1]
            - dt / dx * uold[1:-1, 1:-1] * (uold[1:-1, 1:-1] - uold[1:-1, 0:-2])
            - dt / dy * vold[1:-1, 1:-1] * (uold[1:-1, 1:-1] - uold[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * dt / dx**2 * (uold[1:-1, 0:-2] - 2 * uold[1:-1, 1:-1] + uold[1:-1, 2:])
            + nu * dt / dy**2 * (uold[0:-2, 1:-1] - 2 * uold[1:-1, 1:-1] + uold[2:, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vold[1:-1, 1:-1]
            - dt / dx * uold[1:-1, 1:-1] * (vold[1:-1, 1:-1] - vold[1:-1, 0:-2])
            - dt / dy * vold[1:-1, 1:-1] * (vold[1:-1, 1:-1] - vold[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu * dt / dx**2 * (vold[1:-1, 0:-2] - 2 * vold[1:-1, 1:-1] + vold[1:-1, 2:])
            + nu * dt / dy**2 * (vold[0:-2, 1:-1] - 2 * vold[1:-1, 1:-1] + vold[2:, 1:-1])
        )

        # The fluid sticks to the walls and to the lid, which is the last row.
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
