"""Reaction kinetics in JAX, to time gradients of.

The expert form keeps a row for each species, so that all of a step is one element-wise kernel, and recomputes steps.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax

H2, O2, H, O, OH, HO2, H2O, H2O2 = range(8)  # noqa: E741

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


def change(c, k):
    """The changes of all concentrations."""
    result = jnp.zeros_like(c)
    for r, (reactants, products) in enumerate(REACTIONS):
        rate = k[r]
        for s in reactants:
            rate = rate * c[s]
        for s in reactants:
            result = result.at[s].add(-rate)
        for s in products:
            result = result.at[s].add(rate)
    return result


def port(c, A, E, T, nt, dt):
    """The program, statement by statement; the reactions are unrolled."""
    k = A[:, None] * jnp.exp(-E[:, None] / T)

    def step(_, c):
        k1 = change(c, k)
        k2 = change(c + 0.5 * dt * k1, k)
        k3 = change(c + 0.5 * dt * k2, k)
        k4 = change(c + dt * k3, k)
        return c + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    return lax.fori_loop(0, nt, step, c)


def expert(c, A, E, T, nt, dt):
    """A scan over steps on tuples of rows."""
    k = tuple(A[:, None] * jnp.exp(-E[:, None] / T))

    def slopes(c):
        result = [0.0] * len(c)
        for rate, (reactants, products) in zip(k, REACTIONS, strict=True):
            for s in reactants:
                rate = rate * c[s]
            for s in reactants:
                result[s] = result[s] - rate
            for s in products:
                result[s] = result[s] + rate
        return result

    def moved(c, part, k):
        return tuple(x + part * dt * y for x, y in zip(c, k, strict=True))

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(c, _):
        k1 = slopes(c)
        k2 = slopes(moved(c, 0.5, k1))
        k3 = slopes(moved(c, 0.5, k2))
        k4 = slopes(moved(c, 1.0, k3))
        total = [w + 2.0 * (x + y) + z for w, x, y, z in zip(k1, k2, k3, k4, strict=True)]
        return moved(c, 1.0 / 6.0, total), None

    return jnp.stack(lax.scan(step, tuple(c), None, length=nt)[0])
