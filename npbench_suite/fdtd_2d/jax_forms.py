"""Finite-difference time-domain method in JAX, to time gradients of.

The expert form carries only the parts of the fields that change and matter to hz, and joins the constant borders and
the source to them.
"""

import jax.numpy as jnp
from jax import lax


def port(TMAX, ex, ey, hz, _fict_):
    """The program, statement by statement: one loop."""

    def step(t, fields):
        ex, ey, hz = fields
        ey = ey.at[0, :].set(_fict_[t])
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return ex, ey, hz

    return lax.fori_loop(0, TMAX, step, (ex, ey, hz))[2]


def expert(TMAX, ex, ey, hz, _fict_):
    """A scan over the source."""
    hz_right, hz_below, ex_left = hz[:-1, -1:], hz[-1:, :-1], ex[:-1, :1]

    def step(fields, source):
        ex, ey, hz = fields
        ex = ex - 0.5 * (jnp.concatenate([hz[:, 1:], hz_right], axis=1) - hz)
        ey = ey - 0.5 * (jnp.concatenate([hz[1:], hz_below]) - hz)
        left = jnp.concatenate([ex_left, ex[:, :-1]], axis=1)
        above = jnp.concatenate([jnp.full((1, ey.shape[1]), source), ey[:-1]])
        return (ex, ey, hz - 0.7 * (ex - left + ey - above)), None

    (_, _, inner), _ = lax.scan(step, (ex[:-1, 1:], ey[1:, :-1], hz[:-1, :-1]), _fict_)
    return jnp.block([[inner, hz_right], [hz_below, hz[-1:, -1:]]])
