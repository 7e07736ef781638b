"""The price of an American put, which may be exercised at any time, by a tree of up and down moves."""

import numpy as np


def initialize(steps, rng):
    # The ratio of strike and spot is not one that moves up and down could make.
    return {
        "spot": 100.0 + rng.uniform(0.1, 0.2),
        "strike": 103.0 + rng.uniform(0.1, 0.2),
        "rate": 0.04,
        "volatility": 0.3,
        "maturity": 1.0,
        "steps": steps,
    }


def binomial_option(spot, strike, rate, volatility, maturity, steps):
    dt = maturity / steps
    up = np.exp(volatility * np.sqrt(dt))
    down = 1.0 / up
    discount = np.exp(-rate * dt)
    q = (np.exp(rate * dt) - down) / (up - down)

    # From the lowest price to the highest.
    prices = spot * up ** (2.0 * np.arange(steps + 1) - steps)
    v = np.maximum(strike - prices, 0.0)
    for k in range(steps, 0, -1):
        prices[:k] *= up
        v[:k] = np.maximum(discount * (q * v[1 : k + 1] + (1.0 - q) * v[:k]), strike - prices[:k])
    return v[0]
