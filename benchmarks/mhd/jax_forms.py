"""Ideal magnetohydrodynamics in JAX, to time gradients of.

The expert form scans over steps that are recomputed in the reverse sweep, and has the primitive fields of a step once.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def at_centers(bx, by):
    """The magnetic field in cells."""
    return 0.5 * (bx + jnp.roll(bx, 1, axis=0)), 0.5 * (by + jnp.roll(by, 1, axis=1))


def conserved(rho, vx, vy, p, bx, by, gamma):
    """Mass, momenta, energy and field."""
    cx, cy = at_centers(bx, by)
    energy = p / (gamma - 1.0) + 0.5 * rho * (vx**2 + vy**2) + 0.5 * (cx**2 + cy**2)
    return [rho, rho * vx, rho * vy, energy, bx, by]


def primitive(state, gamma):
    """Density, velocities, pressure and field."""
    rho, mx, my, energy, bx, by = state
    cx, cy = at_centers(bx, by)
    vx = mx / rho
    vy = my / rho
    p = (gamma - 1.0) * (energy - 0.5 * rho * (vx**2 + vy**2) - 0.5 * (cx**2 + cy**2))
    return rho, vx, vy, p, bx, by


def fast_speed(rho, p, bn, bt, gamma):
    """Of the fast magnetosonic waves."""
    sound = gamma * p / rho
    alfven = (bn**2 + bt**2) / rho
    both = sound + alfven
    return jnp.sqrt(0.5 * (both + jnp.sqrt(both**2 - 4.0 * sound * bn**2 / rho)))


def limited_slope(q, axis):
    """Van Leer's."""
    a = q - jnp.roll(q, 1, axis=axis)
    b = jnp.roll(q, -1, axis=axis) - q
    return jnp.where(a * b > 0, 2.0 * a * b / (a + b), 0.0)


def faces(q, axis):
    """Both sides of the faces."""
    half = 0.5 * limited_slope(q, axis)
    return q + half, jnp.roll(q - half, -1, axis=axis)


def flux(rho, vn, vt, p, bn, bt, gamma):
    """What is conserved and its flux."""
    magnetic = 0.5 * (bn**2 + bt**2)
    total = p + magnetic
    energy = p / (gamma - 1.0) + 0.5 * rho * (vn**2 + vt**2) + magnetic
    values = (rho, rho * vn, rho * vt, energy, bt)
    fluxes = (
        rho * vn,
        rho * vn**2 + total - bn**2,
        rho * vn * vt - bn * bt,
        (energy + total) * vn - bn * (vn * bn + vt * bt),
        vn * bt - vt * bn,
    )
    return values, fluxes


def rusanov(rho, vn, vt, p, bt, bn, axis, gamma):
    """The fluxes through the faces of a direction."""
    rho_left, rho_right = faces(rho, axis)
    vn_left, vn_right = faces(vn, axis)
    vt_left, vt_right = faces(vt, axis)
    p_left, p_right = faces(p, axis)
    bt_left, bt_right = faces(bt, axis)

    speed = jnp.maximum(
        jnp.abs(vn_left) + fast_speed(rho_left, p_left, bn, bt_left, gamma),
        jnp.abs(vn_right) + fast_speed(rho_right, p_right, bn, bt_right, gamma),
    )
    values_left, fluxes_left = flux(rho_left, vn_left, vt_left, p_left, bn, bt_left, gamma)
    values_right, fluxes_right = flux(rho_right, vn_right, vt_right, p_right, bn, bt_right, gamma)

    result = []
    for i in range(5):
        mean = 0.5 * (fluxes_left[i] + fluxes_right[i])
        result.append(mean - 0.5 * speed * (values_right[i] - values_left[i]))
    return result


def rates_of(fields, dx, gamma):
    """The rates of change, given the primitive fields."""
    rho, vx, vy, p, bx, by = fields
    cx, cy = at_centers(bx, by)
    mass_x, normal_x, across_x, energy_x, field_x = rusanov(rho, vx, vy, p, cy, bx, 0, gamma)
    mass_y, normal_y, across_y, energy_y, field_y = rusanov(rho, vy, vx, p, cx, by, 1, gamma)

    def divergence(fx, fy):
        return (jnp.roll(fx, 1, axis=0) - fx + jnp.roll(fy, 1, axis=1) - fy) / dx

    electric = 0.25 * (field_y + jnp.roll(field_y, -1, axis=0) - field_x - jnp.roll(field_x, -1, axis=1))
    return [
        divergence(mass_x, mass_y),
        divergence(normal_x, across_y),
        divergence(across_x, normal_y),
        divergence(energy_x, energy_y),
        -(electric - jnp.roll(electric, 1, axis=1)) / dx,
        (electric - jnp.roll(electric, 1, axis=0)) / dx,
    ]


