"""Order statistics: quantiles, partitions, and medians without NaNs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axes_of, axis_of, is_known, is_sequence
from sdfgad.parse.registry import in_numpy

# The methods of np.quantile that interpolate: alpha and beta of Hyndman and Fan, American Statistician 50 (1996), 361.
INTERPOLATING = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
ROUNDING = ("lower", "higher", "nearest", "midpoint")


def axes_last(a: Any, axes: Any) -> Any:
    """The array with these axes as one, the last."""
    left = [k for k in range(a.ndim) if k not in axes]
    if len(axes) == 1:
        return np.moveaxis(a, axes[0], -1)
    moved = np.transpose(a, left + [k for k in axes])  # noqa: C416
    return np.reshape(moved, tuple([a.shape[k] for k in left]) + (np.size(a, axes),))  # noqa: RUF005


# Those that take one element.
UNMIXED = ("lower", "higher", "nearest", "inverted_cdf")


@in_numpy(np.quantile)
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """By the sorted elements; `q` are numbers that are known while parsing, or data, for the default method."""
    if weights is not None:
        raise ValueError("weights of np.quantile are not supported: sort, and np.interp the cumulative weights")
    a = array_like(a)
    axes = axes_of(axis, a.ndim)
    ordered = np.sort(axes_last(a, axes), axis=-1)
    several = is_sequence(q)
    if not is_known(q):
        several = np.ndim(q) > 0
        result = _quantile_at(ordered, array_like(q), method)
    elif several:
        result = np.stack([_quantile(ordered, one, method) for one in q])
    else:
        result = _quantile(ordered, q, method)
    return _shaped(result, tuple([k + 1 for k in axes]) if several else axes, out, keepdims)


def _shaped(result: Any, axes: Any, out: Any, keepdims: Any) -> Any:
    if keepdims:
        result = np.expand_dims(result, axes)
    if out is None:
        return result
    out[...] = result
    return out


def _quantile(ordered: Any, q: Any, method: Any) -> Any:
    if not 0 <= q <= 1:
        raise ValueError("quantiles must be in the range [0, 1]")
    n = ordered.shape[-1]
    place = _place(q, n, method)
    low = min(max(math.floor(place), 0), n - 1)
    high = min(max(math.floor(place) + 1, 0), n - 1)
    share = place - math.floor(place)
    if method == "averaged_inverted_cdf":
        share = 1.0 if share > 0 else 0.5
    if method in UNMIXED or (method == "linear" and isinstance(q, int)):
        return unless_nan(ordered, 1 * ordered[..., low])
    step = ordered[..., high] - ordered[..., low]
    # From the nearer one, as in NumPy, where there are infinities among them.
    mixed = ordered[..., low] + share * step if share < 0.5 else ordered[..., high] - (1 - share) * step
    return unless_nan(ordered, mixed)


def _quantile_at(ordered: Any, q: Any, method: Any) -> Any:
    """Quantiles of shares that are data: the elements beside their places among the sorted ones, mixed."""
    if method != "linear" or q.ndim > 1:
        raise ValueError("q of np.quantile must be a constant here: write a number, np.quantile(x, 0.9)")
    if np.any(q < 0) or np.any(q > 1):
        raise ValueError("quantiles must be in the range [0, 1]")
    n = ordered.shape[-1]
    place = q * (n - 1)
    whole = np.floor(place)
    low = whole.astype(np.int64)
    share, below, above = place - whole, ordered[..., low], ordered[..., np.minimum(low + 1, n - 1)]
    step = above - below
    mixed = np.where(share < 0.5, below + share * step, above - (1 - share) * step)
    if q.ndim == 0:
        return unless_nan(ordered, mixed)
    return np.moveaxis(unless_nan(np.expand_dims(ordered, -2), mixed), -1, 0)


def unless_nan(ordered: Any, result: Any) -> Any:
    """What comes of sorted rows; NaN where one of their elements is, which is at the end then."""
    if ordered.dtype.kind != "f" or ordered.shape[-1] == 0:
        return result
    return np.where(np.isnan(ordered[..., -1]), np.nan, result)


def _place(q: Any, n: Any, method: Any) -> Any:
    """The place of a quantile among sorted elements, which need not be an integer."""
    place = q * (n - 1)
    if method == "linear":
        return place
    if method in INTERPOLATING:
        alpha, beta = INTERPOLATING[method]
        return min(max(n * q + (alpha + q * (1 - alpha - beta)) - 1, 0), n - 1)
    if method == "lower":
        return math.floor(place)
    if method == "higher":
        return math.ceil(place)
    if method == "nearest":
        return round(place)
    if method == "midpoint":
        return 0.5 * (math.floor(place) + math.ceil(place))
    if method == "inverted_cdf":
        return max(math.ceil(n * q) - 1, 0)
    if method == "averaged_inverted_cdf":
        return n * q - 1
    raise ValueError("this method of np.quantile is not supported: leave method out")


@in_numpy(np.percentile)
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    if not is_known(q):
        return np.quantile(a, array_like(q) / 100, axis, out, overwrite_input, method, keepdims, weights=weights)
    shares = [one / 100 for one in q] if is_sequence(q) else q / 100
    return np.quantile(a, shares, axis, out, overwrite_input, method, keepdims, weights=weights)


@in_numpy(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    """The sorted array, which is a partition by every element."""
    return np.sort(a, axis=axis)


@in_numpy(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    return np.argsort(a, axis=axis)


@in_numpy(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> Any:
    """NaNs are sorted to the end; how many there are is data, and so are the places of the median."""
    a = array_like(a)
    axes = axes_of(axis, a.ndim)
    ordered = np.sort(axes_last(a, axes), axis=-1)
    result = _middle_of_numbers(ordered) if ordered.shape[-1] > 0 else np.full(ordered.shape[:-1], np.nan)
    return _shaped(result, axes, out, keepdims)


def _middle_of_numbers(ordered: Any) -> Any:
    count = np.sum(~np.isnan(ordered), axis=-1)
    last = ordered.shape[-1] - 1
    parts = [
        np.take_along_axis(ordered, np.clip(place, 0, last)[..., None], axis=-1)[..., 0]
        for place in ((count - 1) // 2, count // 2)
    ]
    return 0.5 * (parts[0] + parts[1])


@in_numpy(np.nanquantile)
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """NaNs are sorted to the end; how many there are is data, and so are the places of the quantiles."""
    if weights is not None or method != "linear":
        raise ValueError("np.nanquantile with weights or another method is not supported: leave them out")
    a = array_like(a)
    axes = axes_of(axis, a.ndim)
    ordered = np.sort(axes_last(a, axes), axis=-1)
    several = is_sequence(q) or (not is_known(q) and np.ndim(q) > 0)
    shares = q if is_sequence(q) else [array_like(q)[k] for k in range(np.size(q))] if several else [q]
    parts = [_quantile_of_numbers(ordered, one) for one in shares]
    result = np.stack(parts) if several else parts[0]
    return _shaped(result, tuple([k + 1 for k in axes]) if several else axes, out, keepdims)


def _quantile_of_numbers(ordered: Any, q: Any) -> Any:
    count = np.sum(~np.isnan(ordered), axis=-1)
    place = q * (count - 1)
    low = np.floor(place).astype(np.int64)
    below, above = [
        np.take_along_axis(ordered, np.clip(k, 0, ordered.shape[-1] - 1)[..., None], axis=-1)[..., 0]
        for k in (low, np.minimum(low + 1, count - 1))
    ]
    share, step = place - low, above - below
    return np.where(share < 0.5, below + share * step, above - (1 - share) * step)


@in_numpy(np.nanpercentile)
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    shares = [one / 100 for one in q] if is_sequence(q) else q / 100
    return np.nanquantile(a, shares, axis, out, overwrite_input, method, keepdims, weights=weights)


@in_numpy(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * math.pi) -> Any:
    """Adds multiples of the period, which are locally constant, so that neighbours differ by at most half of it."""
    p = array_like(p)
    axis = axis_of(axis, p.ndim)
    steps = np.diff(p, axis=axis)
    half = period / 2
    wrapped = np.remainder(steps + half, period) - half
    wrapped = np.where(np.logical_and(wrapped == -half, steps > 0), half, wrapped)
    limit = half if discont is None else max(discont, half)
    whole = np.where(np.abs(steps) < limit, 0.0, np.rint((wrapped - steps) / period)) * period
    rows = np.moveaxis(p, axis, 0)
    moved = np.concatenate((rows[:1], rows[1:] + np.cumsum(np.moveaxis(whole, axis, 0), axis=0)), 0)
    return np.moveaxis(moved, 0, axis)
