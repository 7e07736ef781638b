"""Descriptive statistics of scipy.stats: moments, means, dispersion, correlation and regression of samples."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int, inexact, is_known, part_of
from sdfgad.parse.functions.special import root_of_squares, sf
from sdfgad.parse.registry import optional


class LinregressResult(NamedTuple):
    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


class TestResult(NamedTuple):
    statistic: Any
    pvalue: Any


def _stats(name: str) -> Any:
    return optional("scipy.stats", name, is_definition=True)


def _sample(a: Any, axis: Any, nan_policy: Any = "propagate") -> Any:
    """The numbers, in floating point, and the axis: all of them where it is None."""
    if nan_policy != "propagate":
        raise ValueError("nan_policy other than 'propagate' is not supported: leave it out, or select x[~np.isnan(x)]")
    a = array_like(a)
    a = a.astype(inexact(a.dtype))
    return (np.ravel(a), 0) if axis is None else (a, axis_of(axis, a.ndim))


def _central(a: Any, order: Any, axis: Any, keepdims: Any = False) -> Any:
    return np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** order, axis=axis, keepdims=keepdims)


@_stats("moment")
def moment(
    a: Any, order: Any = 1, axis: Any = 0, nan_policy: Any = "propagate", *, center: Any = None, keepdims: Any = False
) -> Any:
    if not is_known(order) or np.ndim(order) > 0:
        raise ValueError("scipy.stats.moment takes one constant order: write a number, moment(x, 3)")
    a, axis = _sample(a, axis, nan_policy)
    if center is None:
        return _central(a, order, axis, keepdims)
    return np.mean((a - center) ** order, axis=axis, keepdims=keepdims)


@_stats("skew")
def skew(
    a: Any, axis: Any = 0, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> Any:  # fmt: skip
    """The third standardised moment, of the population, or corrected for the bias of a sample."""
    a, axis = _sample(a, axis, nan_policy)
    value = _central(a, 3, axis, keepdims) / _central(a, 2, axis, keepdims) ** 1.5
    n = a.shape[axis]
    return value if bias or n < 3 else np.sqrt((n - 1.0) * n) / (n - 2.0) * value


@_stats("kurtosis")
def kurtosis(
    a: Any, axis: Any = 0, fisher: Any = True, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> Any:
    """The fourth standardised moment, less 3 by Fisher's definition."""
    a, axis = _sample(a, axis, nan_policy)
    value = _central(a, 4, axis, keepdims) / _central(a, 2, axis, keepdims) ** 2
    n = a.shape[axis]
    if not bias and n > 3:
        value = ((n**2 - 1.0) * value - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return value - 3 if fisher else value


@_stats("zscore")
def zscore(a: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    return zmap(a, a, axis, ddof, nan_policy)


@_stats("zmap")
def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    compare = array_like(compare)
    _sample(compare, None, nan_policy)
    mean = np.mean(compare, axis=axis, keepdims=True)
    return (array_like(scores) - mean) / np.std(compare, axis=axis, ddof=ddof, keepdims=True)


@_stats("sem")
def sem(
    a: Any, axis: Any = 0, ddof: Any = 1, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> Any:  # fmt: skip
    """The standard error of the mean."""
    a, axis = _sample(a, axis, nan_policy)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / math.sqrt(a.shape[axis])


@_stats("variation")
def variation(
    a: Any, axis: Any = 0, nan_policy: Any = "propagate", ddof: Any = 0, *, keepdims: Any = False
) -> Any:  # fmt: skip
    """The coefficient of variation."""
    a, axis = _sample(a, axis, nan_policy)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


# --- means


def _require_no_limits(limits: Any) -> None:
    if limits is not None:
        raise ValueError("limits of a sample are not supported: select x[(x > low) & (x < high)]")


@_stats("tmean")
def tmean(a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = None) -> Any:
    _require_no_limits(limits)
    return np.mean(array_like(a), axis=axis)


@_stats("tstd")
def tstd(a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: Any = 1) -> Any:
    _require_no_limits(limits)
    return np.std(array_like(a), axis=axis, ddof=ddof)


@_stats("tvar")
def tvar(a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: Any = 1) -> Any:
    _require_no_limits(limits)
    return np.var(array_like(a), axis=axis, ddof=ddof)


def _averaged(a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """An average, with weights in the shape of the array."""
    return np.average(a, axis=axis, weights=weights, keepdims=keepdims)


def _weights(weights: Any, axis: Any) -> Any:
    return weights if weights is None else np.ravel(weights) if axis is None else weights


@_stats("gmean")
def gmean(
    a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None, nan_policy: Any = "propagate", *,
    keepdims: Any = False
) -> Any:  # fmt: skip
    """The geometric mean."""
    weights = _weights(weights, axis)
    a, axis = _sample(a if dtype is None else array_like(a).astype(dtype), axis, nan_policy)
    return np.exp(_averaged(np.log(a), axis, weights, keepdims))


@_stats("hmean")
def hmean(
    a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None, nan_policy: Any = "propagate",
    keepdims: Any = False
) -> Any:  # fmt: skip
    """The harmonic mean."""
    weights = _weights(weights, axis)
    a, axis = _sample(a if dtype is None else array_like(a).astype(dtype), axis, nan_policy)
    return 1.0 / _averaged(1.0 / a, axis, weights, keepdims)


@_stats("pmean")
def pmean(
    a: Any, p: Any, *, axis: Any = 0, dtype: Any = None, weights: Any = None, nan_policy: Any = "propagate",
    keepdims: Any = False
) -> Any:  # fmt: skip
    """The power mean of an exponent that is not 0."""
    if is_known(p) and p == 0:
        return gmean(a, axis, dtype, weights, nan_policy, keepdims=keepdims)
    weights = _weights(weights, axis)
    a, axis = _sample(a if dtype is None else array_like(a).astype(dtype), axis, nan_policy)
    return _averaged(a**p, axis, weights, keepdims) ** (1 / p)


@_stats("gstd")
def gstd(
    a: Any, axis: Any = 0, ddof: Any = 1, *, keepdims: Any = False, nan_policy: Any = "propagate"
) -> Any:  # fmt: skip
    """The geometric standard deviation."""
    a, axis = _sample(a, axis, nan_policy)
    return np.exp(np.std(np.log(a), axis=axis, ddof=ddof, keepdims=keepdims))


@_stats("trim_mean")
def trim_mean(
    a: Any, proportiontocut: Any, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:  # fmt: skip
    """The mean without a share of the smallest and of the largest numbers."""
    a, axis = _sample(a, axis, nan_policy)
    n = fixed_int(a.shape[axis])
    cut = int(proportiontocut * n)
    return np.mean(part_of(np.sort(a, axis=axis), axis, cut, n - cut), axis=axis, keepdims=keepdims)


# --- order statistics


@_stats("iqr")
def iqr(
    x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, nan_policy: Any = "propagate",
    interpolation: Any = "linear", keepdims: Any = False
) -> Any:  # fmt: skip
    """The interquartile range."""
    a, axis = _sample(x, axis, nan_policy)
    low, high = np.percentile(a, rng, axis=axis, method=interpolation, keepdims=keepdims)
    return (high - low) / (1.3489795003921634 if scale == "normal" else scale)


@_stats("median_abs_deviation")
def median_abs_deviation(
    x: Any, axis: Any = 0, center: Any = np.median, scale: Any = 1.0, nan_policy: Any = "propagate", *,
    keepdims: Any = False
) -> Any:  # fmt: skip
    a, axis = _sample(x, axis, nan_policy)
    middle = np.expand_dims(center(a, axis=axis), axis)
    value = np.median(np.abs(a - middle), axis=axis, keepdims=keepdims)
    return value / (0.6744897501960817 if scale == "normal" else scale)


# --- information, correlation and regression


@_stats("entropy")
def entropy(
    pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:  # fmt: skip
    """Shannon's entropy, or the relative entropy (Kullback and Leibler's divergence), of what sums to 1."""
    p, axis = _sample(pk, axis, nan_policy)
    p = p / np.sum(p, axis=axis, keepdims=True)
    if qk is None:
        terms = -sf.xlogy(p, p)
    else:
        q = array_like(qk)
        terms = sf.xlogy(p, p / (q / np.sum(q, axis=axis, keepdims=True)))
    total = np.sum(terms, axis=axis, keepdims=keepdims)
    return total if base is None else total / np.log(base)


def _correlation(x: Any, y: Any) -> Any:
    dx, dy = x - np.mean(x), y - np.mean(y)
    size = root_of_squares(np.sum(dx * dx)) * root_of_squares(np.sum(dy * dy))
    return np.clip(np.sum(dx * dy) / size, -1.0, 1.0)


def _two(x: Any, y: Any) -> Any:
    x, y = _sample(x, 0)[0], _sample(y, 0)[0]
    if x.ndim != 1 or x.shape != y.shape or x.size < 3:
        raise ValueError("a correlation or regression takes two vectors of one length, 3 or more: loop over the rows")
    return x, y


@_stats("pearsonr")
def pearsonr(x: Any, y: Any) -> Any:
    """Pearson's correlation, and the probability of one as large from normal numbers that are not correlated."""
    x, y = _two(x, y)
    r, half = _correlation(x, y), 0.5 * x.size - 1.0
    return TestResult(r, 2 * sf.betainc(half, half, 0.5 * (1.0 - np.abs(r))))


@_stats("linregress")
def linregress(x: Any, y: Any) -> Any:
    """The least-squares line, its correlation, the probability of the slope under a true one of 0, and its error."""
    x, y = _two(x, y)
    dx, dy = x - np.mean(x), y - np.mean(y)
    slope, r = np.sum(dx * dy) / np.sum(dx * dx), _correlation(x, y)
    freedom = x.size - 2
    error = np.sqrt((1 - r**2) * np.sum(dy * dy) / np.sum(dx * dx) / freedom)
    p = 2 * sf.stdtr(1.0 * freedom, -np.abs(r) * np.sqrt(freedom / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20))))
    return LinregressResult(slope, np.mean(y) - slope * np.mean(x), r, p, error)
