"""Ideal magnetohydrodynamics in JAX: the second direction is the first one of the transposed fields."""

import jax.numpy as jnp
from jax import lax


def before(q):
    return jnp.concatenate([q[-1:], q[:-1]])


def after(q):
    return jnp.concatenate([q[1:], q[:1]])


def sides(q):
    a, b = q - before(q), after(q) - q
    slope = jnp.where(a * b > 0, 2 / (1 / a + 1 / b), 0.0)
    return q + slope / 2, after(q - slope / 2)


def side(W, bn, gamma):
    """The conserved values, their flux and the fastest speed."""
    rho, u, v, p, bt = W
    pressure = p + (bn * bn + bt * bt) / 2
    E = p / (gamma - 1) + (rho * (u * u + v * v) + bn * bn + bt * bt) / 2
    U = jnp.stack([rho, rho * u, rho * v, E, bt])
    rest = jnp.stack([0 * u, pressure - bn * bn, -bn * bt, pressure * u - bn * (u * bn + v * bt), -v * bn])
    sound, alfven, across = gamma * p / rho, bn * bn / rho, bt * bt / rho
    root = jnp.sqrt((sound - alfven - across) ** 2 + 4 * sound * across)
    return U, u * U + rest, jnp.abs(u) + jnp.sqrt((sound + alfven + across + root) / 2)


def fluxes(W, bn, gamma):
    pairs = [sides(q) for q in W]
    U_left, F_left, speed_left = side([pair[0] for pair in pairs], bn, gamma)
    U_right, F_right, speed_right = side([pair[1] for pair in pairs], bn, gamma)
    return (F_left + F_right - jnp.maximum(speed_left, speed_right) * (U_right - U_left)) / 2


def to_primitive(state, gamma):
    rho, mx, my, E, bx, by = state
    magnetic = (bx + before(bx)) ** 2 / 8 + (by.T + before(by.T)).T ** 2 / 8
    return rho, mx / rho, my / rho, (gamma - 1) * (E - (mx**2 + my**2) / (2 * rho) - magnetic), bx, by


def reference(rho, vx, vy, p, bx, by, nt, courant, dx, gamma):
    def rates(state):
        rho, vx, vy, p, bx, by = to_primitive(state, gamma)
        cx, cy = (bx + before(bx)) / 2, (by.T + before(by.T)).T / 2
        X = fluxes([rho, vx, vy, p, cy], bx, gamma)
        Y = fluxes([rho.T, vy.T, vx.T, p.T, cx.T], by.T, gamma).swapaxes(1, 2)
        flow_x = X[:4] - jnp.stack([before(f) for f in X[:4]])
        flow_y = Y[jnp.array([0, 2, 1, 3])]
        flow_y = flow_y - jnp.stack([before(f.T).T for f in flow_y])
        electric = (Y[4] + after(Y[4]) - X[4] - after(X[4].T).T) / 4
        turned = jnp.stack([before(electric.T).T - electric, electric - before(electric)])
        return jnp.concatenate([-flow_x - flow_y, turned]) / dx

    magnetic = (bx + before(bx)) ** 2 / 8 + (by.T + before(by.T)).T ** 2 / 8
    state = jnp.stack([rho, rho * vx, rho * vy, p / (gamma - 1) + rho * (vx**2 + vy**2) / 2 + magnetic, bx, by])

    def step(_, state):
        rho, vx, vy, p, bx, by = to_primitive(state, gamma)
        squares = (bx + before(bx)) ** 2 / 4 + (by.T + before(by.T)).T ** 2 / 4
        dt = courant * dx / jnp.max(jnp.hypot(vx, vy) + jnp.sqrt((gamma * p + squares) / rho))
        predicted = state + dt * rates(state)
        return (state + predicted + dt * rates(predicted)) / 2

    state = lax.fori_loop(0, nt, step, state)
    return {f"return[{k}]": value for k, value in enumerate(to_primitive(state, gamma))}
