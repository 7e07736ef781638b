"""Compressible Euler equations in JAX, to time gradients of.

The expert form scans over steps that are recomputed in the reverse sweep, and has one quotient for each face.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def conserved(W, gamma):
    """Density, momenta and energy."""
    energy = W[3] / (gamma - 1.0) + 0.5 * W[0] * (W[1] ** 2 + W[2] ** 2)
    return jnp.stack([W[0], W[0] * W[1], W[0] * W[2], energy])


def primitive(U, gamma):
    """Density, velocities and pressure."""
    pressure = (gamma - 1.0) * (U[3] - 0.5 * (U[1] ** 2 + U[2] ** 2) / U[0])
    return jnp.stack([U[0], U[1] / U[0], U[2] / U[0], pressure])


def minmod(a, b):
    """The smaller of two slopes of one sign."""
    return 0.5 * (jnp.sign(a) + jnp.sign(b)) * jnp.minimum(jnp.abs(a), jnp.abs(b))


def flux(W, U, direction):
    """The flux in a direction."""
    F = W[direction] * U
    F = F.at[direction].add(W[3])
    return F.at[3].add(W[direction] * W[3])


def hll(left, right, gamma, direction):
    """The flux between two states."""
    U_left = conserved(left, gamma)
    U_right = conserved(right, gamma)
    F_left = flux(left, U_left, direction)
    F_right = flux(right, U_right, direction)

    sound_left = jnp.sqrt(gamma * left[3] / left[0])
    sound_right = jnp.sqrt(gamma * right[3] / right[0])
    slow = jnp.minimum(left[direction] - sound_left, right[direction] - sound_right)
    fast = jnp.maximum(left[direction] + sound_left, right[direction] + sound_right)

    between = (fast * F_left - slow * F_right + slow * fast * (U_right - U_left)) / (fast - slow)
    return jnp.where(slow > 0, F_left, jnp.where(fast < 0, F_right, between))


def difference_of_fluxes(W, gamma, direction):
    """In each cell, what flows out in a direction less what flows in."""
    slope = minmod(W - jnp.roll(W, 1, axis=direction), jnp.roll(W, -1, axis=direction) - W)
    left = W + 0.5 * slope
    right = jnp.roll(W - 0.5 * slope, -1, axis=direction)
    F = hll(left, right, gamma, direction)
    return F - jnp.roll(F, 1, axis=direction)


def rate(U, dx, dy, gamma):
    """The rate of change."""
    W = primitive(U, gamma)
    return -difference_of_fluxes(W, gamma, 1) / dx - difference_of_fluxes(W, gamma, 2) / dy


def port(W, nt, dt, dx, dy, gamma):
    """The program, statement by statement."""

    def step(_, U):
        first = rate(U, dx, dy, gamma)
        second = rate(U + dt * first, dx, dy, gamma)
        return U + 0.5 * dt * (first + second)

    return primitive(lax.fori_loop(0, nt, step, conserved(W, gamma)), gamma)


def face_flux(left, right, gamma, direction):
    """The flux between two states, with the speeds clipped at zero."""
    slow = jnp.minimum(
        left[direction] - jnp.sqrt(gamma * left[3] / left[0]), right[direction] - jnp.sqrt(gamma * right[3] / right[0])
    )
    fast = jnp.maximum(
        left[direction] + jnp.sqrt(gamma * left[3] / left[0]), right[direction] + jnp.sqrt(gamma * right[3] / right[0])
    )
    slow, fast = jnp.minimum(slow, 0.0), jnp.maximum(fast, 0.0)
    inverse = 1.0 / (fast - slow)
    # Each side's flux is its velocity times what is conserved, and pressure.
    weight_left, weight_right = fast * inverse, -slow * inverse
    carried_left = weight_left * (left[direction] - slow)
    carried_right = weight_right * (right[direction] - fast)
    pressure = weight_left * left[3] + weight_right * right[3]
    work = weight_left * left[3] * left[direction] + weight_right * right[3] * right[direction]
    F = carried_left * conserved(left, gamma) + carried_right * conserved(right, gamma)
    return F.at[direction].add(pressure).at[3].add(work)


def outflow(W, gamma, direction):
    """What flows out of each cell in a direction, less what flows in."""
    after = jnp.roll(W, -1, axis=direction) - W
    before = jnp.roll(after, 1, axis=direction)
    half = jnp.where(before * after > 0, jnp.where(jnp.abs(before) < jnp.abs(after), before, after), 0.0) * 0.5
    F = face_flux(W + half, jnp.roll(W - half, -1, axis=direction), gamma, direction)
    return F - jnp.roll(F, 1, axis=direction)


def expert(W, nt, dt, dx, dy, gamma):
    """A scan over the steps, each of them recomputed."""

    def rate(U):
        W = primitive(U, gamma)
        return outflow(W, gamma, 1) * (-1.0 / dx) + outflow(W, gamma, 2) * (-1.0 / dy)

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(U, _):
        first = rate(U)
        return U + (0.5 * dt) * (first + rate(U + dt * first)), None

    return primitive(lax.scan(step, conserved(W, gamma), None, length=nt)[0], gamma)
