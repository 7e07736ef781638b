"""Flow in a periodic channel in JAX: a scan over more time steps than are needed, which stops changing."""

import jax
import jax.numpy as jnp

STEPS = 2000  # More than any preset takes; all results are NaN where it is too few.


def neighbours(a):
    """The rows of ``a`` between the walls and their neighbours: west, east, south, north."""
    west, east = jnp.roll(a, 1, axis=1), jnp.roll(a, -1, axis=1)
    return a[1:-1], west[1:-1], east[1:-1], a[:-2], a[2:]


def reference(nit, u, v, dt, dx, dy, p, rho, nu, F):
    def advanced(a, u, v, force):
        inner, west, east, south, north = neighbours(a)
        new = inner + dt * (
            -u[1:-1] * (inner - west) / dx
            - v[1:-1] * (inner - south) / dy
            + nu * ((west - 2.0 * inner + east) / dx**2 + (south - 2.0 * inner + north) / dy**2)
            + force
        )
        return jnp.pad(new, ((1, 1), (0, 0)))

    def step(state):
        u, v, p, _ = state
        _, uw, ue, us, un = neighbours(u)
        _, vw, ve, vs, vn = neighbours(v)
        ux, uy = (ue - uw) / (2.0 * dx), (un - us) / (2.0 * dy)
        vx, vy = (ve - vw) / (2.0 * dx), (vn - vs) / (2.0 * dy)
        b = rho * ((ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2)

        def sweep(_, p):
            _, west, east, south, north = neighbours(p)
            weight = 0.5 / (1.0 / dx**2 + 1.0 / dy**2)
            new = weight * ((west + east) / dx**2 + (south + north) / dy**2 - b)
            return jnp.pad(new, ((1, 1), (0, 0)), mode="edge")

        p = jax.lax.fori_loop(0, nit, sweep, p)
        _, west, east, south, north = neighbours(p)
        new_u = advanced(u, u, v, F - (east - west) / (2.0 * dx) / rho)
        new_v = advanced(v, u, v, -(north - south) / (2.0 * dy) / rho)
        return new_u, new_v, p, jnp.sum(u) >= 0.999 * jnp.sum(new_u)

    def step_unless_done(state, _):
        return jax.lax.cond(state[3], lambda state: state, step, state), None

    start = (jnp.asarray(u), jnp.asarray(v), jnp.asarray(p), False)
    (u, v, p, done), _ = jax.lax.scan(step_unless_done, start, length=STEPS)
    return {name: jnp.where(done, value, jnp.nan) for name, value in (("u", u), ("v", v), ("p", p))}
