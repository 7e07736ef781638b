"""JAX forms of cavity_flow. The expert form scales u, v and p such that most coefficients vanish, sweeps over the
flattened interior pressure with masks for the walls, and sums the gradients of coefficients once, at the end."""

import jax.numpy as jnp
import numpy as np
from jax import lax


def port(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    """The program's loops, with in-place updates as .at[].set."""

    def set_source(b, u, v):
        return b.at[1:-1, 1:-1].set(
            rho
            * (
                ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) * (1 / dt)
                - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
                - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
                - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy)) * ((v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
            )
        )

    def relax_pressure(p, b):
        def sweep(_, old):
            p = old.at[1:-1, 1:-1].set(
                (
                    dy**2 * (old[1:-1, 2:] + old[1:-1, 0:-2])
                    + dx**2 * (old[2:, 1:-1] + old[0:-2, 1:-1])
                    - dx**2 * dy**2 * b[1:-1, 1:-1]
                )
                / (2 * (dx**2 + dy**2))
            )
            p = p.at[:, -1].set(p[:, -2])
            p = p.at[0, :].set(p[1, :])
            p = p.at[:, 0].set(p[:, 1])
            return p.at[-1, :].set(0)

        return lax.fori_loop(0, nit, sweep, p)

    def advance(a, uold, vold, gradient):
        inner = a[1:-1, 1:-1]
        return a.at[1:-1, 1:-1].set(
            inner
            - dt / dx * uold[1:-1, 1:-1] * (inner - a[1:-1, 0:-2])
            - dt / dy * vold[1:-1, 1:-1] * (inner - a[0:-2, 1:-1])
            - gradient
            + nu * dt / dx**2 * (a[1:-1, 0:-2] - 2 * inner + a[1:-1, 2:])
            + nu * dt / dy**2 * (a[0:-2, 1:-1] - 2 * inner + a[2:, 1:-1])
        )

    def step(_, state):
        uold, vold, p, b = state
        b = set_source(b, uold, vold)
        p = relax_pressure(p, b)
        u = advance(uold, uold, vold, dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2]))
        v = advance(vold, uold, vold, dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1]))
        u = u.at[0, :].set(0).at[:, 0].set(0).at[:, -1].set(0).at[-1, :].set(1)
        v = v.at[0, :].set(0).at[-1, :].set(0).at[:, 0].set(0).at[:, -1].set(0)
        return u, v, p, b

    return lax.fori_loop(0, nt, step, (u, v, p, jnp.zeros((ny, nx))))[0]


def _neighbours(a):
    """The interior of ``a`` and its neighbours: west, east, south, north."""
    return a[1:-1, 1:-1], a[1:-1, :-2], a[1:-1, 2:], a[:-2, 1:-1], a[2:, 1:-1]


def _masks(m, n):
    """For each inner point, flat: whether it has a neighbour to the east and west; how often walls repeat itself."""
    east, west, south = np.ones((m, n)), np.ones((m, n)), np.zeros((m, n))
    east[:, -1] = west[:, 0] = 0.0
    south[0] = 1.0
    return east.ravel(), west.ravel(), (2.0 - east - west).ravel(), south.ravel()


def expert(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    """A scan over the steps, with a scan over the sweeps in each."""
    m, n = ny - 2, nx - 2
    east, west, sides, wall = _masks(m, n)
    last = np.zeros((ny, nx))
    last[-1] = 1.0
    # As whole arrays, the coefficients have gradients that are added up elementwise in the loops.
    coefficients = dy**2 / (2 * (dx**2 + dy**2)), (dx / dy) ** 2, nu * dt / dx**2, nu * dt / dy**2
    weight, ratio, nu_x, nu_y = (jnp.broadcast_to(c, (m, n)) for c in coefficients)
    flat_weight = weight.ravel()

    def sweep(p, source):
        wide = jnp.pad(p, n)
        along_y = wide[: m * n] + wide[2 * n :] + wall * p
        along_x = west * wide[n - 1 : -n - 1] + east * wide[n + 1 : m * n + n + 1] + sides * p
        return 0.5 * along_y + flat_weight * (along_x - along_y) - source

    def relax(p, source):
        _, w, e, s, n_ = _neighbours(p)
        first = 0.5 * (s + n_) + weight * (w + e - (s + n_)) - source
        flat = source.ravel()
        p, _ = lax.scan(lambda p, _: (sweep(p, flat), None), first.ravel(), length=nit - 1)
        return jnp.pad(p.reshape(m, n), 1, mode="edge") * (1.0 - last)

    def advance(a, u, v):
        inner, w, e, s, n_ = _neighbours(a)
        viscous = nu_x * (w - 2.0 * inner + e) + nu_y * (s - 2.0 * inner + n_)
        return inner - u * (inner - w) - v * (inner - s) + viscous

    def step(state, _):
        u, v, p = state
        inner_u, uw, ue, us, un = _neighbours(u)
        inner_v, vw, ve, vs, vn = _neighbours(v)
        ux, vy = ue - uw, vn - vs
        source = 0.125 * weight * (2.0 * (ux + vy) - ux * ux - vy * vy - 2.0 * (un - us) * (ve - vw))
        p = relax(p, source)
        _, w, e, s, n_ = _neighbours(p)
        new_u = advance(u, inner_u, inner_v) - (e - w)
        new_v = advance(v, inner_u, inner_v) - ratio * (n_ - s)
        return (jnp.pad(new_u, 1) + dt / dx * last, jnp.pad(new_v, 1), p), None

    start = u * (dt / dx), v * (dt / dy), p * (dt**2 / (2 * rho * dx**2))
    (u, _, _), _ = lax.scan(step, start, length=nt)
    return u * (dx / dt)
