"""The price of an American put, in JAX, to time gradients of.

The expert form scans over blocks of levels, each with arrays only as long as its first level needs.
"""

import jax.numpy as jnp
from jax import lax

BLOCKS = 16


def port(spot, strike, rate, volatility, maturity, steps):
    """The program, statement by statement; what it leaves as it is in a level is chosen by position."""
    dt = maturity / steps
    up = jnp.exp(volatility * jnp.sqrt(dt))
    down = 1.0 / up
    discount = jnp.exp(-rate * dt)
    q = (jnp.exp(rate * dt) - down) / (up - down)
    place = jnp.arange(steps + 1)
    prices = spot * up ** (2.0 * place - steps)
    v = jnp.maximum(strike - prices, 0.0)

    def level(n, state):
        prices, v = state
        inside = place < steps - n
        prices = jnp.where(inside, prices * up, prices)
        above = jnp.concatenate([v[1:], v[-1:]])
        held = jnp.maximum(discount * (q * above + (1.0 - q) * v), strike - prices)
        return prices, jnp.where(inside, held, v)

    return lax.fori_loop(0, steps, level, (prices, v))[1][0]


def expert(spot, strike, rate, volatility, maturity, steps):
    """Blocks of levels, from the last to the first, and exercise values from two levels of prices only."""
    dt = maturity / steps
    move = volatility * jnp.sqrt(dt)
    growth = jnp.exp(rate * dt)
    q = (growth - jnp.exp(-move)) / (jnp.exp(move) - jnp.exp(-move))
    rise, fall = q / growth, (1.0 - q) / growth

    # The prices at a level are every other one of these; the middle one is the spot.
    gains = strike - spot * jnp.exp(move * jnp.arange(-steps, steps + 1))
    even, odd = gains[0::2], gains[1::2]
    v = jnp.maximum(even, 0.0)

    # Value i of level k is for the price i + (steps - k) // 2 of the even or odd ones.
    def level(v, exercise):
        return jnp.maximum(rise * v[1:] + fall * v[:-1], exercise)

    def two_levels(length):
        def run(state, start):
            # Longer than needed by what the block goes down; what is beyond is not used.
            v = state
            first = lax.dynamic_slice_in_dim(padded_odd, start, length - 1)
            second = lax.dynamic_slice_in_dim(padded_even, start + 1, length - 2)
            v = level(level(v, first), second)
            return jnp.concatenate([v, jnp.zeros(2)]), None

        return run

    padded_even = jnp.concatenate([even, jnp.zeros(2)])
    padded_odd = jnp.concatenate([odd, jnp.zeros(2)])
    pairs, done = steps // 2, 0
    for block in range(min(BLOCKS, pairs)):
        end = pairs * (block + 1) // min(BLOCKS, pairs)
        length = steps + 1 - 2 * done
        v, _ = lax.scan(two_levels(length), v[:length], jnp.arange(done, end))
        done = end
    if steps % 2:
        v = level(v[:2], odd[done : done + 1])
    return v[0]
