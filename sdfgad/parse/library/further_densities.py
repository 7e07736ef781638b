"""More standard probability distributions of scipy.stats, of location 0 and scale 1, as in `densities`.

The formulas are those of Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (1994).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.special import sf
from sdfgad.parse.library.degrees import logarithm_of_sum as logarithm
from sdfgad.parse.library.degrees import power_less_one as power
from sdfgad.parse.library.densities import CONTINUOUS as COMMON
from sdfgad.parse.library.densities import HALF_ROOT, LOG_ROOT_2_PI, Distribution, log_over_zero


def _half_line(*shapes: Any) -> Any:
    return 0, math.inf


def _f_log_density(y: Any, n: Any, m: Any) -> Any:
    powers = 0.5 * n * np.log(n) + 0.5 * m * np.log(m) + sf.xlogy(0.5 * n - 1, y)
    return powers - 0.5 * (n + m) * np.log(m + n * y) - sf.betaln(0.5 * n, 0.5 * m)


def _f_quantile(q: Any, n: Any, m: Any) -> Any:
    return m * sf.betaincinv(0.5 * n, 0.5 * m, q) / (n * sf.betaincinv(0.5 * m, 0.5 * n, 1 - q))


def _chi_log_density(y: Any, df: Any) -> Any:
    return math.log(2) * (1 - 0.5 * df) - sf.gammaln(0.5 * df) + sf.xlogy(df - 1, y) - 0.5 * y * y


def _invgauss_tails(y: Any, mu: Any) -> Any:
    """The logarithms of the normal tails of which the distribution functions are sums and differences."""
    root = np.sqrt(y)
    return (y / mu - 1) / root, 2 / mu + sf.log_ndtr(-(y / mu + 1) / root)


def _invgauss_cdf(y: Any, mu: Any) -> Any:
    low, log_high = _invgauss_tails(y, mu)
    return 0.5 * sf.erfc(-HALF_ROOT * low) + np.exp(log_high)


def _invgauss_log_sf(y: Any, mu: Any) -> Any:
    low, log_high = _invgauss_tails(y, mu)
    log_low = sf.log_ndtr(-low)
    return log_low + np.log1p(-np.exp(log_high - log_low))


def _invgauss_log_density(y: Any, mu: Any) -> Any:
    return log_over_zero(y, -LOG_ROOT_2_PI - 1.5 * np.log(y) - np.square((y - mu) / mu) / (2 * y))


def _gennorm_cdf(y: Any, beta: Any) -> Any:
    tail = 0.5 * sf.gammaincc(1 / beta, np.power(np.abs(y), beta))
    return np.where(y > 0, 1 - tail, tail)


def _nakagami_log_density(y: Any, nu: Any) -> Any:
    return math.log(2) + sf.xlogy(nu, nu) - sf.gammaln(nu) + sf.xlogy(2 * nu - 1, y) - nu * y * y


def _genextreme_power(y: Any, c: Any) -> Any:
    """``(1 - c y) ** (1 / c)``, of which minus the exponential is the distribution function."""
    return np.exp(-logarithm(y, -c))


FURTHER = {
    "f": Distribution(
        ("dfn", "dfd"),
        _f_log_density,
        lambda y, n, m: sf.betainc(0.5 * n, 0.5 * m, n * y / (n * y + m)),
        lambda y, n, m: sf.betainc(0.5 * m, 0.5 * n, m / (n * y + m)),
        _half_line,
        quantile=_f_quantile,
    ),
    "gumbel_l": Distribution(
        (),
        lambda y: y - np.exp(y),
        lambda y: -np.expm1(-np.exp(y)),
        lambda y: np.exp(-np.exp(y)),
        log_sf=lambda y: -np.exp(y),
        quantile=lambda q: np.log(-np.log1p(-q)),
    ),
    "maxwell": Distribution(
        (),
        lambda y: 0.5 * math.log(2 / math.pi) + 2 * np.log(y) - 0.5 * y * y,
        lambda y: sf.gammainc(1.5, 0.5 * y * y),
        lambda y: sf.gammaincc(1.5, 0.5 * y * y),
        _half_line,
        quantile=lambda q: np.sqrt(2 * sf.gammaincinv(1.5, q)),
    ),
    "chi": Distribution(
        ("df",),
        _chi_log_density,
        lambda y, df: sf.gammainc(0.5 * df, 0.5 * y * y),
        lambda y, df: sf.gammaincc(0.5 * df, 0.5 * y * y),
        _half_line,
        quantile=lambda q, df: np.sqrt(2 * sf.gammaincinv(0.5 * df, q)),
    ),
    "erlang": COMMON["gamma"],
    "invgauss": Distribution(
        ("mu",),
        _invgauss_log_density,
        _invgauss_cdf,
        lambda y, mu: np.exp(_invgauss_log_sf(y, mu)),
        _half_line,
        log_sf=_invgauss_log_sf,
    ),
    "levy": Distribution(
        (),
        lambda y: log_over_zero(y, -LOG_ROOT_2_PI - 1.5 * np.log(y) - 0.5 / y),
        lambda y: sf.erfc(np.sqrt(0.5 / y)),
        lambda y: sf.erf(np.sqrt(0.5 / y)),
        _half_line,
        quantile=lambda q: 0.5 / np.square(sf.erfcinv(q)),
    ),
    "lomax": Distribution(
        ("c",),
        lambda y, c: np.log(c) - (c + 1) * np.log1p(y),
        lambda y, c: -np.expm1(-c * np.log1p(y)),
        lambda y, c: np.exp(-c * np.log1p(y)),
        _half_line,
        log_sf=lambda y, c: -c * np.log1p(y),
        quantile=lambda q, c: np.expm1(-np.log1p(-q) / c),
    ),
    "powerlaw": Distribution(
        ("a",),
        lambda y, a: np.log(a) + sf.xlogy(a - 1, y),
        lambda y, a: np.power(y, a),
        lambda y, a: -np.expm1(a * np.log(y)),
        lambda a: (0, 1),
        log_cdf=lambda y, a: a * np.log(y),
        quantile=lambda q, a: np.power(q, 1 / a),
    ),
    "fisk": Distribution(
        ("c",),
        lambda y, c: np.log(c) + sf.xlogy(c - 1, y) - 2 * np.log1p(np.power(y, c)),
        lambda y, c: sf.expit(c * np.log(y)),
        lambda y, c: sf.expit(-c * np.log(y)),
        _half_line,
        log_cdf=lambda y, c: sf.log_expit(c * np.log(y)),
        log_sf=lambda y, c: sf.log_expit(-c * np.log(y)),
        quantile=lambda q, c: np.exp(sf.logit(q) / c),
    ),
    "betaprime": Distribution(
        ("a", "b"),
        lambda y, a, b: sf.xlogy(a - 1, y) - sf.xlog1py(a + b, y) - sf.betaln(a, b),
        lambda y, a, b: sf.betainc(a, b, y / (1 + y)),
        lambda y, a, b: sf.betainc(b, a, 1 / (1 + y)),
        _half_line,
    ),
    "moyal": Distribution(
        (),
        lambda y: -0.5 * (y + np.exp(-y)) - LOG_ROOT_2_PI,
        lambda y: sf.erfc(HALF_ROOT * np.exp(-0.5 * y)),
        lambda y: sf.erf(HALF_ROOT * np.exp(-0.5 * y)),
        quantile=lambda q: -2 * np.log(math.sqrt(2) * sf.erfcinv(q)),
    ),
    "hypsecant": Distribution(
        (),
        lambda y: math.log(2 / math.pi) - np.logaddexp(y, -y),
        lambda y: 2 / math.pi * np.arctan(np.exp(y)),
        lambda y: 2 / math.pi * np.arctan(np.exp(-y)),
        quantile=lambda q: np.log(np.tan(0.5 * math.pi * q)),
    ),
    "invweibull": Distribution(
        ("c",),
        lambda y, c: log_over_zero(y, np.log(c) - (c + 1) * np.log(y) - np.power(y, -c)),
        lambda y, c: np.exp(-np.power(y, -c)),
        lambda y, c: -np.expm1(-np.power(y, -c)),
        _half_line,
        log_cdf=lambda y, c: -np.power(y, -c),
        quantile=lambda q, c: np.power(-np.log(q), -1 / c),
    ),
    "gompertz": Distribution(
        ("c",),
        lambda y, c: np.log(c) + y - c * np.expm1(y),
        lambda y, c: -np.expm1(-c * np.expm1(y)),
        lambda y, c: np.exp(-c * np.expm1(y)),
        _half_line,
        log_sf=lambda y, c: -c * np.expm1(y),
        quantile=lambda q, c: np.log1p(-np.log1p(-q) / c),
    ),
    "gennorm": Distribution(
        ("beta",),
        lambda y, beta: np.log(0.5 * beta) - sf.gammaln(1 / beta) - np.power(np.abs(y), beta),
        _gennorm_cdf,
        lambda y, beta: _gennorm_cdf(-y, beta),
    ),
    "nakagami": Distribution(
        ("nu",),
        _nakagami_log_density,
        lambda y, nu: sf.gammainc(nu, nu * y * y),
        lambda y, nu: sf.gammaincc(nu, nu * y * y),
        _half_line,
        quantile=lambda q, nu: np.sqrt(sf.gammaincinv(nu, q) / nu),
    ),
    "loguniform": Distribution(
        ("a", "b"),
        lambda y, a, b: -np.log(y) - np.log(np.log(b / a)),
        lambda y, a, b: np.log(y / a) / np.log(b / a),
        lambda y, a, b: np.log(b / y) / np.log(b / a),
        lambda a, b: (a, b),
        quantile=lambda q, a, b: a * np.power(b / a, q),
        is_valid=lambda a, b: np.logical_and(a > 0, b > a),
    ),
    # of which the shape may have any sign, and be 0
    "genpareto": Distribution(
        ("c",),
        lambda y, c: -(c + 1) * logarithm(y, c),
        lambda y, c: -np.expm1(-logarithm(y, c)),
        lambda y, c: np.exp(-logarithm(y, c)),
        lambda c: (0, np.where(c < 0, -1 / np.where(c < 0, c, -1.0), np.inf)),
        log_sf=lambda y, c: -logarithm(y, c),
        quantile=lambda q, c: power(-np.log1p(-q), c),
        is_valid=np.isfinite,
    ),
    "genextreme": Distribution(
        ("c",),
        lambda y, c: -_genextreme_power(y, c) - (1 - c) * logarithm(y, -c),
        lambda y, c: np.exp(-_genextreme_power(y, c)),
        lambda y, c: -np.expm1(-_genextreme_power(y, c)),
        lambda c: (
            np.where(c < 0, 1 / np.where(c < 0, c, 1.0), -np.inf),
            np.where(c > 0, 1 / np.where(c > 0, c, 1.0), np.inf),
        ),
        log_cdf=lambda y, c: -_genextreme_power(y, c),
        quantile=lambda q, c: power(-np.log(-np.log(q)), -c),
        is_valid=np.isfinite,
    ),
}
