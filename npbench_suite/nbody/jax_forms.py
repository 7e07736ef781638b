"""Gravitating bodies, in JAX, for timing.

The expert form carries positions and half-step velocities only, recomputes the forces of a step in the reverse
sweep, and has the energies of all times at once, from the stacked positions and each pair once.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np


def port_accelerations(pos, mass, G, softening):
    """Accelerations of all bodies, as the program has them; what is not positive is kept out of the power."""
    first, second, third = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    d1 = first.T - first
    d2 = second.T - second
    d3 = third.T - third
    squares = softening**2 + d1**2 + d2**2 + d3**2
    positive = squares > 0
    weights = jnp.where(positive, jnp.where(positive, squares, 1.0) ** (-1.5), squares)
    a1 = G * (weights * d1) @ mass
    a2 = G * (weights * d2) @ mass
    a3 = G * (weights * d3) @ mass
    return jnp.hstack((a1, a2, a3))


def port_potential(pos, mass, G):
    """Potential energy, as the program has it; the distance 0 is kept out of the root and the quotient."""
    first, second, third = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    d1 = first.T - first
    d2 = second.T - second
    d3 = third.T - third
    squares = d1**2 + d2**2 + d3**2
    positive = squares > 0
    inverse = jnp.where(positive, 1.0 / jnp.sqrt(jnp.where(positive, squares, 1.0)), 0.0)
    return G * jnp.sum(jnp.triu(inverse * -(mass * mass.T), 1))


def port(mass, pos, vel, N, Nt, dt, G, softening, KE, PE):
    """Potential energies at all times."""
    vel = vel - jnp.mean(vel * mass, axis=0) / jnp.mean(mass)
    pull = port_accelerations(pos, mass, G, softening)
    PE = PE.at[0].set(port_potential(pos, mass, G))

    def step(n, state):
        pos, vel, pull, PE = state
        vel = vel + 0.5 * dt * pull
        pos = pos + dt * vel
        pull = port_accelerations(pos, mass, G, softening)
        vel = vel + 0.5 * dt * pull
        return pos, vel, pull, PE.at[n + 1].set(port_potential(pos, mass, G))

    return jax.lax.fori_loop(0, Nt, step, (pos, vel, pull, PE))[-1]


def pulls(pos, mass, G, softening):
    """Accelerations, with a row for each coordinate."""
    d = pos[:, None, :] - pos[:, :, None]
    inverse = jax.lax.rsqrt(softening**2 + jnp.sum(d * d, axis=0))
    return (inverse * inverse * inverse * d) @ (G * mass)


def expert(mass, pos, vel, N, Nt, dt, G, softening, KE, PE):
    """Potential energies at all times, of the stacked positions."""
    mass, pos, vel = mass[:, 0], pos.T, vel.T
    vel = vel - (vel @ mass / jnp.sum(mass))[:, None]

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(state, _):
        pos, half = state
        pos = pos + dt * half
        return (pos, half + dt * pulls(pos, mass, G, softening)), pos

    half = vel + 0.5 * dt * pulls(pos, mass, G, softening)
    _, later = jax.lax.scan(step, (pos, half), None, length=Nt)

    i, j = np.triu_indices(N, 1)
    history = jnp.concatenate([pos[None], later])
    d = history[:, :, i] - history[:, :, j]
    return -G * (jax.lax.rsqrt(jnp.sum(d * d, axis=1)) @ (mass[i] * mass[j]))
