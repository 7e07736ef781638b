"""Self-energies of the scattering of electrons by phonons in JAX: one contraction for each phonon energy."""

import jax.numpy as jnp


def reference(neigh_idx, dH, G, D, Sigma):
    NE, Nw = G.shape[1], D.shape[1]
    Sigma = jnp.asarray(Sigma)
    for w in range(min(Nw, NE)):
        neighbours = jnp.asarray(G)[:, : NE - w, neigh_idx]
        phonons = jnp.sum(D[:, w], axis=0)
        Sigma = Sigma.at[:, w:].add(jnp.einsum("keabmn,abinr,abij,abjrs->keams", neighbours, dH, phonons, dH))
    return {"Sigma": Sigma}
