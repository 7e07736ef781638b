"""The price of an American put in JAX: level by level, each with prices of its own."""

import jax.numpy as jnp
import numpy as np


def reference(spot, strike, rate, volatility, maturity, steps):
    dt = maturity / steps
    move = volatility * jnp.sqrt(dt)
    growth = jnp.exp(rate * dt)
    q = (growth - jnp.exp(-move)) / (2 * jnp.sinh(move))
    value = jnp.zeros(steps + 2)
    for level in range(steps, -1, -1):
        exercise = strike - spot * jnp.exp(move * np.arange(-level, level + 1, 2))
        held = (q * value[1:] + (1 - q) * value[:-1]) / growth
        value = jnp.where(held > exercise, held, exercise)
        if level == steps:
            value = jnp.where(exercise > 0, exercise, 0.0)
    return {"return": value[0]}
