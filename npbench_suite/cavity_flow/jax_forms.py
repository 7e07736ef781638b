"""JAX forms of cavity_flow."""

import jax.numpy as jnp
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
