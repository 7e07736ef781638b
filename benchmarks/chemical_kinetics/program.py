"""Combustion of hydrogen, much simplified, in many cells: twelve reactions of eight species by the Runge-Kutta method.

``c`` has a row of concentrations for each species; each reaction has a rate constant A exp(-E / T) in each cell, with E
and T in thousands of kelvins.
"""

import numpy as np

H2, O2, H, O, OH, HO2, H2O, H2O2 = range(8)  # noqa: E741

# What reacts, and what becomes of it.
REACTIONS = [
    ((H, O2), (OH, O)),
    ((O, H2), (OH, H)),
    ((OH, H2), (H2O, H)),
    ((O, H2O), (OH, OH)),
    ((H2,), (H, H)),
    ((O, O), (O2,)),
    ((O, H), (OH,)),
    ((H, OH), (H2O,)),
    ((H, O2), (HO2,)),
    ((HO2, H), (OH, OH)),
    ((HO2, HO2), (H2O2, O2)),
    ((H2O2,), (OH, OH)),
]


def initialize(cells, nt, rng):
    c = rng.uniform(0.01, 0.1, (8, cells))
    c[H2] += 1.0
    c[O2] += 0.5
    # From slow to fast.
    return {
        "c": c,
        "A": 10.0 ** rng.uniform(0, 3, len(REACTIONS)),
        "E": rng.uniform(0.5, 4.0, len(REACTIONS)),
        "T": rng.uniform(0.9, 1.5, cells),
        "nt": nt,
        "dt": 1e-3,
    }


def change(c, k):
    result = np.zeros_like(c)
    for r, (reactants, products) in enumerate(REACTIONS):
        rate = k[r].copy()
        for s in reactants:
            rate *= c[s]
        for s in reactants:
            result[s] -= rate
        for s in products:
            result[s] += rate
    return result


def chemical_kinetics(c, A, E, T, nt, dt):
    k = A[:, None] * np.exp(-E[:, None] / T)
    for _ in range(nt):
        k1 = change(c, k)
        k2 = change(c + 0.5 * dt * k1, k)
        k3 = change(c + 0.5 * dt * k2, k)
        k4 = change(c + dt * k3, k)
        c += dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
