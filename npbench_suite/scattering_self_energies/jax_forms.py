"""Self-energies of the scattering of electrons by phonons, in JAX, for timing.

The expert form sums what does not depend on k and E beforehand, to one small matrix for each phonon energy, atom and
neighbour; the rest is one contraction of the shifted Green's functions with them.
"""

import functools

import jax.numpy as jnp
from jax import lax


def port(neigh_idx, dH, G, D, Sigma):
    """The program's eight loops; scattering below the lowest energy is masked."""
    neigh_idx = jnp.asarray(neigh_idx)
    counts = (*G.shape[:2], *D.shape[:2], *D.shape[-2:], *neigh_idx.shape)

    def body(kz, energy, qz, loss, d, e, atom, n, Sigma):
        lower = jnp.maximum(energy - loss, 0)
        left = G[kz, lower, neigh_idx[atom, n]] @ dH[atom, n, d]
        right = D[qz, loss, atom, n, d, e] * dH[atom, n, e]
        return Sigma.at[kz, energy, atom].add(jnp.where(energy - loss >= 0, left @ right, 0.0))

    def loop(indices, Sigma):
        if len(indices) == len(counts):
            return body(*indices, Sigma)
        return lax.fori_loop(0, counts[len(indices)], lambda i, Sigma: loop((*indices, i), Sigma), Sigma)

    return loop((), Sigma)


def expert(neigh_idx, dH, G, D, Sigma):
    """Products of the small matrices as sums of broadcast products, which XLA fuses."""
    NE = G.shape[1]
    losses = min(D.shape[1], NE)
    phonons = jnp.sum(D[:, :losses], axis=0)
    # Over the directions e, and then over d and the inner index of the product of both dH.
    weighted = jnp.sum(phonons[..., None, None] * dH[:, :, None], axis=4)
    kernels = jnp.sum(dH[..., None] * weighted[:, :, :, :, None], axis=(3, 5))
    neighbours = G[:, :, neigh_idx]

    def scattered(loss):
        terms = neighbours[:, : NE - loss, ..., None] * kernels[loss][:, :, None]
        return jnp.pad(jnp.sum(terms, axis=(3, 5)), ((0, 0), (loss, 0), (0, 0), (0, 0), (0, 0)))

    return functools.reduce(jnp.add, map(scattered, range(losses)), Sigma)
