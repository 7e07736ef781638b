"""Special functions of each element by itself, by elementary ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.functions.special import sf
from sdfgad.parse.registry import definitions

_special = definitions("scipy.special")


@_special("ndtr")
def ndtr(x: Any) -> Any:
    return 0.5 * sf.erfc(-math.sqrt(0.5) * _floating(x))


@_special("ndtri")
def ndtri(p: Any) -> Any:
    """The quantile function of the normal distribution."""
    return -math.sqrt(2) * sf.erfcinv(2 * _floating(p))


@_special("entr")
def entr(x: Any) -> Any:
    """The derivative at 0 is infinite."""
    return np.where(x < 0, -np.inf, -sf.xlogy(x, x))


@_special("rel_entr")
def rel_entr(x: Any, y: Any) -> Any:
    """``x log(x / y)``; 0 where `x` is, and infinite outside of the domain."""
    inside, is_zero = np.logical_and(x > 0, y > 0), np.logical_and(x == 0, y >= 0)
    value = x * np.log(_quotient(inside, x, y))
    return np.where(is_zero, 0, np.where(inside, value, np.inf))


@_special("kl_div")
def kl_div(x: Any, y: Any) -> Any:
    inside, is_zero = np.logical_and(x > 0, y > 0), np.logical_and(x == 0, y >= 0)
    value = x * np.log(_quotient(inside, x, y)) - x + y
    return np.where(is_zero, y, np.where(inside, value, np.inf))


def _quotient(inside: Any, x: Any, y: Any) -> Any:
    """``x / y`` where it is used: elsewhere it may be no number, and so may its derivative."""
    return np.where(inside, x, 1) / np.where(inside, y, 1)


@_special("huber")
def huber(delta: Any, r: Any) -> Any:
    size = np.abs(r)
    inside = np.where(size <= delta, 0.5 * np.square(_floating(r)), delta * (size - 0.5 * delta))
    return np.where(delta < 0, np.inf, inside)


@_special("pseudo_huber")
def pseudo_huber(delta: Any, r: Any) -> Any:
    """``delta^2 (sqrt(1 + (r / delta)^2) - 1)``, without cancellation and overflow."""
    total = np.hypot(delta, r) + delta
    return np.where(delta < 0, np.inf, delta * r * _quotient(total > 0, r, total))


@_special("exprel")
def exprel(x: Any) -> Any:
    """``(exp(x) - 1) / x``; near 0, where that has a derivative with cancellation, by its series."""
    x = _floating(x)
    is_small = np.abs(x) < 1e-3
    safe = np.where(is_small, 1, x)
    return np.where(is_small, 1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5))), np.expm1(safe) / safe)


@_special("exp10")
def exp10(x: Any) -> Any:
    return np.power(10.0, x)


# --- gamma functions


@_special("loggamma")
def loggamma(z: Any) -> Any:
    if np.iscomplexobj(z):
        raise ValueError("loggamma of complex numbers is not supported: pass real numbers")
    return np.where(z >= 0, sf.gammaln(z), np.nan)


@_special("rgamma")
def rgamma(z: Any) -> Any:
    return 1 / sf.gamma(_floating(z))


@_special("multigammaln")
def multigammaln(a: Any, d: Any) -> Any:
    """The logarithm of the multivariate gamma function of `d` dimensions."""
    parts = [sf.gammaln(array_like(a).astype(np.float64) - 0.5 * k) for k in range(d)]
    return 0.25 * d * (d - 1) * math.log(math.pi) + np.sum(np.stack(parts), axis=0)


@_special("factorial")
def factorial(n: Any, exact: Any = False) -> Any:
    if exact:
        raise ValueError(
            "an exact factorial of numbers that are known only at run time is not supported: leave exact out"
        )
    n = array_like(n).astype(np.float64)
    return np.where(n < 0, 0.0, sf.gamma(n + 1.0))


@_special("binom")
def binom(n: Any, k: Any) -> Any:
    """``1 / ((n + 1) B(n - k + 1, k + 1))``."""
    n, k = (_floating(n), _floating(k))
    return 1 / ((n + 1) * sf.beta(n - k + 1, k + 1))


@_special("comb")
def comb(N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Any:
    if exact or repetition:
        raise ValueError("comb with exact or repetition is not supported: write comb(n, k), or comb(n + k - 1, k)")
    n, k = (_floating(N), _floating(k))
    is_inside = np.logical_and(k >= 0, k <= n)
    return np.where(is_inside, binom(n, np.where(is_inside, k, 0)), 0.0)


@_special("poch")
def poch(z: Any, m: Any) -> Any:
    """``Gamma(z + m) / Gamma(z)``: for a small whole number m a product, which has no poles."""
    z = _floating(z)
    if isinstance(m, (int, float)) and 0 <= m <= 20 and m == int(m):
        value = np.ones_like(z)
        for k in range(fixed_int(int(m))):
            value = value * (z + k)
        return value
    return gammasgn(z) * gammasgn(z + m) * np.exp(sf.gammaln(z + m) - sf.gammaln(z))


@_special("gammasgn")
def gammasgn(x: Any) -> Any:
    """The sign of the gamma function; NaN at its poles."""
    x = _floating(x)
    whole = np.floor(x)
    below = np.where(whole == x, np.where(x == 0, np.copysign(1.0, x), np.nan), 1 - 2 * np.remainder(whole, 2))
    return np.where(x > 0, 1.0, below)


def _floating(x: Any) -> Any:
    x = array_like(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)
