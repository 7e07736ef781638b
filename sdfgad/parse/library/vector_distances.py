"""Distances of scipy.spatial between two vectors, and between the rows of two matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, inexact
from sdfgad.parse.registry import definitions

_distance = definitions("scipy.spatial.distance")
_spatial = definitions("scipy.spatial")


def _vectors(u: Any, v: Any) -> Any:
    u, v = array_like(u), array_like(v)
    if u.ndim != 1 or v.ndim != 1:
        raise ValueError("a distance of scipy.spatial is one of two vectors: use cdist for the rows of matrices")
    return u.astype(inexact(u.dtype)), v.astype(inexact(v.dtype))


def _in_double(u: Any, v: Any) -> Any:
    u, v = _vectors(u, v)
    return u.astype(np.float64), v.astype(np.float64)


def _weighted(values: Any, w: Any) -> Any:
    return values if w is None else array_like(w) * values


@_distance("euclidean")
def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    """Of equal vectors the derivative is 0."""
    return minkowski(u, v, 2, w)


@_distance("minkowski")
def minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    u, v = _in_double(u, v)
    root = 1.0 if w is None else array_like(w) ** (0.0 if p == math.inf else 1.0 / p)
    return np.linalg.norm((u - v) * root, p)


@_distance("sqeuclidean")
def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    u, v = _vectors(u, v)
    return np.sum(_weighted(np.square(u - v), w))


@_distance("cityblock")
def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    u, v = _vectors(u, v)
    return np.sum(_weighted(np.abs(u - v), w))


@_distance("chebyshev")
def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    """A weight is whether an element counts."""
    u, v = _vectors(u, v)
    return np.max(np.abs(u - v) if w is None else np.where(array_like(w) > 0, np.abs(u - v), 0.0))


@_distance("cosine")
def cosine(u: Any, v: Any, w: Any = None) -> Any:
    return correlation(u, v, w, False)


@_distance("correlation")
def correlation(u: Any, v: Any, w: Any = None, centered: Any = True) -> Any:
    u, v = _vectors(u, v)
    total = u.shape[0] if w is None else np.sum(array_like(w))
    if centered:
        u, v = u - np.sum(_weighted(u, w)) / total, v - np.sum(_weighted(v, w)) / total
    lengths = np.sqrt(np.sum(_weighted(u * u, w)) * np.sum(_weighted(v * v, w)))
    return np.clip(1.0 - np.sum(_weighted(u * v, w)) / lengths, 0.0, 2.0)


@_distance("braycurtis")
def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    u, v = _in_double(u, v)
    return np.sum(_weighted(np.abs(u - v), w)) / np.sum(_weighted(np.abs(u + v), w))


@_distance("canberra")
def canberra(u: Any, v: Any, w: Any = None) -> Any:
    """Elements that are both 0 count nothing."""
    u, v = _in_double(u, v)
    sizes = np.abs(u) + np.abs(v)
    return np.sum(_weighted(np.where(sizes == 0.0, 0.0, np.abs(u - v) / np.where(sizes == 0.0, 1.0, sizes)), w))


@_distance("mahalanobis")
def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    u, v = _vectors(u, v)
    return np.sqrt((u - v) @ array_like(VI) @ (u - v))


@_distance("jensenshannon")
def jensenshannon(p: Any, q: Any, base: Any = None, *, axis: Any = 0, keepdims: Any = False) -> Any:
    """The root of the mean of the relative entropies by the middle of two distributions."""
    p, q = array_like(p), array_like(q)
    p, q = p / np.sum(p, axis=axis, keepdims=True), q / np.sum(q, axis=axis, keepdims=True)
    middle = 0.5 * (p + q)
    parts = [np.where(r > 0.0, r * np.log(np.where(r > 0.0, r / middle, 1.0)), 0.0) for r in (p, q)]
    total = 0.5 * np.sum(parts[0] + parts[1], axis=axis, keepdims=keepdims)
    return np.sqrt(total if base is None else total / array_like(np.log(base)).astype(total.dtype))


@_spatial("distance_matrix")
def distance_matrix(x: Any, y: Any, p: Any = 2, threshold: Any = 1000000) -> Any:
    return minkowski_distance(array_like(x)[:, None, :], array_like(y)[None, :, :], p)


@_spatial("minkowski_distance")
def minkowski_distance(x: Any, y: Any, p: Any = 2.0) -> Any:
    """Along the last axis."""
    return np.linalg.norm(array_like(y).astype(np.float64) - array_like(x).astype(np.float64), p, axis=-1)
