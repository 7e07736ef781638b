"""Distances between points, as in scipy.spatial.distance: all pairs of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.registry import optional


def _distance(name: str) -> Any:
    return optional("scipy.spatial.distance", name, is_definition=True)


def _length(d: Any, metric: Any, p: Any) -> Any:
    """The distances of points with the differences `d` in the last axis; of equal points the derivative is 0."""
    if metric == "euclidean":
        return np.linalg.norm(d, axis=-1)
    if metric == "sqeuclidean":
        return np.sum(d * d, axis=-1)
    if metric in ("cityblock", "manhattan"):
        return np.sum(np.abs(d), axis=-1)
    if metric in ("chebyshev", "chebychev"):
        return np.max(np.abs(d), axis=-1)
    if metric == "minkowski":
        return np.linalg.norm(d, p, axis=-1)
    raise NotImplementedError(
        "this metric of scipy.spatial.distance is not supported: use 'euclidean', 'sqeuclidean' or 'cityblock'"
    )


@_distance("cdist")
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, p: Any = 2) -> Any:
    a, b = (array_like(points).astype(np.float64) for points in (XA, XB))
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise ValueError("cdist takes two matrices with a point in each row, and as many columns")
    if metric == "cosine":
        lengths = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)
        return 1.0 - a @ b.T / lengths
    return _length(a[:, None, :] - b[None, :, :], metric, p)


@_distance("pdist")
def pdist(X: Any, metric: Any = "euclidean", *, p: Any = 2) -> Any:
    x = array_like(X).astype(np.float64)
    if x.ndim != 2:
        raise ValueError("pdist takes a matrix with a point in each row")
    i, j = np.triu_indices(fixed_int(x.shape[0]), 1)
    if metric == "cosine":
        lengths = np.linalg.norm(x, axis=1)
        return 1.0 - np.sum(x[i] * x[j], axis=-1) / (lengths[i] * lengths[j])
    return _length(x[i] - x[j], metric, p)


@_distance("squareform")
def squareform(X: Any, force: Any = "no", checks: Any = True) -> Any:
    x = array_like(X)
    if x.ndim == 2:
        i, j = np.triu_indices(fixed_int(x.shape[0]), 1)
        return x[i, j]
    n = fixed_int(x.shape[0])
    count = (1 + math.isqrt(1 + 8 * n)) // 2
    if count * (count - 1) != 2 * n:
        raise ValueError("squareform takes a vector of the distances of all pairs")
    i, j = np.triu_indices(count, 1)
    result = np.zeros((count, count), x.dtype)
    result[i, j] = x
    result[j, i] = x
    return result
