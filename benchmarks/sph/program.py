"""A drop of liquid as smoothed particles: pressure and viscous forces of all pairs, and leapfrog steps.

Positions and velocities change in place; the result is the density at each particle in the end.
"""

import numpy as np

REST_DENSITY = 1.0
GRAVITY = -0.5


def initialize(n, steps, dt, rng):
    # A lattice in the unit square, disturbed a little.
    side = int(np.ceil(np.sqrt(n)))
    cells = np.stack(np.divmod(np.arange(n), side), axis=1)
    return {
        "pos": (cells + 0.5 + rng.uniform(-0.1, 0.1, (n, 2))) / side,
        "vel": rng.uniform(-0.2, 0.2, (n, 2)),
        "mass": REST_DENSITY / side**2 * rng.uniform(0.9, 1.1, n),
        "h": 2.3 / side,
        "stiffness": 1.0,
        "viscosity": 0.05,
        "dt": dt,
        "steps": steps,
    }


def separations(pos, h):
    dx = pos[:, 0][:, np.newaxis] - pos[:, 0]
    dy = pos[:, 1][:, np.newaxis] - pos[:, 1]
    # From 1 for a particle itself to 0 where the kernel ends.
    nearness = np.maximum(1.0 - (dx**2 + dy**2) / h**2, 0.0)
    return dx, dy, nearness


def densities(nearness, mass, h):
    return 4.0 / (np.pi * h**2) * nearness**3 @ mass


def accelerations(pos, vel, mass, h, stiffness, viscosity):
    dx, dy, nearness = separations(pos, h)
    density = densities(nearness, mass, h)
    pressure = stiffness * ((density / REST_DENSITY) ** 7 - 1.0)

    # The kernel's gradient is this times (dx, dy).
    slope = -24.0 / (np.pi * h**4) * nearness**2
    strength = pressure / density**2
    push = -(strength[:, np.newaxis] + strength[np.newaxis, :]) * slope * mass

    # Each particle is dragged along by its neighbours.
    kernel = 4.0 / (np.pi * h**2) * nearness**3
    drag = viscosity * kernel * mass / (density[:, np.newaxis] * density[np.newaxis, :])
    du = vel[:, 0] - vel[:, 0][:, np.newaxis]
    dv = vel[:, 1] - vel[:, 1][:, np.newaxis]

    acc = np.zeros_like(pos)
    acc[:, 0] = np.sum(push * dx + drag * du, axis=1)
    acc[:, 1] = np.sum(push * dy + drag * dv, axis=1) + GRAVITY
    return acc


def sph(pos, vel, mass, h, stiffness, viscosity, dt, steps):
    acc = accelerations(pos, vel, mass, h, stiffness, viscosity)
    for _ in range(steps):
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = accelerations(pos, vel, mass, h, stiffness, viscosity)
        vel += 0.5 * dt * acc

    _, _, nearness = separations(pos, h)
    return densities(nearness, mass, h)
