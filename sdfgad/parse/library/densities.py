"""Standard probability distributions, of location 0 and scale 1: densities, distribution functions and quantiles.

The densities are the definitions that scipy.stats documents; a distribution function is by a special function that has
no cancellation in that tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.parse.functions.special import sf

LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)
HALF_ROOT = math.sqrt(0.5)


def _on_line(*shapes: Any) -> Any:
    return -math.inf, math.inf


def _on_half_line(*shapes: Any) -> Any:
    return 0, math.inf


def _on_unit(*shapes: Any) -> Any:
    return 0, 1


@dataclass(frozen=True)
class Distribution:
    """A distribution's functions of a standardised argument and the shape parameters.

    Attributes:
        shapes: the names of the shape parameters, which must be positive unless there is `is_valid`.
        support: the ends of the support, from the shape parameters.
        log_cdf, log_sf: where the logarithm of the distribution function would underflow.
    """

    shapes: tuple[str, ...]
    log_density: Callable[..., Any]
    cdf: Callable[..., Any]
    sf: Callable[..., Any]
    support: Callable[..., Any] = _on_line
    log_cdf: Callable[..., Any] | None = None
    log_sf: Callable[..., Any] | None = None
    quantile: Callable[..., Any] | None = None
    is_valid: Callable[..., Any] | None = None
    is_discrete: bool = False


def log_over_zero(y: Any, value: Any) -> Any:
    """A log density that is minus infinity at 0, where its formula is not a number."""
    return np.where(y == 0, -np.inf, value)


def _t_log_density(y: Any, df: Any) -> Any:
    return -sf.betaln(0.5, 0.5 * df) - 0.5 * np.log(df) - 0.5 * (df + 1) * np.log1p(y * y / df)


def _chi2_log_density(y: Any, df: Any) -> Any:
    return sf.xlogy(0.5 * df - 1, y) - 0.5 * y - sf.gammaln(0.5 * df) - 0.5 * math.log(2) * df


def _lognorm_log_density(y: Any, s: Any) -> Any:
    return log_over_zero(y, -0.5 * np.square(np.log(y) / s) - np.log(s * y) - LOG_ROOT_2_PI)


def _beta_log_density(y: Any, a: Any, b: Any) -> Any:
    return sf.xlogy(a - 1, y) + sf.xlog1py(b - 1, -y) - sf.betaln(a, b)


def _invgamma_log_density(y: Any, a: Any) -> Any:
    return log_over_zero(y, -(a + 1) * np.log(y) - sf.gammaln(a) - 1 / y)


def _weibull_log_density(y: Any, c: Any) -> Any:
    return np.log(c) + sf.xlogy(c - 1, y) - np.power(y, c)


def _logistic_log_density(y: Any) -> Any:
    return -np.abs(y) - 2 * np.log1p(np.exp(-np.abs(y)))


def _laplace_cdf(y: Any) -> Any:
    return np.where(y > 0, 1 - 0.5 * np.exp(-y), 0.5 * np.exp(y))


def _laplace_quantile(q: Any) -> Any:
    return np.where(q > 0.5, -np.log(2 * (1 - q)), np.log(2 * q))


def _laplace_log_cdf(y: Any) -> Any:
    return np.where(y > 0, np.log1p(-0.5 * np.exp(-y)), y - math.log(2))


def _between(y: Any, a: Any) -> Any:
    """The probability of a normal variable between `a` and `y`, by the tails on the side where they are small."""
    upper = sf.erfc(HALF_ROOT * a) - sf.erfc(HALF_ROOT * y)
    return 0.5 * np.where(a > 0, upper, sf.erfc(-HALF_ROOT * y) - sf.erfc(-HALF_ROOT * a))


def _truncnorm_log_density(y: Any, a: Any, b: Any) -> Any:
    return -0.5 * np.square(y) - LOG_ROOT_2_PI - np.log(_between(b, a))


CONTINUOUS = {
    "norm": Distribution(
        (),
        lambda y: -0.5 * np.square(y) - LOG_ROOT_2_PI,
        lambda y: 0.5 * sf.erfc(-HALF_ROOT * y),
        lambda y: 0.5 * sf.erfc(HALF_ROOT * y),
        log_cdf=lambda y: sf.log_ndtr(y),
        log_sf=lambda y: sf.log_ndtr(-y),
        quantile=lambda q: -math.sqrt(2) * sf.erfcinv(2 * q),
    ),
    "t": Distribution(("df",), _t_log_density, lambda y, df: sf.stdtr(df, y), lambda y, df: sf.stdtr(df, -y)),
    "gamma": Distribution(
        ("a",),
        lambda y, a: sf.xlogy(a - 1, y) - y - sf.gammaln(a),
        lambda y, a: sf.gammainc(a, y),
        lambda y, a: sf.gammaincc(a, y),
        _on_half_line,
        quantile=lambda q, a: sf.gammaincinv(a, q),
    ),
    "beta": Distribution(
        ("a", "b"),
        _beta_log_density,
        lambda y, a, b: sf.betainc(a, b, y),
        lambda y, a, b: sf.betaincc(a, b, y),
        _on_unit,
        quantile=lambda q, a, b: sf.betaincinv(a, b, q),
    ),
    "expon": Distribution(
        (),
        lambda y: -y,
        lambda y: -np.expm1(-y),
        lambda y: np.exp(-y),
        _on_half_line,
        log_sf=lambda y: -y,
        quantile=lambda q: -np.log1p(-q),
    ),
    "uniform": Distribution((), lambda y: 0.0 * y, lambda y: y, lambda y: 1 - y, _on_unit, quantile=lambda q: q),
    "lognorm": Distribution(
        ("s",),
        _lognorm_log_density,
        lambda y, s: 0.5 * sf.erfc(-HALF_ROOT * np.log(y) / s),
        lambda y, s: 0.5 * sf.erfc(HALF_ROOT * np.log(y) / s),
        _on_half_line,
        log_cdf=lambda y, s: sf.log_ndtr(np.log(y) / s),
        log_sf=lambda y, s: sf.log_ndtr(-np.log(y) / s),
        quantile=lambda q, s: np.exp(-s * math.sqrt(2) * sf.erfcinv(2 * q)),
    ),
    # the derivative of the density at the peak is 0
    "laplace": Distribution(
        (),
        lambda y: -np.abs(y) - math.log(2),
        _laplace_cdf,
        lambda y: _laplace_cdf(-y),
        log_cdf=_laplace_log_cdf,
        log_sf=lambda y: _laplace_log_cdf(-y),
        quantile=_laplace_quantile,
    ),
    "cauchy": Distribution(
        (),
        lambda y: -np.log1p(np.square(y)) - math.log(math.pi),
        lambda y: np.arctan2(1, -y) / math.pi,
        lambda y: np.arctan2(1, y) / math.pi,
        quantile=lambda q: -1 / np.tan(math.pi * q),
    ),
    "chi2": Distribution(
        ("df",),
        _chi2_log_density,
        lambda y, df: sf.gammainc(0.5 * df, 0.5 * y),
        lambda y, df: sf.gammaincc(0.5 * df, 0.5 * y),
        _on_half_line,
        quantile=lambda q, df: 2 * sf.gammaincinv(0.5 * df, q),
    ),
    "logistic": Distribution(
        (),
        _logistic_log_density,
        lambda y: sf.expit(y),
        lambda y: sf.expit(-y),
        log_cdf=lambda y: sf.log_expit(y),
        log_sf=lambda y: sf.log_expit(-y),
        quantile=lambda q: sf.logit(q),
    ),
    "gumbel_r": Distribution(
        (),
        lambda y: -y - np.exp(-y),
        lambda y: np.exp(-np.exp(-y)),
        lambda y: -np.expm1(-np.exp(-y)),
        log_cdf=lambda y: -np.exp(-y),
        quantile=lambda q: -np.log(-np.log(q)),
    ),
    "halfnorm": Distribution(
        (),
        lambda y: -0.5 * np.square(y) - LOG_ROOT_2_PI + math.log(2),
        lambda y: sf.erf(HALF_ROOT * y),
        lambda y: sf.erfc(HALF_ROOT * y),
        _on_half_line,
        quantile=lambda q: math.sqrt(2) * sf.erfinv(q),
    ),
    "halfcauchy": Distribution(
        (),
        lambda y: -np.log1p(np.square(y)) + math.log(2 / math.pi),
        lambda y: np.arctan(y) * (2 / math.pi),
        lambda y: np.arctan2(1, y) * (2 / math.pi),
        _on_half_line,
        quantile=lambda q: np.tan(0.5 * math.pi * q),
    ),
    "halflogistic": Distribution(
        (),
        lambda y: math.log(2) - y - 2 * np.log1p(np.exp(-y)),
        lambda y: np.tanh(0.5 * y),
        lambda y: 2 * sf.expit(-y),
        _on_half_line,
        quantile=lambda q: 2 * np.arctanh(q),
    ),
    "invgamma": Distribution(
        ("a",),
        _invgamma_log_density,
        lambda y, a: sf.gammaincc(a, 1 / y),
        lambda y, a: sf.gammainc(a, 1 / y),
        _on_half_line,
        quantile=lambda q, a: 1 / sf.gammainccinv(a, q),
    ),
    "weibull_min": Distribution(
        ("c",),
        _weibull_log_density,
        lambda y, c: -np.expm1(-np.power(y, c)),
        lambda y, c: np.exp(-np.power(y, c)),
        _on_half_line,
        log_sf=lambda y, c: -np.power(y, c),
        quantile=lambda q, c: np.power(-np.log1p(-q), 1 / c),
    ),
    "pareto": Distribution(
        ("b",),
        lambda y, b: np.log(b) - (b + 1) * np.log(y),
        lambda y, b: 1 - np.power(y, -b),
        lambda y, b: np.power(y, -b),
        lambda b: (1, math.inf),
        log_sf=lambda y, b: -b * np.log(y),
        quantile=lambda q, b: np.power(1 - q, -1 / b),
    ),
    "truncnorm": Distribution(
        ("a", "b"),
        _truncnorm_log_density,
        lambda y, a, b: _between(y, a) / _between(b, a),
        lambda y, a, b: _between(b, y) / _between(b, a),
        lambda a, b: (a, b),
        is_valid=lambda a, b: a < b,
    ),
    "rayleigh": Distribution(
        (),
        lambda y: np.log(y) - 0.5 * np.square(y),
        lambda y: -np.expm1(-0.5 * np.square(y)),
        lambda y: np.exp(-0.5 * np.square(y)),
        _on_half_line,
        log_sf=lambda y: -0.5 * np.square(y),
        quantile=lambda q: np.sqrt(-2 * np.log1p(-q)),
    ),
}


def _counts(*shapes: Any) -> Any:
    return 0, math.inf


def _is_probability(p: Any) -> Any:
    return np.logical_and(p >= 0, p <= 1)


def _binom_log_mass(k: Any, n: Any, p: Any) -> Any:
    return sf.xlogy(k, p) + sf.xlog1py(n - k, -p) - np.log(n + 1) - sf.betaln(n - k + 1, k + 1)


def _nbinom_log_mass(k: Any, n: Any, p: Any) -> Any:
    return n * np.log(p) + sf.xlog1py(k, -p) - np.log(n + k) - sf.betaln(n, k + 1)


DISCRETE = {
    "poisson": Distribution(
        ("mu",),
        lambda k, mu: sf.xlogy(k, mu) - sf.gammaln(k + 1) - mu,
        lambda k, mu: sf.gammaincc(k + 1, mu),
        lambda k, mu: sf.gammainc(k + 1, mu),
        _counts,
        is_valid=lambda mu: mu >= 0,
        is_discrete=True,
    ),
    "binom": Distribution(
        ("n", "p"),
        _binom_log_mass,
        lambda k, n, p: sf.betaincc(k + 1, n - k, p),
        lambda k, n, p: sf.betainc(k + 1, n - k, p),
        lambda n, p: (0, n),
        is_valid=lambda n, p: np.logical_and(n >= 0, _is_probability(p)),
        is_discrete=True,
    ),
    "bernoulli": Distribution(
        ("p",),
        lambda k, p: sf.xlogy(k, p) + sf.xlog1py(1 - k, -p),
        lambda k, p: 1 - p + 0 * k,
        lambda k, p: p + 0 * k,
        lambda p: (0, 1),
        is_valid=_is_probability,
        is_discrete=True,
    ),
    "geom": Distribution(
        ("p",),
        lambda k, p: np.log(p) + sf.xlog1py(k - 1, -p),
        lambda k, p: -np.expm1(k * np.log1p(-p)),
        lambda k, p: np.exp(k * np.log1p(-p)),
        lambda p: (1, math.inf),
        is_valid=lambda p: np.logical_and(p > 0, p <= 1),
        is_discrete=True,
    ),
    "nbinom": Distribution(
        ("n", "p"),
        _nbinom_log_mass,
        lambda k, n, p: sf.betainc(n, k + 1, p),
        lambda k, n, p: sf.betaincc(n, k + 1, p),
        _counts,
        is_valid=lambda n, p: np.logical_and(n > 0, np.logical_and(p > 0, p <= 1)),
        is_discrete=True,
    ),
}
