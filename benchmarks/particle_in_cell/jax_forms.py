"""Particles in cells, in JAX, to time gradients of.

The expert form deposits by one sum over segments and solves for the field by a product with a matrix of constants.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

LENGTH = 2 * np.pi


def port_electric_field(x, charge, cells):
    """The field, as the program has it."""
    dx = LENGTH / cells
    left = jnp.floor(x / dx).astype(int)
    weight = x / dx - left
    left = left % cells
    right = (left + 1) % cells
    density = jnp.zeros(cells)
    density = density.at[left].add(charge * (1.0 - weight) / dx)
    density = density.at[right].add(charge * weight / dx)
    density = density - jnp.mean(density)
    k = 2 * jnp.pi * jnp.fft.rfftfreq(cells, d=dx)
    modes = jnp.fft.rfft(density)
    modes = modes.at[0].set(0.0)
    modes = modes.at[1:].divide(1j * k[1:])
    grid = jnp.fft.irfft(modes, n=cells)
    return grid, (1.0 - weight) * grid[left] + weight * grid[right]


def port(x, v, charge, cells, dt, steps):
    """The program, statement by statement."""
    energy = jnp.zeros(steps)
    _, field = port_electric_field(x, charge, cells)
    v = v - 0.5 * dt * field

    def step(n, state):
        x, v, energy = state
        x = x + dt * v
        x = x % LENGTH
        grid, field = port_electric_field(x, charge, cells)
        energy = energy.at[n].set(0.5 * jnp.sum(grid**2) * LENGTH / cells)
        return x, v - dt * field, energy

    return lax.fori_loop(0, steps, step, (x, v, energy))[2]


def expert(x, v, charge, cells, dt, steps):
    """A scan over steps, in units of cells; the transform of the field is a constant."""
    dx = LENGTH / cells
    k = 2 * np.pi * np.fft.rfftfreq(cells, d=dx)
    factors = np.zeros(k.size, complex)
    factors[1:] = 1.0 / (1j * k[1:])
    scaled = charge / dx

    def fields(x):
        place = x / dx
        floor = jnp.floor(place)
        weight = place - lax.stop_gradient(floor)
        left = floor.astype(jnp.int32) % cells
        right = jnp.where(left == cells - 1, 0, left + 1)
        moved = scaled * weight
        density = jax.ops.segment_sum(
            jnp.concatenate([scaled - moved, moved]), jnp.concatenate([left, right]), num_segments=cells
        )
        grid = jnp.fft.irfft(factors * jnp.fft.rfft(density), n=cells)
        here, there = grid[left], grid[right]
        return grid, here + weight * (there - here)

    def step(state, _):
        x, v = state
        x = (x + dt * v) % LENGTH
        grid, field = fields(x)
        return (x, v - dt * field), 0.5 * dx * jnp.sum(grid * grid)

    return lax.scan(step, (x, v - 0.5 * dt * fields(x)[1]), None, length=steps)[1]
