"""Shallow water on a staggered grid in JAX, to time gradients of.

The expert form scans over the inner velocities, without the walls, and pads where it needs them.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def update_depth(h, u, v, dt, dx):
    """The depth after a step."""
    flux_x = u[1:-1, :] * 0.5 * (h[1:, :] + h[:-1, :])
    flux_y = v[:, 1:-1] * 0.5 * (h[:, 1:] + h[:, :-1])
    h = h.at[:-1, :].add(-dt / dx * flux_x)
    h = h.at[1:, :].add(dt / dx * flux_x)
    h = h.at[:, :-1].add(-dt / dx * flux_y)
    return h.at[:, 1:].add(dt / dx * flux_y)


def update_velocities(h, u, v, bottom, coriolis, dt, dx, g, drag):
    """Both velocities after a step."""
    nx, ny = h.shape
    vorticity = jnp.zeros((nx + 1, ny + 1)).at[:, :].set(coriolis)
    vorticity = vorticity.at[1:-1, 1:-1].add((v[1:, 1:-1] - v[:-1, 1:-1]) / dx - (u[1:-1, 1:] - u[1:-1, :-1]) / dx)
    turn_u = vorticity[1:-1, :] * 0.5 * (v[1:, :] + v[:-1, :])
    turn_v = vorticity[:, 1:-1] * 0.5 * (u[:, 1:] + u[:, :-1])

    kinetic = 0.25 * (u[1:, :] ** 2 + u[:-1, :] ** 2 + v[:, 1:] ** 2 + v[:, :-1] ** 2)
    energy = kinetic + g * (h + bottom)
    u_mean = 0.5 * (u[1:, :] + u[:-1, :])
    v_mean = 0.5 * (v[:, 1:] + v[:, :-1])
    friction = drag * jnp.sqrt(u_mean**2 + v_mean**2) / h

    u = u.at[1:-1, :].add(
        dt
        * (
            0.5 * (turn_u[:, 1:] + turn_u[:, :-1])
            - (energy[1:, :] - energy[:-1, :]) / dx
            - 0.5 * (friction[1:, :] + friction[:-1, :]) * u[1:-1, :]
        )
    )
    v = v.at[:, 1:-1].add(
        dt
        * (
            -0.5 * (turn_v[1:, :] + turn_v[:-1, :])
            - (energy[:, 1:] - energy[:, :-1]) / dx
            - 0.5 * (friction[:, 1:] + friction[:, :-1]) * v[:, 1:-1]
        )
    )
    return u, v


def port(h, u, v, bottom, coriolis, nt, dt, dx, g, drag):
    """The program, statement by statement."""

    def step(_, state):
        h, u, v = state
        h = update_depth(h, u, v, dt, dx)
        return h, *update_velocities(h, u, v, bottom, coriolis, dt, dx, g, drag)

    return lax.fori_loop(0, nt, step, (h, u, v))[1]


def expert(h, u, v, bottom, coriolis, nt, dt, dx, g, drag):
    """A scan of steps that are recomputed."""
    r = dt / dx

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(state, _):
        h, u, v = state
        flux_x = jnp.pad((0.5 * r) * u[1:-1] * (h[1:] + h[:-1]), ((1, 1), (0, 0)))
        flux_y = jnp.pad((0.5 * r) * v[:, 1:-1] * (h[:, 1:] + h[:, :-1]), ((0, 0), (1, 1)))
        h = h - (flux_x[1:] - flux_x[:-1]) - (flux_y[:, 1:] - flux_y[:, :-1])

        shear = v[1:, 1:-1] - v[:-1, 1:-1] - u[1:-1, 1:] + u[1:-1, :-1]
        vorticity = (0.25 * dt) * coriolis + (0.25 * r) * jnp.pad(shear, 1)
        turn_u = vorticity[1:-1] * (v[1:] + v[:-1])
        turn_v = vorticity[:, 1:-1] * (u[:, 1:] + u[:, :-1])
        left, right, below, above = u[:-1], u[1:], v[:, :-1], v[:, 1:]
        squares = left * left + right * right + below * below + above * above
        energy = (r * g) * (h + bottom) + (0.25 * r) * squares
        friction = (0.25 * dt * drag) * jnp.sqrt((left + right) ** 2 + (below + above) ** 2) / h
        inner = u[1:-1]
        rate_u = turn_u[:, 1:] + turn_u[:, :-1] - (energy[1:] - energy[:-1]) - (friction[1:] + friction[:-1]) * inner
        inner = v[:, 1:-1]
        rate_v = turn_v[1:] + turn_v[:-1] + (energy[:, 1:] - energy[:, :-1])
        rate_v = rate_v + (friction[:, 1:] + friction[:, :-1]) * inner
        return (h, u + jnp.pad(rate_u, ((1, 1), (0, 0))), v - jnp.pad(rate_v, ((0, 0), (1, 1)))), None

    return lax.scan(step, (h, u, v), None, length=nt)[0][1]
