"""Atoms in a periodic box, in JAX, to time gradients of.

The expert form has coordinates first, and recomputes the pairs of a step in the reverse sweep.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def port_forces(pos, box, epsilon, sigma):
    """The forces and the potential energy, as the program has them."""
    d = pos[:, jnp.newaxis, :] - pos[jnp.newaxis, :, :]
    d = d - box * jnp.round(d / box)
    r2 = jnp.sum(d**2, axis=2)
    r2 = jnp.fill_diagonal(r2, jnp.inf, inplace=False)
    s6 = (sigma**2 / r2) ** 3
    potential = 0.5 * jnp.sum(4.0 * epsilon * (s6**2 - s6))
    strength = 24.0 * epsilon * (2.0 * s6**2 - s6) / r2
    return jnp.sum(strength[:, :, jnp.newaxis] * d, axis=1), potential


def port(pos, vel, box, epsilon, sigma, dt, steps):
    """The program, statement by statement."""
    energies = jnp.zeros(steps + 1)
    force, energy = port_forces(pos, box, epsilon, sigma)
    energies = energies.at[0].set(energy)

    def step(n, state):
        pos, vel, force, energies = state
        vel = vel + 0.5 * dt * force
        pos = pos + dt * vel
        pos = pos % box
        force, energy = port_forces(pos, box, epsilon, sigma)
        energies = energies.at[n + 1].set(energy)
        vel = vel + 0.5 * dt * force
        return pos, vel, force, energies

    return lax.fori_loop(0, steps, step, (pos, vel, force, energies))[3]


def expert(pos, vel, box, epsilon, sigma, dt, steps):
    """A scan that carries positions and half-step velocities; positions need no wrapping into the box."""
    n = pos.shape[0]
    itself = jnp.eye(n, dtype=bool)

    def forces(pos):
        d = pos[:, :, None] - pos[:, None, :]
        d = d - box * jnp.round(d * (1.0 / box))
        inverse = 1.0 / jnp.where(itself, jnp.inf, jnp.sum(d * d, axis=0))
        s2 = sigma**2 * inverse
        s6 = s2 * s2 * s2
        potential = 2.0 * epsilon * jnp.sum(s6 * (s6 - 1.0))
        return jnp.sum(24.0 * epsilon * s6 * (2.0 * s6 - 1.0) * inverse * d, axis=2), potential

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(state, _):
        pos, half = state
        pos = pos + dt * half
        force, potential = forces(pos)
        return (pos, half + dt * force), potential

    pos, vel = pos.T, vel.T
    force, first = forces(pos)
    _, later = lax.scan(step, (pos, vel + 0.5 * dt * force), None, length=steps)
    return jnp.concatenate([first[None], later])
