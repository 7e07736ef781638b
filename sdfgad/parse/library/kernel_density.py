"""Kernel density estimation with normal kernels, as ``scipy.stats.gaussian_kde`` makes it.

The density is the weighted mean of normal densities around the samples, whose covariance is that of the samples times
the square of the bandwidth (Scott, Multivariate Density Estimation (1992), section 6.3, and Silverman, Density
Estimation (1986), section 4.3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.functions.special import sf
from sdfgad.parse.library.special import logsumexp
from sdfgad.parse.registry import definitions, optional

_of_density = definitions("scipy.stats._kde")


class Density:
    """What ``gaussian_kde`` returns here."""

    def __init__(self, dataset: Any, weights: Any, bw_method: Any) -> None:
        self.dataset, self.weights = dataset, weights
        self.d, self.n = fixed_int(dataset.shape[0]), fixed_int(dataset.shape[1])
        self.neff = 1.0 / np.sum(weights * weights)
        self.set_bandwidth(bw_method)

    def set_bandwidth(self, bw_method: Any = None) -> None:
        self.factor = _bandwidth(self, bw_method)
        apart = self.dataset - np.sum(self.weights * self.dataset, axis=1, keepdims=True)
        self.covariance = (self.weights * apart) @ apart.T / (1.0 - 1.0 / self.neff) * self.factor**2

    def scotts_factor(self) -> Any:
        return np.power(self.neff, -1.0 / (self.d + 4))

    def silverman_factor(self) -> Any:
        return np.power(self.neff * (self.d + 2.0) / 4.0, -1.0 / (self.d + 4))

    @property
    def inv_cov(self) -> Any:
        return np.linalg.inv(self.covariance)

    def evaluate(self, points: Any) -> Any:
        return evaluate(self, points)

    def __call__(self, points: Any) -> Any:
        return evaluate(self, points)

    def pdf(self, x: Any) -> Any:
        return evaluate(self, x)

    def logpdf(self, x: Any) -> Any:
        return logpdf(self, x)

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        return integrate_box_1d(self, low, high)

    def resample(self, size: Any = None, seed: Any = None) -> Any:
        raise NotImplementedError("samples of gaussian_kde are not supported: draw them outside of the function")

    def marginal(self, dimensions: Any) -> Any:
        raise NotImplementedError("marginal of gaussian_kde is not supported: pass the rows of the samples alone")

    def integrate_box(self, low_bounds: Any, high_bounds: Any, maxpts: Any = None, *, rng: Any = None) -> Any:
        raise NotImplementedError("integrate_box of gaussian_kde is not supported: sum its values on a grid")

    def integrate_gaussian(self, mean: Any, cov: Any) -> Any:
        raise NotImplementedError("integrate_gaussian of gaussian_kde is not supported: sum its values on a grid")

    def integrate_kde(self, other: Any) -> Any:
        raise NotImplementedError("integrate_kde of gaussian_kde is not supported: sum its values on a grid")


def _bandwidth(density: Density, bw_method: Any) -> Any:
    if callable(bw_method):
        return bw_method(density)
    if bw_method is None or (isinstance(bw_method, str) and bw_method == "scott"):
        return density.scotts_factor()
    if isinstance(bw_method, str):
        if bw_method != "silverman":
            raise ValueError("bw_method of gaussian_kde is 'scott', 'silverman', a number or a function")
        return density.silverman_factor()
    return bw_method


@optional("scipy.stats", "gaussian_kde", is_definition=True)
def gaussian_kde(dataset: Any, bw_method: Any = None, weights: Any = None) -> Any:
    dataset = np.atleast_2d(array_like(dataset)).astype(np.float64)
    n = fixed_int(dataset.shape[1])
    weights = np.full(n, 1.0 / n) if weights is None else array_like(weights).astype(np.float64)
    return Density(dataset, weights / np.sum(weights), bw_method)


def _energies(self: Any, points: Any) -> Any:
    """The exponents of each kernel, a row, at each point, a column, and the logarithm of the kernels' integral."""
    data, points = array_like(self.dataset).astype(np.float64), np.atleast_2d(array_like(points)).astype(np.float64)
    d = fixed_int(data.shape[0])
    if fixed_int(points.shape[0]) != d:
        if fixed_int(points.shape[0]) != 1 or fixed_int(points.shape[1]) != d:
            raise ValueError("the points of gaussian_kde have another dimension than its samples")
        points = np.reshape(points, (d, 1))
    root = np.linalg.cholesky(array_like(self.covariance))
    data, points = np.linalg.solve(root, data), np.linalg.solve(root, points)
    squares = np.sum(np.square(data[:, :, None] - points[:, None, :]), axis=0)
    return -0.5 * squares, 0.5 * d * math.log(2 * math.pi) + np.sum(np.log(np.diag(root)))


@_of_density("gaussian_kde.evaluate", "gaussian_kde.pdf")
def evaluate(self: Any, points: Any) -> Any:
    exponents, log_norm = _energies(self, points)
    return array_like(self.weights) @ np.exp(exponents) * np.exp(-log_norm)


@_of_density("gaussian_kde.logpdf")
def logpdf(self: Any, x: Any) -> Any:
    exponents, log_norm = _energies(self, x)
    return logsumexp(exponents, 0, array_like(self.weights)[:, None]) - log_norm


@_of_density("gaussian_kde.integrate_box_1d")
def integrate_box_1d(self: Any, low: Any, high: Any) -> Any:
    data, width = array_like(self.dataset), np.sqrt(array_like(self.covariance)[0, 0])
    if fixed_int(data.shape[0]) != 1:
        raise ValueError("integrate_box_1d of gaussian_kde takes samples of one dimension: pass a vector")
    upper, lower = sf.erf((high - data[0]) / (math.sqrt(2) * width)), sf.erf((low - data[0]) / (math.sqrt(2) * width))
    return 0.5 * np.sum(array_like(self.weights) * (upper - lower))
