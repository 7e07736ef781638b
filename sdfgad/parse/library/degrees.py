"""Box-Cox transformations and trigonometry in degrees, of scipy.special, by elementary functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, inexact
from sdfgad.parse.registry import definitions

_special = definitions("scipy.special")


def floating(x: Any) -> Any:
    x = array_like(x)
    return x.astype(inexact(x.dtype))


def _pair(x: Any, y: Any) -> Any:
    """Both in a floating dtype; a Python number takes that of the other one."""
    if isinstance(y, (int, float)) and not isinstance(x, (int, float)):
        x = floating(x)
        return x, np.full((), y, x.dtype)
    if isinstance(x, (int, float)) and not isinstance(y, (int, float)):
        y = floating(y)
        return np.full((), x, y.dtype), y
    return floating(x), floating(y)


# --- power transformations


def power_less_one(u: Any, lmbda: Any) -> Any:
    """``expm1(lmbda u) / lmbda``; near 0, where that has derivatives with cancellation, by its series."""
    p = lmbda * np.where(np.isfinite(u), u, 0)
    is_small = np.logical_or(np.abs(lmbda * u) < 1e-3, lmbda == 0)
    near = u * (1 + p / 2 * (1 + p / 3 * (1 + p / 4 * (1 + p / 5 * (1 + p / 6)))))
    return np.where(is_small, near, np.expm1(lmbda * u) / np.where(is_small, 1, lmbda))


def logarithm_of_sum(x: Any, lmbda: Any) -> Any:
    """``log1p(lmbda x) / lmbda``, the inverse; near 0 by its series."""
    p = lmbda * x
    is_small = np.abs(p) < 1e-3
    near = x * (1 - p * (1 / 2 - p * (1 / 3 - p * (1 / 4 - p * (1 / 5 - p * (1 / 6 - p / 7))))))
    return np.where(is_small, near, np.log1p(np.where(is_small, 0, p)) / np.where(is_small, 1, lmbda))


@_special("boxcox")
def boxcox(x: Any, lmbda: Any) -> Any:
    x, lmbda = _pair(x, lmbda)
    return power_less_one(np.log(x), lmbda)


@_special("boxcox1p")
def boxcox1p(x: Any, lmbda: Any) -> Any:
    x, lmbda = _pair(x, lmbda)
    return power_less_one(np.log1p(x), lmbda)


@_special("inv_boxcox")
def inv_boxcox(x: Any, lmbda: Any) -> Any:
    x, lmbda = _pair(x, lmbda)
    return np.exp(logarithm_of_sum(x, lmbda))


@_special("inv_boxcox1p")
def inv_boxcox1p(x: Any, lmbda: Any) -> Any:
    x, lmbda = _pair(x, lmbda)
    return np.expm1(logarithm_of_sum(x, lmbda))


# --- angles in degrees


@_special("radian")
def radian(d: Any, m: Any, s: Any) -> Any:
    """Of degrees, minutes and seconds of arc; SciPy has it in double precision alone."""
    return np.deg2rad(np.float64(1.0) * floating(d) + (floating(m) + floating(s) / 60) / 60)


def _rest(x: Any) -> Any:
    """An angle less a multiple of 180 degrees, without rounding, and the sign that the cosine takes by that."""
    within = np.fmod(floating(x), 360)
    half = np.rint(within / 180)
    return within - 180 * half, 1 - 2 * np.remainder(half, 2)


def _complement(rest: Any) -> Any:
    return np.deg2rad(np.copysign(90, rest) - rest)


@_special("sindg")
def sindg(x: Any) -> Any:
    rest, sign = _rest(x)
    return sign * np.sin(np.deg2rad(rest))


@_special("cosdg")
def cosdg(x: Any) -> Any:
    rest, sign = _rest(x)
    return sign * np.where(np.abs(rest) < 45, np.cos(np.deg2rad(rest)), np.sin(np.deg2rad(90 - np.abs(rest))))


@_special("tandg")
def tandg(x: Any) -> Any:
    rest = _rest(x)[0]
    is_flat = np.abs(rest) <= 45
    return np.where(is_flat, np.tan(np.deg2rad(rest)), 1 / np.tan(np.where(is_flat, 1, _complement(rest))))


@_special("cotdg")
def cotdg(x: Any) -> Any:
    rest = _rest(x)[0]
    is_flat = np.abs(rest) <= 45
    return np.where(is_flat, 1 / np.tan(np.where(is_flat, np.deg2rad(rest), 1)), np.tan(_complement(rest)))
