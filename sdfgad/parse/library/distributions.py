"""Probability distributions of scipy.stats: the methods of all of them, by their standard functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.distributions import distribution_named, is_number, method_of, parameters_of
from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.functions.special import held
from sdfgad.parse.library.densities import CONTINUOUS, DISCRETE, Distribution
from sdfgad.parse.library.further_densities import FURTHER
from sdfgad.parse.registry import optional

METHODS: dict[str, Any] = {}


def _method(*names: str) -> Any:
    """Register what makes a method of a distribution."""

    def register(maker: Any) -> Any:
        METHODS.update(dict.fromkeys(names, maker))
        return maker

    return register


def _standard(d: Any, x: Any, parameters: Any) -> Any:
    """The shapes, the standardised argument and the scale, all in double precision as in SciPy.

    Of a discrete distribution, the argument is rounded down, and nothing flows through it.
    """
    loc, scale = (parameters[-2], parameters[-1])
    x = array_like(x)
    y = x.astype(np.float64) - loc
    return parameters[:-2], (np.floor(held(y)) if d.is_discrete else y if _is_one(scale) else y / scale), scale


def _is_one(scale: Any) -> Any:
    return is_number(scale) and scale == 1


def _valid(d: Any, result: Any, shapes: Any, scale: Any) -> Any:
    """The result where the parameters are ones of the distribution, else NaN."""
    if d.is_valid is not None:
        result = np.where(d.is_valid(*shapes), result, np.nan)
    for parameter in (scale,) if d.is_valid is not None else shapes + (scale,):  # noqa: RUF005
        if not is_number(parameter):
            result = np.where(parameter > 0, result, np.nan)
        elif not parameter > 0:
            result = np.full_like(result, np.nan)
    return result


def _in_support(d: Any, y: Any, shapes: Any, inside: Any, outside: Any) -> Any:
    """A function on the support, and `outside` elsewhere."""
    low, high = d.support(*shapes)
    if not is_number(low) or low > -np.inf:
        inside = np.where(y < low, outside, inside)
    if not is_number(high) or high < np.inf:
        inside = np.where(y > high, outside, inside)
    return inside


@_method("logpdf")
def _log_density(d: Distribution) -> Any:
    def logpdf(x: Any, *args: Any, **kwds: Any) -> Any:
        shapes, y, scale = _standard(d, x, parameters_of(d.shapes, args, kwds))
        inside = d.log_density(y, *shapes)
        inside = inside if _is_one(scale) else inside - np.log(scale)
        return _valid(d, _in_support(d, y, shapes, inside, -np.inf), shapes, scale)

    return logpdf


@_method("pdf")
def _density(d: Distribution) -> Any:
    def pdf(x: Any, *args: Any, **kwds: Any) -> Any:
        shapes, y, scale = _standard(d, x, parameters_of(d.shapes, args, kwds))
        inside = np.exp(d.log_density(y, *shapes))
        inside = inside if _is_one(scale) else inside / scale
        return _valid(d, _in_support(d, y, shapes, inside, 0.0), shapes, scale)

    return pdf


@_method("logpmf")
def _log_mass(d: Distribution) -> Any:
    def logpmf(k: Any, *args: Any, **kwds: Any) -> Any:
        shapes, y, scale = _standard(d, k, parameters_of(d.shapes, args, kwds))
        inside = _in_support(d, y, shapes, d.log_density(y, *shapes), -np.inf)
        return _valid(d, np.where(y == k - parameters_of(d.shapes, args, kwds)[-2], inside, -np.inf), shapes, scale)

    return logpmf


@_method("pmf")
def _mass(d: Distribution) -> Any:
    log_mass = _log_mass(d)

    def pmf(k: Any, *args: Any, **kwds: Any) -> Any:
        return np.exp(log_mass(k, *args, **kwds))

    return pmf


def _distribution_function(d: Distribution, inner: Any, at_low: Any, at_high: Any) -> Any:
    """The method that is `inner` inside of the support, and constant on both sides."""

    def method(x: Any, *args: Any, **kwds: Any) -> Any:
        shapes, y, scale = _standard(d, x, parameters_of(d.shapes, args, kwds))
        low, high = d.support(*shapes)
        result = inner(y, *shapes)
        if not is_number(low) or low > -np.inf:
            result = np.where(y < low if d.is_discrete else y <= low, at_low, result)
        if not is_number(high) or high < np.inf:
            result = np.where(y >= high, at_high, result)
        return _valid(d, result, shapes, scale)

    return method


@_method("cdf")
def _cdf(d: Distribution) -> Any:
    return _distribution_function(d, d.cdf, 0.0, 1.0)


@_method("sf")
def _sf(d: Distribution) -> Any:
    return _distribution_function(d, d.sf, 1.0, 0.0)


@_method("logcdf")
def _log_cdf(d: Distribution) -> Any:
    def of_cdf(y: Any, *shapes: Any) -> Any:
        return np.log(d.cdf(y, *shapes))

    return _distribution_function(d, d.log_cdf or of_cdf, -np.inf, 0.0)


@_method("logsf")
def _log_sf(d: Distribution) -> Any:
    def of_sf(y: Any, *shapes: Any) -> Any:
        return np.log(d.sf(y, *shapes))

    return _distribution_function(d, d.log_sf or of_sf, 0.0, -np.inf)


@_method("ppf")
def _quantile(d: Any) -> Any:
    def ppf(q: Any, *args: Any, **kwds: Any) -> Any:
        parameters = parameters_of(d.shapes, args, kwds)
        q = array_like(q)
        inside = d.quantile(q.astype(np.float64), *parameters[:-2])
        result = inside if _is_one(parameters[-1]) else inside * parameters[-1]
        return _valid(d, result + parameters[-2], parameters[:-2], parameters[-1])

    return ppf


@_method("isf")
def _upper_quantile(d: Distribution) -> Any:
    quantile = _quantile(d)

    def isf(q: Any, *args: Any, **kwds: Any) -> Any:
        return quantile(1 - q, *args, **kwds)

    return isf


# --- frozen distributions


class Frozen:
    """A distribution with its parameters, as a value of the program."""

    def __init__(self, distribution: Any, args: Any, kwds: Any) -> None:
        self.distribution = distribution
        self.args = args
        self.kwds = kwds

    def pdf(self, x: Any) -> Any:
        return self.distribution.pdf(x, *self.args, **self.kwds)

    def logpdf(self, x: Any) -> Any:
        return self.distribution.logpdf(x, *self.args, **self.kwds)

    def pmf(self, k: Any) -> Any:
        return self.distribution.pmf(k, *self.args, **self.kwds)

    def logpmf(self, k: Any) -> Any:
        return self.distribution.logpmf(k, *self.args, **self.kwds)

    def cdf(self, x: Any) -> Any:
        return self.distribution.cdf(x, *self.args, **self.kwds)

    def logcdf(self, x: Any) -> Any:
        return self.distribution.logcdf(x, *self.args, **self.kwds)

    def sf(self, x: Any) -> Any:
        return self.distribution.sf(x, *self.args, **self.kwds)

    def logsf(self, x: Any) -> Any:
        return self.distribution.logsf(x, *self.args, **self.kwds)

    def ppf(self, q: Any) -> Any:
        return self.distribution.ppf(q, *self.args, **self.kwds)


def frozen_maker(name: str) -> Any:
    """The definition of the call of a distribution, which freezes it."""

    def freeze(*args: Any, **kwds: Any) -> Any:
        return Frozen(distribution_named(name), args, kwds)

    return freeze


def _of_frozen(name: str) -> Any:
    """The definition of a method of SciPy's own frozen distributions, which a program has made before."""

    def method(self: Any, x: Any) -> Any:
        return method_of(self, name)(x, *self.args, **self.kwds)

    return method


SHARED = ("cdf", "sf", "logcdf", "logsf")


def _methods(d: Distribution) -> Any:
    quantiles = () if d.quantile is None else ("ppf", "isf")
    return (*(("pmf", "logpmf") if d.is_discrete else ("pdf", "logpdf")), *SHARED, *quantiles)


def _register() -> None:
    for name, d in {**CONTINUOUS, **FURTHER, **DISCRETE}.items():
        for method in _methods(d):
            optional("scipy.stats", f"{name}.{method}", is_definition=True)(METHODS[method](d))
        optional("scipy.stats", name, is_definition=True)(frozen_maker(name))
    for kind in ("rv_continuous_frozen", "rv_discrete_frozen", "rv_frozen"):
        for method in METHODS:
            optional("scipy.stats._distn_infrastructure", f"{kind}.{method}", is_definition=True)(_of_frozen(method))


_register()
