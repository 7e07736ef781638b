"""Atoms in a periodic box with the potential of Lennard and Jones: velocity-Verlet steps.

Positions and velocities change in place; the result is the potential energy at each time.
"""

import numpy as np


def initialize(n, steps, dt, rng):
    # On a lattice, disturbed a little; the spacing is about where the force is zero.
    side = int(np.ceil(n ** (1 / 3)))
    spacing = 1.15
    cells = np.stack(np.unravel_index(np.arange(n), (side, side, side)), axis=1)
    vel = rng.normal(size=(n, 3))
    return {
        "pos": spacing * (cells + 0.5 + rng.uniform(-0.04, 0.04, (n, 3))),
        "vel": vel - vel.mean(axis=0),
        "box": spacing * side,
        "epsilon": 1.0,
        "sigma": 1.0,
        "dt": dt,
        "steps": steps,
    }


def forces(pos, box, epsilon, sigma):
    # The vector to each atom from the nearest image of each other one.
    d = pos[:, np.newaxis, :] - pos[np.newaxis, :, :]
    d -= box * np.round(d / box)
    r2 = np.sum(d**2, axis=2)
    np.fill_diagonal(r2, np.inf)

    s6 = (sigma**2 / r2) ** 3
    potential = 0.5 * np.sum(4.0 * epsilon * (s6**2 - s6))
    strength = 24.0 * epsilon * (2.0 * s6**2 - s6) / r2
    return np.sum(strength[:, :, np.newaxis] * d, axis=1), potential


def pairwise_md(pos, vel, box, epsilon, sigma, dt, steps):
    energies = np.zeros(steps + 1)
    force, energies[0] = forces(pos, box, epsilon, sigma)
    for n in range(steps):
        vel += 0.5 * dt * force
        pos += dt * vel
        pos %= box
        force, energies[n + 1] = forces(pos, box, epsilon, sigma)
        vel += 0.5 * dt * force
    return energies
