"""The price of an American put, in JAX, to time gradients of.

The expert form scans over blocks of levels, two at a time, each block with arrays as long as its first level needs.
"""

import itertools

import jax.numpy as jnp
from jax import lax

BLOCKS = 4


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
    """Blocks of levels, from the last to the first; every second level has the same prices, which are made once."""
    dt = maturity / steps
    move = volatility * jnp.sqrt(dt)
    growth = jnp.exp(rate * dt)
    q = (growth - jnp.exp(-move)) / (jnp.exp(move) - jnp.exp(-move))
    rise, fall = q / growth, (1.0 - q) / growth

    # The gains at a level are every other one of these; more are read beyond the end, but not used.
    gains = strike - spot * jnp.exp(move * jnp.arange(-steps, steps + 1))
    beyond = jnp.zeros(steps)
    even, odd = jnp.concatenate([gains[0::2], beyond]), jnp.concatenate([gains[1::2], beyond])

    def level(v, gains):
        return jnp.maximum(rise * v[1:] + fall * v[:-1], gains)

    def two_levels(v, start):
        v = level(v, lax.dynamic_slice_in_dim(odd, start, v.size - 1))
        v = level(v, lax.dynamic_slice_in_dim(even, start + 1, v.size - 1))
        return jnp.concatenate([v, jnp.zeros(2)]), None

    pairs = steps // 2
    blocks = min(BLOCKS, pairs)
    ends = [pairs * block // blocks for block in range(blocks + 1)]
    v = jnp.maximum(even[: steps + 1], 0.0)
    for start, end in itertools.pairwise(ends):
        v, _ = lax.scan(two_levels, v[: steps + 1 - 2 * start], jnp.arange(start, end))
    if steps % 2:
        v = level(v[:2], odd[pairs : pairs + 1])
    return v[0]
