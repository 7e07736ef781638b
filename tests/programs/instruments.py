"""A portfolio of financial instruments: a class hierarchy, discount curves by interpolation, and simulated payoffs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np


@dataclass
class Curve:
    times: np.ndarray
    rates: np.ndarray

    def discount(self, t):
        return np.exp(-np.interp(t, self.times, self.rates) * t)

    def forward(self, start, end):
        return (self.discount(start) / self.discount(end) - 1.0) / (end - start)


@dataclass
class Market:
    curve: Curve
    spot: float
    volatility: float
    dividend: float = 0.0
    normals: np.ndarray = None

    def paths(self, times):
        """Prices of a share along simulated paths, a row for each time."""
        price = np.full(self.normals.shape[1], self.spot)
        before, rows = 0.0, []
        for k, time in enumerate(times):
            dt = time - before
            rate = self.curve.forward(before, time)
            drift = (rate - self.dividend - 0.5 * self.volatility**2) * dt
            price = price * np.exp(drift + self.volatility * np.sqrt(dt) * self.normals[k])
            rows.append(price)
            before = time
        return np.array(rows)


class Instrument(ABC):
    def __init__(self, notional):
        self.notional = notional

    @abstractmethod
    def unit_value(self, market): ...

    def value(self, market):
        return self.notional * self.unit_value(market)


class Bond(Instrument):
    def __init__(self, notional, coupon, times):
        super().__init__(notional)
        self.coupon, self.times = coupon, times

    def unit_value(self, market):
        flows = sum(self.coupon * market.curve.discount(t) for t in self.times)
        return flows + market.curve.discount(self.times[-1])


class Swap(Bond):
    def unit_value(self, market):
        fixed = super().unit_value(market)
        pairs = zip((0.0, *self.times[:-1]), self.times)
        floating = sum(market.curve.forward(a, b) * (b - a) * market.curve.discount(b) for a, b in pairs)
        return floating + market.curve.discount(self.times[-1]) - fixed


class Option(Instrument):
    sign = 1.0

    def __init__(self, notional, strike, times):
        super().__init__(notional)
        self.strike, self.times = strike, times

    def payoff(self, paths):
        return np.maximum(self.sign * (paths[-1] - self.strike), 0.0)

    def unit_value(self, market):
        return market.curve.discount(self.times[-1]) * np.mean(self.payoff(market.paths(self.times)))


class Asian(Option):
    def payoff(self, paths):
        return np.maximum(self.sign * (np.mean(paths, axis=0) - self.strike), 0.0)


class Barrier(Option):
    sign = -1.0

    def payoff(self, paths):
        alive = 1.0 / (1.0 + np.exp(0.5 * (np.max(paths, axis=0) - 1.4 * self.strike)))
        return super().payoff(paths) * alive


def program(market, holdings, strikes):
    times = (0.5, 1.0, 1.5, 2.25)
    book = [
        Bond(holdings["bond"], 0.03, times),
        Swap(holdings["swap"], 0.02, times[:3]),
        Asian(holdings["asian"], strikes[0], times),
        Barrier(holdings["barrier"], strikes[1], times),
        Option(holdings["call"], strikes[2], times[:2]),
    ]
    values = [instrument.value(market) for instrument in book]
    hedge = sum(abs(v) for v in values if not isinstance(v, str))
    return sum(values) + 0.01 * np.sqrt(np.sum(np.array(values) ** 2)) + 1e-3 * hedge


def arguments(rng):
    curve = Curve(np.array([0.1, 0.7, 1.3, 3.1]), np.array([0.01, 0.015, 0.02, 0.022]))
    market = Market(curve, 100.0, 0.3, 0.01, rng.standard_normal((4, 60)))
    return market, {"bond": 2.0, "swap": 5.0, "asian": 1.0, "barrier": 0.5, "call": -0.7}, [98.0, 103.0, 101.0]