def time_step_of(fields, courant, dx, gamma):
    """The time step, given the primitive fields."""
    rho, vx, vy, p, bx, by = fields
    cx, cy = at_centers(bx, by)
    fastest = jnp.sqrt((gamma * p + cx**2 + cy**2) / rho)
    return courant * dx / jnp.max(jnp.sqrt(vx**2 + vy**2) + fastest)


def port(rho, vx, vy, p, bx, by, nt, courant, dx, gamma):
    """The program, statement by statement."""

    def step(_, state):
        dt = time_step_of(primitive(state, gamma), courant, dx, gamma)
        first = rates_of(primitive(state, gamma), dx, gamma)
        predicted = [q + dt * k for q, k in zip(state, first, strict=True)]
        second = rates_of(primitive(predicted, gamma), dx, gamma)
        return [q + 0.5 * dt * (a + b) for q, a, b in zip(state, first, second, strict=True)]

    return primitive(lax.fori_loop(0, nt, step, conserved(rho, vx, vy, p, bx, by, gamma)), gamma)[3]


def side(W, bn, gamma):
    """What is conserved on one side of a face, its flux and its fastest speed."""
    rho, vn, vt, p, bt = W
    normal, across = bn * bn, bt * bt
    total = p + 0.5 * (normal + across)
    energy = total + p * (1.0 / (gamma - 1.0) - 1.0) + 0.5 * rho * (vn * vn + vt * vt)
    U = jnp.stack([rho, rho * vn, rho * vt, energy, bt])
    rest = jnp.stack([jnp.zeros_like(p), total - normal, -bn * bt, total * vn - bn * (vn * bn + vt * bt), -vt * bn])
    inverse = 1.0 / rho
    sound = gamma * p * inverse
    both = sound + (normal + across) * inverse
    speed = jnp.abs(vn) + jnp.sqrt(0.5 * (both + jnp.sqrt(both * both - 4.0 * sound * normal * inverse)))
    return U, vn * U + rest, speed


def face_fluxes(W, bn, gamma):
    """Rusanov's fluxes through the faces along the first axis of fields with two more cells at both ends."""
    change = W[:, 1:] - W[:, :-1]
    a, b = change[:, :-1], change[:, 1:]
    product = a * b
    half = jnp.where(product > 0, product / (a + b), 0.0)
    cells = W[:, 1:-1]
    U_left, F_left, speed_left = side((cells + half)[:, :-1], bn, gamma)
    U_right, F_right, speed_right = side((cells - half)[:, 1:], bn, gamma)
    return 0.5 * (F_left + F_right - jnp.maximum(speed_left, speed_right) * (U_right - U_left))


def wrapped(W, axis):
    """With the last two cells before the first ones and the first two after the last ones."""
    n = W.shape[axis]
    first, last = lax.slice_in_dim(W, 0, 2, axis=axis), lax.slice_in_dim(W, n - 2, n, axis=axis)
    return jnp.concatenate([last, W, first], axis=axis)


def expert(rho, vx, vy, p, bx, by, nt, courant, dx, gamma):
    """A scan of steps that are recomputed, on stacked fields."""

    def rates(fields):
        rho, vx, vy, p, bx, by = fields
        cx, cy = at_centers(bx, by)
        W = wrapped(jnp.stack([rho, vx, vy, p, cy]), 1)
        X = face_fluxes(W, jnp.concatenate([bx[-1:], bx]), gamma)
        W = wrapped(jnp.stack([rho.T, vy.T, vx.T, p.T, cx.T]), 1)
        Y = face_fluxes(W, jnp.concatenate([by.T[-1:], by.T]), gamma).swapaxes(1, 2)
        flow_x = X[:4, :-1] - X[:4, 1:]
        flow_y = Y[:4, :, :-1] - Y[:4, :, 1:]
        flow = flow_x + jnp.stack([flow_y[0], flow_y[2], flow_y[1], flow_y[3]])
        # At corners, those before the first cells too.
        along_x, along_y = X[4], Y[4]
        along_x = jnp.concatenate([along_x, along_x[:, :1]], axis=1)
        along_y = jnp.concatenate([along_y, along_y[:1]], axis=0)
        electric = 0.25 * (along_y[:-1, 1:] + along_y[1:, 1:] - along_x[1:, :-1] - along_x[1:, 1:])
        turned = [jnp.roll(electric, 1, axis=1) - electric, electric - jnp.roll(electric, 1, axis=0)]
        return jnp.concatenate([flow, jnp.stack(turned)]) * (1.0 / dx)

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(state, _):
        fields = primitive(state, gamma)
        dt = time_step_of(fields, courant, dx, gamma)
        first = rates(fields)
        second = rates(primitive(state + dt * first, gamma))
        return state + 0.5 * dt * (first + second), None

    state = jnp.stack(conserved(rho, vx, vy, p, bx, by, gamma))
    return primitive(lax.scan(step, state, None, length=nt)[0], gamma)[3]
