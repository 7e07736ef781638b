"""Functions of Python's module statistics, of lists of numbers or of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int, inexact
from sdfgad.parse.registry import definitions

_statistics = definitions("statistics")


def _numbers(data: Any, least: Any) -> Any:
    x = array_like(data)
    if x.ndim != 1 or fixed_int(x.shape[0]) < least:
        raise ValueError("a function of statistics takes a list or vector of numbers, and enough of them")
    return x.astype(inexact(x.dtype))


@_statistics("mean")
def mean(data: Any) -> Any:
    return np.mean(_numbers(data, 1))


@_statistics("fmean")
def fmean(data: Any, weights: Any = None) -> Any:
    x = _numbers(data, 1).astype(np.float64)
    if weights is None:
        return np.mean(x)
    w = _numbers(weights, 1).astype(np.float64)
    return np.sum(w * x) / np.sum(w)


@_statistics("geometric_mean")
def geometric_mean(data: Any) -> Any:
    return np.exp(np.mean(np.log(_numbers(data, 1).astype(np.float64))))


@_statistics("harmonic_mean")
def harmonic_mean(data: Any, weights: Any = None) -> Any:
    x = _numbers(data, 1)
    if weights is None:
        return x.shape[0] / np.sum(1.0 / x)
    w = _numbers(weights, 1)
    return np.sum(w) / np.sum(w / x)


@_statistics("median")
def median(data: Any) -> Any:
    return np.median(_numbers(data, 1))


@_statistics("median_low")
def median_low(data: Any) -> Any:
    x = np.sort(_numbers(data, 1))
    return x[(fixed_int(x.shape[0]) - 1) // 2]


@_statistics("median_high")
def median_high(data: Any) -> Any:
    x = np.sort(_numbers(data, 1))
    return x[fixed_int(x.shape[0]) // 2]


def _squares(x: Any, middle: Any) -> Any:
    """The sum of squared differences from the mean, or from what is said to be it."""
    return np.sum(np.square(x - (np.mean(x) if middle is None else middle)))


@_statistics("variance")
def variance(data: Any, xbar: Any = None) -> Any:
    x = _numbers(data, 2)
    return _squares(x, xbar) / (x.shape[0] - 1)


@_statistics("pvariance")
def pvariance(data: Any, mu: Any = None) -> Any:
    x = _numbers(data, 1)
    return _squares(x, mu) / x.shape[0]


@_statistics("stdev")
def stdev(data: Any, xbar: Any = None) -> Any:
    return np.sqrt(variance(array_like(data).astype(np.float64), xbar))


@_statistics("pstdev")
def pstdev(data: Any, mu: Any = None) -> Any:
    return np.sqrt(pvariance(array_like(data).astype(np.float64), mu))


@_statistics("covariance")
def covariance(x: Any, y: Any, /) -> Any:
    x, y = _numbers(x, 2).astype(np.float64), _numbers(y, 2).astype(np.float64)
    return np.sum((x - np.mean(x)) * (y - np.mean(y))) / (x.shape[0] - 1)


@_statistics("correlation")
def correlation(x: Any, y: Any, /, *, method: Any = "linear") -> Any:
    if method != "linear":
        raise ValueError("statistics.correlation of ranks has no derivative: leave method out")
    x, y = _numbers(x, 2).astype(np.float64), _numbers(y, 2).astype(np.float64)
    x, y = x - np.mean(x), y - np.mean(y)
    return np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y))


class Line:
    """What ``linear_regression`` returns."""

    def __init__(self, slope: Any, intercept: Any) -> None:
        self.slope, self.intercept = slope, intercept

    def __iter__(self) -> Any:
        return iter((self.slope, self.intercept))

    def __getitem__(self, k: Any) -> Any:
        return (self.slope, self.intercept)[k]


@_statistics("linear_regression")
def linear_regression(x: Any, y: Any, /, *, proportional: Any = False) -> Any:
    x, y = _numbers(x, 2).astype(np.float64), _numbers(y, 2).astype(np.float64)
    x0, y0 = (0.0, 0.0) if proportional else (np.mean(x), np.mean(y))
    slope = np.sum((x - x0) * (y - y0)) / np.sum(np.square(x - x0))
    return Line(slope, y0 - slope * x0)
