"""Gravitating bodies by the leapfrog method, and their kinetic and potential energies at each time.

``mass`` is a column, ``pos`` and ``vel`` have a row for each body; all but the masses change in place.
"""

import numpy as np


def initialize(N, tEnd, dt, softening, G, rng):
    # One body in each chosen cell of a lattice over the unit cube, so that no two of them are close.
    side = int(np.ceil(N ** (1 / 3)))
    cells = np.stack(np.unravel_index(rng.permutation(side**3)[:N], (side, side, side)), axis=1)
    Nt = int(np.ceil(tEnd / dt))
    return {
        "mass": 20.0 / N * rng.uniform(0.5, 1.5, (N, 1)),
        "pos": (cells + rng.uniform(0.2, 0.8, (N, 3))) / side,
        "vel": rng.uniform(0, 1, (N, 3)),
        "N": N,
        "Nt": Nt,
        "dt": dt,
        "G": G,
        "softening": softening,
        "KE": np.zeros(Nt + 1, dtype=np.float64),
        "PE": np.zeros(Nt + 1, dtype=np.float64),
    }


def accelerations(pos, mass, G, softening):
    first = pos[:, 0:1]
    second = pos[:, 1:2]
    third = pos[:, 2:3]

    # From the body of the row to the body of the column.
    d1 = first.T - first
    d2 = second.T - second
    d3 = third.T - third

    # Squared softened distances, and then the third power of their inverse roots.
    weights = softening**2 + d1**2 + d2**2 + d3**2
    weights[weights > 0] = weights[weights > 0] ** (-1.5)

    a1 = G * (weights * d1) @ mass
    a2 = G * (weights * d2) @ mass
    a3 = G * (weights * d3) @ mass

    return np.hstack((a1, a2, a3))


def energies(pos, vel, mass, G):
    kinetic = np.sum(vel**2 * mass) * 0.5

    first = pos[:, 0:1]
    second = pos[:, 1:2]
    third = pos[:, 2:3]
    d1 = first.T - first
    d2 = second.T - second
    d3 = third.T - third

    # Inverse distances; a body has distance 0 to itself, which stays.
    inverse = np.sqrt(d1**2 + d2**2 + d3**2)
    inverse[inverse > 0] = 1.0 / inverse[inverse > 0]

    # Each pair once.
    potential = G * np.sum(np.triu(inverse * -(mass * mass.T), 1))

    return kinetic, potential


def nbody(mass, pos, vel, N, Nt, dt, G, softening, KE, PE):
    # As seen from the centre of mass.
    vel -= np.mean(vel * mass, axis=0) / np.mean(mass)

    pull = accelerations(pos, mass, G, softening)
    KE[0], PE[0] = energies(pos, vel, mass, G)
    time = 0.0

    for n in range(Nt):
        vel += 0.5 * dt * pull
        pos += dt * vel
        pull = accelerations(pos, mass, G, softening)
        vel += 0.5 * dt * pull
        time += dt
        KE[n + 1], PE[n + 1] = energies(pos, vel, mass, G)

    return KE, PE
