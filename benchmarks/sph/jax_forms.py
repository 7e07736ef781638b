"""Smoothed particles, in JAX, to time gradients of.

The expert form has coordinates in rows, sums the pairs' forces as products with matrices, and recomputes the pairs of
a step in the reverse sweep.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def port_separations(pos, h):
    """The pairs, as the program has them."""
    dx = pos[:, 0][:, jnp.newaxis] - pos[:, 0]
    dy = pos[:, 1][:, jnp.newaxis] - pos[:, 1]
    nearness = jnp.maximum(1.0 - (dx**2 + dy**2) / h**2, 0.0)
    return dx, dy, nearness


def port_densities(nearness, mass, h):
    """The densities, as the program has them."""
    return 4.0 / (jnp.pi * h**2) * nearness**3 @ mass


def port_accelerations(pos, vel, mass, h, stiffness, viscosity):
    """The accelerations, as the program has them."""
    dx, dy, nearness = port_separations(pos, h)
    density = port_densities(nearness, mass, h)
    pressure = stiffness * ((density / 1.0) ** 7 - 1.0)
    slope = -24.0 / (jnp.pi * h**4) * nearness**2
    strength = pressure / density**2
    push = -(strength[:, jnp.newaxis] + strength[jnp.newaxis, :]) * slope * mass
    kernel = 4.0 / (jnp.pi * h**2) * nearness**3
    drag = viscosity * kernel * mass / (density[:, jnp.newaxis] * density[jnp.newaxis, :])
    du = vel[:, 0] - vel[:, 0][:, jnp.newaxis]
    dv = vel[:, 1] - vel[:, 1][:, jnp.newaxis]
    acc = jnp.zeros_like(pos)
    acc = acc.at[:, 0].set(jnp.sum(push * dx + drag * du, axis=1))
    return acc.at[:, 1].set(jnp.sum(push * dy + drag * dv, axis=1) - 0.5)


def port(pos, vel, mass, h, stiffness, viscosity, dt, steps):
    """The program, statement by statement."""
    acc = port_accelerations(pos, vel, mass, h, stiffness, viscosity)

    def step(n, state):
        pos, vel, acc = state
        vel = vel + 0.5 * dt * acc
        pos = pos + dt * vel
        acc = port_accelerations(pos, vel, mass, h, stiffness, viscosity)
        vel = vel + 0.5 * dt * acc
        return pos, vel, acc

    pos, vel, acc = lax.fori_loop(0, steps, step, (pos, vel, acc))
    _, _, nearness = port_separations(pos, h)
    return port_densities(nearness, mass, h)


def expert(pos, vel, mass, h, stiffness, viscosity, dt, steps):
    """A scan that carries positions and half-step velocities, and stores nothing of pairs."""
    scale = 4.0 / (jnp.pi * h**2)

    def nearness(pos):
        d = pos[:, :, None] - pos[:, None, :]
        return jnp.maximum(1.0 - jnp.sum(d * d, axis=0) / (h * h), 0.0)

    def accelerations(pos, vel):
        near = nearness(pos)
        squared = near * near
        cubed = squared * near
        density = scale * (cubed @ mass)
        strength = stiffness * (density**7 - 1.0) / density**2
        # The sum over j of w_ij (x_i - x_j) is x_i times a row's sum, less a product with a matrix.
        push = (6.0 / (h * h)) * scale * squared * (strength[:, None] + strength[None, :])
        light = mass / density
        drag = (viscosity * scale) * cubed * light / density[:, None]
        pushed = pos * (push @ mass) - (mass * pos) @ push.T
        dragged = vel @ drag.T - vel * jnp.sum(drag, axis=1)
        return pushed + dragged + jnp.array([[0.0], [-0.5]])

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(state, _):
        pos, half = state
        pos = pos + dt * half
        acc = accelerations(pos, half)
        return (pos, half + dt * acc), None

    pos, vel = pos.T, vel.T
    half = vel + 0.5 * dt * accelerations(pos, vel)
    (pos, _), _ = lax.scan(step, (pos, half), None, length=steps)
    return scale * (nearness(pos) ** 3 @ mass)
