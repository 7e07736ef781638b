"""Interpolation, as in scipy.interpolate: piecewise polynomials that the program is given, and lines between points."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.registry import optional


@optional("scipy.interpolate._interpolate", "_PPolyBase.__call__", is_definition=True)
def piecewise(self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    """A piecewise polynomial or its derivative, by Horner's scheme; at a knot, that on its right."""
    knots = array_like(self.x)
    coefficients = array_like(self.c)
    mode = self.extrapolate if extrapolate is None else extrapolate
    if self.axis != 0:
        raise ValueError("a piecewise polynomial along another axis than the first is not supported")
    x = array_like(x).astype(np.float64)
    n = fixed_int(knots.shape[0])
    y = knots[0] + np.remainder(x - knots[0], knots[-1] - knots[0]) if mode == "periodic" else x
    place = np.clip(np.searchsorted(knots, y, side="right") - 1, 0, n - 2)
    trailing = coefficients.ndim - 2
    d = np.reshape(y - np.take(knots, place), x.shape + (1,) * trailing)
    degree = fixed_int(coefficients.shape[0]) - 1
    result = 0.0 * d * np.take(coefficients[0], place, axis=0)
    for k in range(degree + 1 - fixed_int(nu)):
        factor = 1.0
        for j in range(fixed_int(nu)):
            factor = factor * (degree - k - j)
        result = result * d + factor * np.take(coefficients[k], place, axis=0)
    if mode:
        return result
    outside = np.reshape(np.logical_or(x < knots[0], x > knots[-1]), x.shape + (1,) * trailing)
    return np.where(outside, np.nan, result)


class Interpolator:
    """A function between points of the program, as scipy.interpolate.interp1d makes it."""

    def __init__(self, x: Any, y: Any, kind: Any, bounds_error: Any, fill_value: Any) -> None:
        self.x = x
        self.y = y
        self.kind = kind
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, x: Any) -> Any:
        return _between(self.x, self.y, self.kind, self.bounds_error, self.fill_value, x)


@optional("scipy.interpolate", "interp1d", is_definition=True)
def interp1d(
    x: Any,
    y: Any,
    kind: Any = "linear",
    axis: Any = -1,
    copy: Any = True,
    bounds_error: Any = None,
    fill_value: Any = np.nan,
    assume_sorted: Any = False,
) -> Any:
    if axis not in (-1, 0):
        raise ValueError("scipy.interpolate.interp1d along this axis is not supported")
    x, y = (array_like(x).astype(np.float64), array_like(y))
    if not assume_sorted:
        order = np.argsort(x, kind="stable")
        x, y = (x[order], y[order])
    fails = True if bounds_error is None else bounds_error
    return Interpolator(x, y, kind, fails and not isinstance(fill_value, str), fill_value)


@optional("scipy.interpolate._polyint", "_Interpolator1D.__call__", is_definition=True)
def of_object(self: Any, x: Any) -> Any:
    """The call of an interpolator that was made before: of the points that it has."""
    if self._extrapolate:
        return _between(self.x, self.y, self._kind, False, "extrapolate", x)
    ends = (array_like(self._fill_value_below)[()], array_like(self._fill_value_above)[()])
    return _between(self.x, self.y, self._kind, self.bounds_error, ends, x)


def _between(knots: Any, values: Any, kind: Any, bounds_error: Any, fill_value: Any, x: Any) -> Any:
    knots, values, x = (array_like(knots), array_like(values), array_like(x).astype(np.float64))
    if values.ndim != 1:
        raise ValueError("scipy.interpolate.interp1d of more than one row of values is not supported")
    if bounds_error and np.any(np.logical_or(x < knots[0], x > knots[-1])):
        raise ValueError("a point is outside of the interpolation range")
    inner = _line(knots, values, x) if kind == "linear" else _step(knots, values, kind, x)
    if isinstance(fill_value, str):
        # Before the first point there is no previous one, and after the last there is no next one.
        is_without = x < knots[0] if kind == "previous" else x > knots[-1]
        return np.where(is_without, np.nan, inner) if kind in ("previous", "next") else inner
    below, above = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
    return np.where(x < knots[0], below, np.where(x > knots[-1], above, inner))


def _line(knots: Any, values: Any, x: Any) -> Any:
    """At a knot, the line on its left."""
    n = fixed_int(knots.shape[0])
    right = np.clip(np.searchsorted(knots, x), 1, n - 1)
    x0, y0 = (np.take(knots, right - 1), np.take(values, right - 1))
    slope = (np.take(values, right) - y0) / (np.take(knots, right) - x0)
    return slope * (x - x0) + y0


def _step(knots: Any, values: Any, kind: Any, x: Any) -> Any:
    n = fixed_int(knots.shape[0])
    if kind == "previous":
        place = np.searchsorted(knots, x, side="right") - 1
    elif kind == "next":
        place = np.searchsorted(knots, x, side="left")
    elif kind == "nearest":
        place = np.searchsorted((knots[1:] + knots[:-1]) / 2.0, x, side="left")
    else:
        raise ValueError("this kind of scipy.interpolate.interp1d is not supported: use CubicSpline before the program")
    return np.take(values, np.clip(place, 0, n - 1)) + 0.0 * x
