"""Histograms: differentiable by the weights, and not by the bin of an element."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.registry import in_numpy


@in_numpy(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    a = np.ravel(array_like(a))
    edges = np.histogram_bin_edges(a, bins, range)
    if np.ndim(bins) == 0:
        place, is_inside = _even(a, edges)
    else:
        place, is_inside = _uneven(a, edges)
    values = array_like(1 if weights is None else weights)
    values = np.ravel(values) if values.ndim else values
    kind = values.dtype
    counts = np.zeros(edges.shape[0] - 1, kind)
    np.add.at(counts, place, np.where(is_inside, values, 0))
    if density:
        return counts / np.diff(edges) / np.sum(counts), edges
    return counts, edges


@in_numpy(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    if isinstance(bins, str):
        raise ValueError("a number of bins that NumPy estimates is not supported: pass bins=20, say, or the edges")
    if np.ndim(bins) == 1:
        return array_like(bins)
    a = array_like(a)
    if range is None:
        low, high = (np.min(a), np.max(a)) if np.size(a) > 0 else (0, 1)
    else:
        low, high = range
    half = np.where(low == high, 0.5, 0.0)
    kind = np.result_type(low, high, a.dtype)
    return np.linspace(low - half, high + half, fixed_int(bins) + 1, dtype=np.result_type(kind, np.float64))


def _even(a: Any, edges: Any) -> Any:
    """The bin of each element among bins of equal width, corrected by the edges for rounding errors."""
    n = edges.shape[0] - 1
    low, high = (edges[0], edges[-1])
    is_inside = np.logical_and(a >= low, a <= high)
    place = np.clip(np.where(is_inside, (a - low) / (high - low) * n, 0).astype(np.int64), 0, n - 1)
    place = np.where(np.logical_and(a < np.take(edges, place, mode="clip"), is_inside), place - 1, place)
    is_beyond = np.logical_and(a >= np.take(edges, place + 1, mode="clip"), is_inside)
    # The bounds are those of bins, so that nobody has to check them.
    return np.clip(np.where(is_beyond, place + 1, place), 0, n - 1), is_inside


def _uneven(a: Any, edges: Any) -> Any:
    n = edges.shape[0] - 1
    is_inside = np.logical_and(a >= edges[0], a <= edges[-1])
    return np.clip(np.searchsorted(edges, a, side="right") - 1, 0, n - 1), is_inside
