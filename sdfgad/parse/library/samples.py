"""Tests, transformations and circular statistics of samples, of scipy.stats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int, inexact
from sdfgad.parse.functions.special import sf
from sdfgad.parse.library.degrees import power_less_one
from sdfgad.parse.registry import definitions

_stats = definitions("scipy.stats")


# --- Student's tests


class Student:
    """What a t-test returns."""

    def __init__(self, statistic: Any, pvalue: Any, df: Any) -> None:
        self.statistic, self.pvalue, self.df = statistic, pvalue, df

    def __iter__(self) -> Any:
        return iter((self.statistic, self.pvalue))

    def __getitem__(self, k: Any) -> Any:
        return (self.statistic, self.pvalue)[k]


def _tested(t: Any, df: Any, alternative: Any) -> Student:
    if alternative not in ("two-sided", "less", "greater"):
        raise ValueError("the alternative of a test is 'two-sided', 'less' or 'greater'")
    degrees = df + 0.0 * t
    if alternative == "two-sided":
        p = 2.0 * sf.stdtr(degrees, -np.abs(t))
    else:
        p = sf.stdtr(degrees, t if alternative == "less" else -t)
    return Student(t, p, df)


def _require_plain(nan_policy: Any, others: Any) -> None:
    if nan_policy != "propagate" or any(option is not None for option in others):
        raise ValueError(
            "a t-test is only supported of all elements, without nan_policy, method and trim: leave them out"
        )


def _moments(x: Any, axis: Any) -> Any:
    """The mean, the variance and the number of elements along an axis."""
    x = array_like(x)
    if axis is None:
        x, axis = np.ravel(x), 0
    return np.mean(x, axis=axis), np.var(x, axis=axis, ddof=1), fixed_int(x.shape[axis])


@_stats("ttest_1samp")
def ttest_1samp(
    a: Any, popmean: Any, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided", *,
    keepdims: Any = False
) -> Any:  # fmt: skip
    _require_plain(nan_policy, (True if keepdims else None,))
    mean, variance, n = _moments(a, axis)
    return _tested((mean - popmean) / np.sqrt(variance / n), n - 1, alternative)


@_stats("ttest_rel")
def ttest_rel(
    a: Any, b: Any, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided", *,
    keepdims: Any = False
) -> Any:  # fmt: skip
    return ttest_1samp(array_like(a) - array_like(b), 0.0, axis, nan_policy, alternative, keepdims=keepdims)


@_stats("ttest_ind")
def ttest_ind(
    a: Any, b: Any, *, axis: Any = 0, equal_var: Any = True, nan_policy: Any = "propagate",
    alternative: Any = "two-sided", trim: Any = 0, method: Any = None, keepdims: Any = False
) -> Any:  # fmt: skip
    """Of equal variances, or Welch's (Biometrika 34 (1947), 28)."""
    _require_plain(nan_policy, (method, True if trim != 0 or keepdims else None))
    (mean_a, var_a, n), (mean_b, var_b, m) = _moments(a, axis), _moments(b, axis)
    if equal_var:
        df = n + m - 2.0
        error = ((n - 1) * var_a + (m - 1) * var_b) / df * (1.0 / n + 1.0 / m)
    else:
        of_a, of_b = var_a / n, var_b / m
        error = of_a + of_b
        df = error**2 / (of_a**2 / (n - 1) + of_b**2 / (m - 1))
    return _tested((mean_a - mean_b) / np.sqrt(error), df, alternative)


# --- transformations to normality


@_stats("boxcox")
def boxcox(x: Any, lmbda: Any = None, alpha: Any = None, optimizer: Any = None) -> Any:
    """Box and Cox, Journal of the Royal Statistical Society B 26 (1964), 211."""
    if lmbda is None:
        raise ValueError("scipy.stats.boxcox that finds lmbda is not supported: find it before, and pass it")
    x = array_like(x)
    return power_less_one(np.log(x.astype(inexact(x.dtype))), lmbda)


@_stats("boxcox_llf")
def boxcox_llf(lmb: Any, data: Any, *, axis: Any = 0, keepdims: Any = False, nan_policy: Any = "propagate") -> Any:
    if nan_policy != "propagate":
        raise ValueError("boxcox_llf with nan_policy is not supported: select x[~np.isnan(x)]")
    logs = np.log(array_like(data).astype(np.float64))
    if axis is None:
        logs, axis = np.ravel(logs), 0
    variance = np.var(power_less_one(logs, lmb), axis=axis, keepdims=keepdims)
    return (lmb - 1) * np.sum(logs, axis=axis, keepdims=keepdims) - logs.shape[axis] / 2 * np.log(variance)


@_stats("yeojohnson")
def yeojohnson(x: Any, lmbda: Any = None) -> Any:
    """Yeo and Johnson, Biometrika 87 (2000), 954."""
    if lmbda is None:
        raise ValueError("scipy.stats.yeojohnson that finds lmbda is not supported: find it before, and pass it")
    x = array_like(x)
    x = x.astype(inexact(x.dtype))
    is_negative = x < 0
    size = power_less_one(np.log1p(np.abs(x)), np.where(is_negative, 2 - lmbda, lmbda).astype(x.dtype))
    return np.where(is_negative, -size, size)


# --- angles


def _mean_angle(samples: Any, high: Any, low: Any, axis: Any, nan_policy: Any, keepdims: Any) -> Any:
    """The means of the cosine and of the sine, and the length of a radian."""
    if nan_policy != "propagate":
        raise ValueError("circular statistics with nan_policy are not supported: select x[~np.isnan(x)]")
    samples, turn = array_like(samples), (high - low) / (2 * math.pi)
    angle = (samples.astype(inexact(samples.dtype)) - low) / turn
    means = [np.mean(f, axis=axis, keepdims=keepdims) for f in (np.cos(angle), np.sin(angle))]
    return means[0], means[1], turn


@_stats("circmean")
def circmean(
    samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None, nan_policy: Any = "propagate", *,
    keepdims: Any = False
) -> Any:  # fmt: skip
    cosine, sine, turn = _mean_angle(samples, high, low, axis, nan_policy, keepdims)
    return np.mod(np.arctan2(sine, cosine), 2 * math.pi) * turn + low


@_stats("circvar")
def circvar(
    samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None, nan_policy: Any = "propagate", *,
    keepdims: Any = False
) -> Any:  # fmt: skip
    cosine, sine, _ = _mean_angle(samples, high, low, axis, nan_policy, keepdims)
    return 1.0 - np.hypot(cosine, sine)


@_stats("circstd")
def circstd(
    samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None, nan_policy: Any = "propagate", *,
    normalize: Any = False, keepdims: Any = False
) -> Any:  # fmt: skip
    cosine, sine, turn = _mean_angle(samples, high, low, axis, nan_policy, keepdims)
    width = np.sqrt(-2.0 * np.log(np.hypot(cosine, sine)))
    return width if normalize else width * turn
