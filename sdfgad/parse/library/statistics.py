"""Statistics over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axes_of
from sdfgad.parse.functions.special import root_of_squares
from sdfgad.parse.library.order import axes_last, unless_nan
from sdfgad.parse.registry import in_numpy


@in_numpy(np.var, method="var")
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    a = array_like(a)
    axes = axes_of(axis, a.ndim)
    centre = np.mean(a, axis=axes, dtype=dtype, keepdims=True, where=where) if mean is None else mean
    total = np.sum(_squared(a - centre), axis=axes, dtype=dtype, keepdims=keepdims, where=where)
    less = ddof if correction is None else correction
    if where is not True:
        number = np.sum(np.broadcast_to(where, a.shape), axis=axes, keepdims=keepdims) - less
        return _stored(total / np.maximum(number, 0).astype(total.dtype), out)
    return _stored(total / max(np.size(a, axes) - less, 0), out)


@in_numpy(np.std, method="std")
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    options = {"ddof": ddof, "keepdims": keepdims, "where": where, "mean": mean, "correction": correction}
    variance = np.var(a, axis=axis, dtype=dtype, **options)
    return _stored(root_of_squares(variance), out)


def _squared(x: Any) -> Any:
    """The squares of absolute values."""
    return np.square(x.real) + np.square(x.imag) if np.iscomplexobj(x) else np.square(x)


def _stored(result: Any, out: Any) -> Any:
    if out is None:
        return result
    out[...] = result
    return out


@in_numpy(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return _stored(np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims), out)


@in_numpy(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False) -> Any:
    a = array_like(a)
    axes = axes_of(axis, a.ndim)
    if weights is None:
        result = np.mean(a, axis=axes, keepdims=keepdims)
        total = np.full_like(result, np.size(a, axes))
        return (result, total) if returned else result
    weights = _along(array_like(weights), a, axis, axes)
    dtype = np.result_type(a.dtype, weights.dtype)
    if a.dtype.kind in "iub":
        dtype = np.result_type(dtype, np.float64)
    total = np.sum(weights, axis=axes, dtype=dtype, keepdims=keepdims)
    result = np.sum(np.multiply(a, weights, dtype=dtype), axis=axes, keepdims=keepdims) / total
    return (result, np.broadcast_to(total, result.shape)) if returned else result


def _along(weights: Any, a: Any, axis: Any, axes: Any) -> Any:
    """Weights of the elements along an axis, broadcast to the shape of the array."""
    if weights.ndim == a.ndim:
        return np.broadcast_to(weights, a.shape)
    if axis is None or weights.ndim != len(axes):
        raise ValueError("an axis must be given where weights and array differ in shape: pass axis=0, say")
    shape = tuple([a.shape[k] if k in axes else 1 for k in range(a.ndim)])
    return np.broadcast_to(np.reshape(weights, shape), a.shape)


# --- without NaNs


@in_numpy(np.nansum)
def nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return np.sum(_without_nan(array_like(a), 0), axis=axis, dtype=dtype, out=out, keepdims=keepdims)


@in_numpy(np.nanmean)
def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    a = array_like(a)
    if a.dtype.kind not in "fc":
        return np.mean(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims)
    count = _count(a, axis, keepdims)
    total = np.sum(_without_nan(a, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    return _stored(total / count.astype(total.real.dtype if total.dtype.kind == "c" else total.dtype), out)


@in_numpy(np.nanvar)
def nanvar(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    a = array_like(a)
    if a.dtype.kind not in "fc":
        return np.var(a, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims)
    centre = np.nanmean(a, axis=axis, dtype=dtype, keepdims=True)
    total = np.sum(_squared(np.where(np.isnan(a), 0, a - centre)), axis=axis, dtype=dtype, keepdims=keepdims)
    return _stored(total / (_count(a, axis, keepdims) - ddof).astype(total.dtype), out)


@in_numpy(np.nanstd)
def nanstd(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    return _stored(root_of_squares(np.nanvar(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)), out)


def _count(a: Any, axis: Any, keepdims: Any) -> Any:
    return np.sum(~np.isnan(a), axis=axis, keepdims=keepdims)


@in_numpy(np.nanmax)
def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return _of_numbers(np.max, a, -np.inf, axis, out, keepdims)


@in_numpy(np.nanmin)
def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return _of_numbers(np.min, a, np.inf, axis, out, keepdims)


def _of_numbers(extremum: Any, a: Any, other: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    """The extremum of what is not NaN, or NaN where all is."""
    a = array_like(a)
    result = extremum(_without_nan(a, other), axis=axis, keepdims=keepdims)
    if a.dtype.kind in "fc":
        result = np.where(np.all(np.isnan(a), axis=axis, keepdims=keepdims), np.nan, result)
    return _stored(result, out)


def _without_nan(a: Any, other: Any) -> Any:
    return np.where(np.isnan(a), other, a) if a.dtype.kind in "fc" else a


# --- covariance


@in_numpy(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    x = _variables(array_like(m), rowvar)
    if y is not None:
        x = np.concatenate((x, _variables(array_like(y), rowvar)), 0)
    x = x.astype(np.result_type(x.dtype, np.float64) if dtype is None else dtype)
    less = (0 if bias else 1) if ddof is None else ddof
    if fweights is not None or aweights is not None:
        return _weighted_cov(x, fweights, aweights, less)
    freedom = x.shape[1] - less
    centred = x - np.mean(x, axis=1, keepdims=True)
    other = np.conjugate(centred) if np.iscomplexobj(x) else centred
    # Of too few observations it is NaN.
    return np.squeeze(centred @ other.T * (1 / freedom if freedom > 0 else np.inf))


def _weighted_cov(x: Any, fweights: Any, aweights: Any, less: Any) -> Any:
    """The covariance with frequencies and weights of the observations, normalised as NumPy documents."""
    weights = 1.0 if fweights is None else array_like(fweights)
    weights = weights if aweights is None else weights * array_like(aweights)
    total = np.sum(weights)
    excess = 1.0 if aweights is None else np.sum(weights * aweights) / total
    centred = x - np.sum(x * weights, axis=1, keepdims=True) / total
    other = np.conjugate(centred) if np.iscomplexobj(x) else centred
    return np.squeeze((centred * weights) @ other.T / (total - less * excess))


def _variables(m: Any, rowvar: Any) -> Any:
    rows = np.atleast_2d(m)
    return rows.T if not rowvar and m.ndim != 1 else rows


@in_numpy(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    covariance = np.cov(x, y, rowvar, dtype=dtype)
    if covariance.ndim == 0:
        return covariance / covariance
    deviation = np.sqrt(np.diag(covariance))
    return np.clip(covariance / deviation[:, None] / deviation[None, :], -1, 1)


@in_numpy(np.median, static=True)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> Any:
    a = array_like(a)
    axes = axes_of(axis, a.ndim)
    ordered = np.sort(axes_last(a, axes))
    half = ordered.shape[-1] // 2
    result = np.mean(ordered[..., (ordered.shape[-1] - 1) // 2 : half + 1], axis=-1)
    result = unless_nan(ordered, result)
    return _stored(np.expand_dims(result, axes) if keepdims else result, out)
