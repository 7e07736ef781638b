"""Flow in a cavity in JAX, on padded interiors."""

import jax.numpy as jnp


def interior(a):
    """The interior of ``a`` and its neighbours: west, east, south, north."""
    return a[1:-1, 1:-1], a[1:-1, :-2], a[1:-1, 2:], a[:-2, 1:-1], a[2:, 1:-1]


def reference(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    def advanced(a, u, v, gradient):
        inner, west, east, south, north = interior(a)
        return inner + dt * (
            -u[1:-1, 1:-1] * (inner - west) / dx
            - v[1:-1, 1:-1] * (inner - south) / dy
            - gradient / rho
            + nu * ((west - 2.0 * inner + east) / dx**2 + (south - 2.0 * inner + north) / dy**2)
        )

    for _ in range(nt):
        _, uw, ue, us, un = interior(u)
        _, vw, ve, vs, vn = interior(v)
        ux, uy = (ue - uw) / (2.0 * dx), (un - us) / (2.0 * dy)
        vx, vy = (ve - vw) / (2.0 * dx), (vn - vs) / (2.0 * dy)
        b = rho * ((ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2)

        for _ in range(nit):
            _, west, east, south, north = interior(p)
            weight = 0.5 / (1.0 / dx**2 + 1.0 / dy**2)
            p = jnp.pad(weight * ((west + east) / dx**2 + (south + north) / dy**2 - b), 1, mode="edge")
            p = p.at[-1].set(0.0)

        _, west, east, south, north = interior(p)
        new_u = jnp.pad(advanced(u, u, v, (east - west) / (2.0 * dx)), 1).at[-1].set(1.0)
        new_v = jnp.pad(advanced(v, u, v, (north - south) / (2.0 * dy)), 1)
        u, v = new_u, new_v
    return {"u": u, "v": v, "p": p}
