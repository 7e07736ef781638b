"""Toeplitz solve in JAX, to time gradients of.

The expert form carries the polynomial and its reverse, so that a step shifts by one instead of flipping a part of
either; it runs in segments of growing length, and recomputes steps instead of storing them.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import toeplitz


def port(r):
    """The program, statement by statement: one loop, with masks for what is known so far."""
    N = r.shape[0]
    index = jnp.arange(N)
    flipped_r = jnp.flip(r)

    def step(k, state):
        y, reflection, error = state
        known = index < k
        error = error * (1.0 - reflection * reflection)
        reflection = -(jnp.dot(jnp.where(known, jnp.roll(flipped_r, k), 0.0), y) + r[k]) / error
        y = jnp.where(known, y + reflection * jnp.roll(jnp.flip(y), k), y)
        return y.at[k].set(reflection), reflection, error

    y = jnp.zeros_like(r).at[0].set(-r[0])
    return lax.fori_loop(1, N, step, (y, -r[0], 1.0))[0]


def segment(state, lags, steps, chunk):
    """Run ``steps`` steps of the recursion on polynomials of constant length, storing one state in ``chunk``."""

    @jax.checkpoint
    def step(state, _):
        forward, backward, error = state
        reflection = -jnp.dot(backward, lags) / error
        shifted = jnp.pad(backward[:-1], (1, 0))
        error = error * (1.0 - reflection * reflection)
        return (forward + reflection * shifted, shifted + reflection * forward, error), None

    @jax.checkpoint
    def steps_of_chunk(state, _):
        return lax.scan(step, state, None, length=chunk)

    if chunk > 1:
        state, _ = lax.scan(steps_of_chunk, state, None, length=steps // chunk)
        steps %= chunk
    return lax.scan(step, state, None, length=steps)[0]


def expert(r):
    """The same recursion on the polynomial 1, y[0], y[1], ... and its reverse."""
    N = r.shape[0]
    lags = jnp.pad(r, (0, 1))
    length = -(-N // 8)
    forward, backward, error = jnp.ones(1), jnp.ones(1), jnp.ones(())
    for start in range(0, N, length):
        stop = min(start + length, N)
        grow = (0, stop + 1 - forward.size)
        state = (jnp.pad(forward, grow), jnp.pad(backward, grow), error)
        # What is stored of few steps fits in the cache.
        chunk = 50 if N > 2000 else 1
        forward, backward, error = segment(state, lags[: stop + 1], stop - start, chunk)
    return forward[1:]


def library(r):
    """One dense solve."""
    return jnp.linalg.solve(toeplitz(jnp.pad(r[:-1], (1, 0), constant_values=1.0)), -r)
