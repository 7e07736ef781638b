"""Reaction kinetics in JAX: powers of the concentrations, and a product with the matrix of net changes."""

import jax.numpy as jnp

EQUATIONS = """H + O2 = OH + O
O + H2 = OH + H
OH + H2 = H2O + H
O + H2O = OH + OH
H2 = H + H
O + O = O2
O + H = OH
H + OH = H2O
H + O2 = HO2
HO2 + H = OH + OH
HO2 + HO2 = H2O2 + O2
H2O2 = OH + OH"""
SPECIES = ["H2", "O2", "H", "O", "OH", "HO2", "H2O", "H2O2"]


def counts(side):
    """How often each species is in one side of an equation."""
    names = side.split(" + ")
    return [names.count(name) for name in SPECIES]


def reference(c, A, E, T, nt, dt):
    sides = [equation.split(" = ") for equation in EQUATIONS.splitlines()]
    orders = jnp.array([counts(left) for left, _ in sides])
    net = jnp.array([counts(right) for _, right in sides]) - orders
    k = jnp.exp(jnp.log(A)[:, None] - jnp.outer(E, 1.0 / T))

    def change(c):
        return net.T @ (k * jnp.prod(c[None] ** orders[:, :, None], axis=1))

    for _ in range(nt):
        slopes = [change(c)]
        for part in (0.5, 0.5, 1.0):
            slopes.append(change(c + part * dt * slopes[-1]))
        c = c + dt * jnp.tensordot(jnp.array([1, 2, 2, 1]) / 6, jnp.stack(slopes), 1)
    return {"c": c}
