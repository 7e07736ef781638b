"""Self-energies of the scattering of electrons by phonons: products of small complex matrices.

Sigma has a matrix for each momentum k, energy E and atom a. Green's functions G are those of the atom's
neighbours, at energies lower by that of the phonon; D belongs to the phonons, and dH to the derivatives of the
Hamiltonian.
"""

import numpy as np


def random_complex(shape, rng):
    return rng.uniform(-1, 1, shape) + rng.uniform(-1, 1, shape) * 1j


def initialize(Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb, rng):
    # An atom's neighbours are those around it, cyclically.
    neigh_idx = np.ndarray([NA, NB], dtype=np.int32)
    for a in range(NA):
        neigh_idx[a] = np.arange(a - NB // 2, a - NB // 2 + NB) % NA
    return {
        "neigh_idx": neigh_idx,
        "dH": random_complex([NA, NB, N3D, Norb, Norb], rng),
        "G": random_complex([Nkz, NE, NA, Norb, Norb], rng),
        "D": random_complex([Nqz, Nw, NA, NB, N3D, N3D], rng),
        "Sigma": random_complex([Nkz, NE, NA, Norb, Norb], rng),
    }


def scattering_self_energies(neigh_idx, dH, G, D, Sigma):
    for kz in range(G.shape[0]):
        for energy in range(G.shape[1]):
            for qz in range(D.shape[0]):
                for loss in range(D.shape[1]):
                    for d in range(D.shape[-2]):
                        for e in range(D.shape[-1]):
                            for atom in range(neigh_idx.shape[0]):
                                for n in range(neigh_idx.shape[1]):
                                    if energy - loss >= 0:
                                        left = G[kz, energy - loss, neigh_idx[atom, n]] @ dH[atom, n, d]
                                        right = D[qz, loss, atom, n, d, e] * dH[atom, n, e]
                                        Sigma[kz, energy, atom] += left @ right
