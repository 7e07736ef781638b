"""The price of a call on the arithmetic average of a share's price, from simulated paths with given random numbers."""

import numpy as np


def initialize(paths, steps, rng):
    return {
        "Z": rng.normal(size=(paths, steps)),
        "spot": 100.0,
        "strike": 98.0,
        "rate": 0.03,
        "volatility": 0.25,
        "maturity": 1.5,
    }


def asian_option(Z, spot, strike, rate, volatility, maturity):
    paths, steps = Z.shape
    dt = maturity / steps
    a = (rate - 0.5 * volatility**2) * dt
    b = volatility * np.sqrt(dt)

    S = np.full(paths, spot)
    total = np.zeros(paths)
    for k in range(steps):
        S = S * np.exp(a + b * Z[:, k])
        total += S

    payoff = np.maximum(total / steps - strike, 0.0)
    return np.exp(-rate * maturity) * np.mean(payoff)
