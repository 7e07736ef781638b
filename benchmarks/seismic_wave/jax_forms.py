"""Misfit of seismograms in JAX, to time gradients of.

The expert form carries the two fields through a scan that stacks what is recorded, with the factors of the stencil
multiplied into one field ahead.
"""

import jax.numpy as jnp
from jax import lax


def port(velocity, wavelet, source_z, source_x, receiver_z, receiver_x, observed, sponge, dt, dx):
    """The program, statement by statement."""
    nt = wavelet.shape[0]
    wavelet = jnp.asarray(wavelet)
    field = jnp.zeros_like(velocity)
    factor = (velocity * dt) ** 2

    def step(t, state):
        before, now, laplacian, recorded = state
        laplacian = laplacian.at[2:-2, 2:-2].set(
            (
                -5.0 * now[2:-2, 2:-2]
                + 4.0 / 3.0 * (now[3:-1, 2:-2] + now[1:-3, 2:-2] + now[2:-2, 3:-1] + now[2:-2, 1:-3])
                - 1.0 / 12.0 * (now[4:, 2:-2] + now[:-4, 2:-2] + now[2:-2, 4:] + now[2:-2, :-4])
            )
            / dx**2
        )
        after = 2.0 * now - before + factor * laplacian
        after = after.at[source_z, source_x].add(dt**2 * wavelet[t])
        before = now * sponge
        now = after * sponge
        return before, now, laplacian, recorded.at[t].set(now[receiver_z, receiver_x])

    recorded = jnp.zeros((nt, receiver_z.shape[0]))
    recorded = lax.fori_loop(0, nt, step, (field, field, field, recorded))[-1]
    return 0.5 * jnp.sum((recorded - observed) ** 2)


def expert(velocity, wavelet, source_z, source_x, receiver_z, receiver_x, observed, sponge, dt, dx):
    """A scan over time with the scaled inner velocities."""
    sponge = jnp.asarray(sponge)
    factor = (velocity[2:-2, 2:-2] * (dt / dx)) ** 2

    def step(state, pulse):
        before, now = state
        z, x = now[:, 2:-2], now[2:-2, :]
        stencil = (
            (4.0 / 3.0) * (z[3:-1] + z[1:-3] + x[:, 3:-1] + x[:, 1:-3])
            - (1.0 / 12.0) * (z[4:] + z[:-4] + x[:, 4:] + x[:, :-4])
            - 5.0 * now[2:-2, 2:-2]
        )
        after = 2.0 * now - before + jnp.pad(factor * stencil, 2)
        after = after.at[source_z, source_x].add(pulse) * sponge
        return (now * sponge, after), after[receiver_z, receiver_x]

    field = jnp.zeros_like(velocity)
    _, recorded = lax.scan(step, (field, field), dt**2 * wavelet)
    misfit = recorded - observed
    return 0.5 * jnp.sum(misfit * misfit)
