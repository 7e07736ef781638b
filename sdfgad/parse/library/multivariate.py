"""The multivariate normal distribution of scipy.stats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.registry import optional


@optional("scipy.stats", "multivariate_normal.logpdf", is_definition=True)
def logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    """By the Cholesky factor: the covariance must be positive definite, and only its lower triangle is read."""
    if allow_singular:
        raise ValueError(
            "a singular covariance matrix is not supported: add a small number to its diagonal, cov + 1e-9 * np.eye(n)"
        )
    x = array_like(x).astype(np.float64)
    cov = array_like(cov)
    n = cov.shape[0] if cov.ndim > 0 else 1 if mean is None else np.size(mean)
    centre = np.zeros(n) if mean is None else np.reshape(mean, (n,))
    matrix = cov * np.eye(n) if cov.ndim == 0 else np.diag(cov) if cov.ndim == 1 else cov
    points = np.reshape(x, (-1, 1)) if x.ndim < 2 and n == 1 else np.reshape(x, (-1, n))
    factor = np.linalg.cholesky(matrix)
    whitened = np.linalg.solve(factor, (points - centre).T)
    squares = np.sum(np.square(whitened), axis=0)
    log_root = np.sum(np.log(np.diagonal(factor)))
    result = -0.5 * (squares + n * math.log(2 * math.pi)) - log_root
    shape = x.shape if n == 1 and x.ndim < 2 else x.shape[:-1]
    return np.squeeze(np.reshape(result, shape))


@optional("scipy.stats", "multivariate_normal.pdf", is_definition=True)
def pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    return np.exp(logpdf(x, mean, cov, allow_singular))


class FrozenNormal:
    """A multivariate normal distribution with its parameters, as a value of the program."""

    def __init__(self, mean: Any, cov: Any, allow_singular: Any) -> None:
        self.mean = mean
        self.cov = cov
        self.allow_singular = allow_singular

    def pdf(self, x: Any) -> Any:
        return pdf(x, self.mean, self.cov, self.allow_singular)

    def logpdf(self, x: Any) -> Any:
        return logpdf(x, self.mean, self.cov, self.allow_singular)


@optional("scipy.stats", "multivariate_normal", is_definition=True)
def freeze(mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    return FrozenNormal(mean, cov, allow_singular)


def _parameters(frozen: Any) -> Any:
    return frozen.mean, frozen.cov, frozen.allow_singular


@optional("scipy.stats._multivariate", "multivariate_normal_frozen.logpdf", is_definition=True)
def logpdf_of_frozen(self: Any, x: Any) -> Any:
    return logpdf(x, *_parameters(self))


@optional("scipy.stats._multivariate", "multivariate_normal_frozen.pdf", is_definition=True)
def pdf_of_frozen(self: Any, x: Any) -> Any:
    return pdf(x, *_parameters(self))
