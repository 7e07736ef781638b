"""JAX forms of channel_flow. The expert form scales u, v and p such that most coefficients vanish, keeps the periodic
columns as a margin, and runs checkpointed chunks of steps, each of which is skipped once the flow has settled."""

import jax
import jax.numpy as jnp
from jax import lax

STEPS = 2000  # More than any preset takes, as reverse mode needs a bound; the result is NaN where it is too few.
CHUNK = 40


def _columns(a):
    """The rows of ``a`` between the walls, and their neighbours: west, east, south, north."""
    west, east = jnp.roll(a, 1, axis=1), jnp.roll(a, -1, axis=1)
    return a[1:-1], west[1:-1], east[1:-1], a[:-2], a[2:]


def port(nit, u, v, dt, dx, dy, p, rho, nu, F):
    """The program's loops, with rolls for the periodic columns and a scan of bounded length for the while loop."""

    def pressure_source(u, v):
        _, uw, ue, us, un = _columns(u)
        _, vw, ve, vs, vn = _columns(v)
        b = rho * (
            ((ue - uw) / (2 * dx) + (vn - vs) / (2 * dy)) * (1 / dt)
            - ((ue - uw) / (2 * dx)) ** 2
            - ((vn - vs) / (2 * dy)) ** 2
            - 2 * ((un - us) / (2 * dy)) * ((ve - vw) / (2 * dx))
        )
        return jnp.zeros_like(u).at[1:-1].set(b)

    def relax_pressure(p, b):
        def sweep(_, old):
            _, west, east, south, north = _columns(old)
            new = dy**2 * (east + west) + dx**2 * (north + south) - dx**2 * dy**2 * b[1:-1]
            p = old.at[1:-1].set(new / (2 * (dx**2 + dy**2)))
            p = p.at[-1, :].set(p[-2, :])
            return p.at[0, :].set(p[1, :])

        return lax.fori_loop(0, nit, sweep, p)

    def advance(a, u, v, force):
        inner, west, east, south, north = _columns(a)
        new = (
            inner
            - dt / dx * u[1:-1] * (inner - west)
            - dt / dy * v[1:-1] * (inner - south)
            + nu * dt / dx**2 * (west - 2 * inner + east)
            + nu * dt / dy**2 * (south - 2 * inner + north)
            + force
        )
        return a.at[1:-1].set(new).at[0, :].set(0).at[-1, :].set(0)

    def step(state):
        u, v, p, _ = state
        p = relax_pressure(p, pressure_source(u, v))
        _, west, east, south, north = _columns(p)
        new_u = advance(u, u, v, F * dt - dt / (2 * rho * dx) * (east - west))
        new_v = advance(v, u, v, -dt / (2 * rho * dy) * (north - south))
        change = (jnp.sum(new_u) - jnp.sum(u)) / jnp.sum(new_u)
        return new_u, new_v, p, change

    def step_unless_done(_, state):
        return lax.cond(state[3] > 0.001, step, lambda state: state, state)

    state = lax.fori_loop(0, STEPS, step_unless_done, (u, v, p, jnp.ones(())))
    return jnp.where(state[3] > 0.001, jnp.nan, state[0])


def _neighbours(a):
    """The interior of ``a``, which has its margins, and its neighbours: west, east, south, north."""
    return a[1:-1, 1:-1], a[1:-1, :-2], a[1:-1, 2:], a[:-2, 1:-1], a[2:, 1:-1]


def _wrap(a):
    """``a`` with a column more on either side."""
    return jnp.concatenate([a[:, -1:], a, a[:, :1]], axis=1)


def expert(nit, u, v, dt, dx, dy, p, rho, nu, F):
    """A scan over chunks of steps, each step with a scan over the sweeps."""
    shape = (u.shape[0] - 2, u.shape[1])
    # As whole arrays, the coefficients have gradients that are added up elementwise in the loops.
    coefficients = dy**2 / (2 * (dx**2 + dy**2)), (dx / dy) ** 2, nu * dt / dx**2, nu * dt / dy**2, F * dt**2 / dx
    weight, ratio, nu_x, nu_y, force = (jnp.broadcast_to(c, shape) for c in coefficients)

    def advance(a, u, v):
        inner, w, e, s, n = _neighbours(a)
        viscous = nu_x * (w - 2.0 * inner + e) + nu_y * (s - 2.0 * inner + n)
        return inner - u * (inner - w) - v * (inner - s) + viscous

    def step(state):
        u, v, p, _ = state
        inner_u, uw, ue, us, un = _neighbours(u)
        inner_v, vw, ve, vs, vn = _neighbours(v)
        ux, vy = ue - uw, vn - vs
        source = 0.125 * weight * (2.0 * (ux + vy) - ux * ux - vy * vy - 2.0 * (un - us) * (ve - vw))

        def sweep(p, _):
            _, w, e, s, n = _neighbours(p)
            new = 0.5 * (s + n) + weight * (w + e - (s + n)) - source
            return _wrap(jnp.concatenate([new[:1], new, new[-1:]])), None

        p, _ = lax.scan(sweep, p, length=nit)
        _, w, e, s, n = _neighbours(p)
        new_u = advance(u, inner_u, inner_v) - (e - w) + force
        new_v = advance(v, inner_u, inner_v) - ratio * (n - s)
        total = jnp.sum(new_u)
        done = (total - jnp.sum(u[:, 1:-1])) / total <= 0.001
        new_u, new_v = (_wrap(jnp.pad(a, ((1, 1), (0, 0)))) for a in (new_u, new_v))
        return new_u, new_v, p, done

    def step_unless_done(state, _):
        return jax.tree.map(lambda old, new: jnp.where(state[3], old, new), state, step(state)), None

    @jax.checkpoint
    def chunk(state):
        return lax.scan(step_unless_done, state, length=CHUNK)[0]

    def chunk_unless_done(state, _):
        return lax.cond(state[3], lambda state: state, chunk, state), None

    scaled = u * (dt / dx), v * (dt / dy), p * (dt**2 / (2 * rho * dx**2))
    state = (*map(_wrap, scaled), jnp.array(False))
    (u, _, _, done), _ = lax.scan(chunk_unless_done, state, length=-(-STEPS // CHUNK))
    return jnp.where(done, u[:, 1:-1] * (dx / dt), jnp.nan)
