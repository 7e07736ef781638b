"""The price of an Asian option, in JAX, to time gradients of.

The expert form has steps first, and scans over them with one number for each path as carry.
"""

import jax.numpy as jnp
from jax import lax


def port(Z, spot, strike, rate, volatility, maturity):
    """The program, statement by statement."""
    paths, steps = Z.shape
    dt = maturity / steps
    a = (rate - 0.5 * volatility**2) * dt
    b = volatility * jnp.sqrt(dt)

    def step(k, state):
        S, total = state
        S = S * jnp.exp(a + b * Z[:, k])
        return S, total + S

    _, total = lax.fori_loop(0, steps, step, (jnp.full(paths, spot), jnp.zeros(paths)))
    payoff = jnp.maximum(total / steps - strike, 0.0)
    return jnp.exp(-rate * maturity) * jnp.mean(payoff)


def expert(Z, spot, strike, rate, volatility, maturity):
    """A scan from the last step back: what a step leaves is its growth times one more than what follows."""
    paths, steps = Z.shape
    dt = maturity / steps
    a = (rate - 0.5 * volatility**2) * dt
    b = volatility * jnp.sqrt(dt)

    def step(later, z):
        return jnp.exp(a + b * z) * (1.0 + later), None

    total, _ = lax.scan(step, jnp.zeros(paths), Z.T, reverse=True)
    payoff = jnp.maximum(spot / steps * total - strike, 0.0)
    return jnp.exp(-rate * maturity) * jnp.mean(payoff)
