"""Piecewise cubic interpolation of points of the program, as scipy.interpolate: splines, Hermite, PCHIP and Akima.

Each is the polynomial on every interval with the given values and slopes at its ends; they differ in the slopes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.factored import banded_solution
from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.library.interpolation import piecewise
from sdfgad.parse.registry import definitions, optional

_of_pieces = definitions("scipy.interpolate._interpolate")


class Cubic:
    """A piecewise polynomial of the program, with the attributes and methods of SciPy's."""

    def __init__(self, c: Any, x: Any, extrapolate: Any) -> None:
        self.c, self.x, self.extrapolate, self.axis = c, x, extrapolate, 0

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        return piecewise(self, x, nu, extrapolate)

    def derivative(self, nu: Any = 1) -> Any:
        return derivative(self, nu)

    def antiderivative(self, nu: Any = 1) -> Any:
        return antiderivative(self, nu)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        return integrate(self, a, b, extrapolate)


@_of_pieces("PPoly.derivative")
def derivative(self: Any, nu: Any = 1) -> Any:
    c = array_like(self.c)
    for _ in range(nu):
        k = c.shape[0] - 1
        powers = np.arange(k, 0, -1).astype(np.float64)
        c = c[:-1] * np.reshape(powers, (k,) + (1,) * (c.ndim - 1)) if k > 0 else 0.0 * c
    return _with_coefficients(self, c, self.extrapolate)


@_of_pieces("PPoly.antiderivative")
def antiderivative(self: Any, nu: Any = 1) -> Any:
    """The one that is 0 at the first knot; it has no period."""
    c, x = array_like(self.c), array_like(self.x)
    for _ in range(nu):
        k = c.shape[0]
        powers = np.arange(k, 0, -1).astype(np.float64)
        rest = c / np.reshape(powers, (k,) + (1,) * (c.ndim - 1))
        dx = np.reshape(x[1:] - x[:-1], (x.shape[0] - 1,) + (1,) * (c.ndim - 2))
        pieces = 0.0 * rest[0]
        for j in range(k):
            pieces = (pieces + rest[j]) * dx
        start = np.cumsum(np.concatenate((0.0 * pieces[:1], pieces[:-1])), axis=0)
        c = np.concatenate((rest, start[None]))
    return _with_coefficients(self, c, False if isinstance(self.extrapolate, str) else self.extrapolate)


@_of_pieces("PPoly.integrate")
def integrate(self: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    mode = self.extrapolate if extrapolate is None else extrapolate
    whole, x = antiderivative(self), array_like(self.x)
    if not isinstance(mode, str):
        return whole(b, extrapolate=mode) - whole(a, extrapolate=mode)
    period = x[-1] - x[0]
    periods = np.floor((b - x[0]) / period) - np.floor((a - x[0]) / period)
    ends = [whole(x[0] + np.remainder(limit - x[0], period)) for limit in (a, b)]
    return periods * whole(x[-1]) + ends[1] - ends[0]


def _with_coefficients(self: Any, c: Any, extrapolate: Any) -> Any:
    if self.axis != 0:
        raise NotImplementedError(
            "a piecewise polynomial along another axis than the first is not supported: make it with axis=0"
        )
    return Cubic(c, array_like(self.x), extrapolate)


def _interpolation(name: str) -> Any:
    return optional("scipy.interpolate", name, is_definition=True)


def _points(x: Any, y: Any, axis: Any) -> Any:
    """The knots, their distances, the values with the knots' axis in front, and the slopes of the intervals."""
    x, y = array_like(x).astype(np.float64), np.moveaxis(array_like(y), axis, 0)
    if x.ndim != 1 or x.shape[0] != y.shape[0] or x.shape[0] < 2:
        raise ValueError("an interpolation takes a vector of at least two knots, and a value for each of them")
    if axis % y.ndim != 0:
        raise NotImplementedError(
            "an interpolation along another axis than the first is not supported: transpose the values"
        )
    y = y.astype(np.result_type(y.dtype, np.float64))
    dx = np.reshape(x[1:] - x[:-1], (x.shape[0] - 1,) + (1,) * (y.ndim - 1))
    return x, dx, y, (y[1:] - y[:-1]) / dx


def _hermite(x: Any, dx: Any, y: Any, slope: Any, s: Any, extrapolate: Any) -> Any:
    """The cubic on each interval with the values y and the slopes s at its ends."""
    excess = (s[:-1] + s[1:] - 2.0 * slope) / dx
    c = np.stack((excess / dx, (slope - s[:-1]) / dx - excess, s[:-1], y[:-1]))
    return Cubic(c, x, extrapolate)


@_interpolation("CubicHermiteSpline")
def cubic_hermite_spline(x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    x, dx, y, slope = _points(x, y, axis)
    return _hermite(x, dx, y, slope, array_like(dydx).astype(y.dtype), True if extrapolate is None else extrapolate)


@_interpolation("PchipInterpolator")
def pchip_interpolator(x: Any, y: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    """Weighted harmonic means of the slopes beside a knot (Fritsch and Butland, 1984); 0 at local extrema."""
    x, dx, y, slope = _points(x, y, axis)
    if fixed_int(x.shape[0]) == 2:
        s = np.concatenate((slope, slope))
    else:
        left, right = 2.0 * dx[1:] + dx[:-1], dx[1:] + 2.0 * dx[:-1]
        is_monotone = slope[1:] * slope[:-1] > 0.0
        safe = [np.where(is_monotone, part, 1.0) for part in (slope[:-1], slope[1:])]
        inner = np.where(is_monotone, (left + right) / (left / safe[0] + right / safe[1]), 0.0)
        first = _end(dx[:1], dx[1:2], slope[:1], slope[1:2])
        last = _end(dx[-1:], dx[-2:-1], slope[-1:], slope[-2:-1])
        s = np.concatenate((first, inner, last))
    return _hermite(x, dx, y, slope, s, True if extrapolate is None else extrapolate)


def _end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """The slope of the parabola through the three points at an end, so limited that the curve keeps its shape."""
    d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    is_steep = np.logical_and(np.sign(m0) != np.sign(m1), np.abs(d) > 3.0 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(is_steep, 3.0 * m0, d))


@_interpolation("Akima1DInterpolator")
def akima(x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None) -> Any:
    """Means of the slopes beside a knot, weighted by how the slopes beyond them change (Akima, 1970)."""
    if method != "akima":
        raise NotImplementedError("this method of Akima1DInterpolator is not supported: use method='akima'")
    x, dx, y, slope = _points(x, y, axis)
    before = [3.0 * slope[:1] - 2.0 * slope[1:2], 2.0 * slope[:1] - slope[1:2]]
    after = [2.0 * slope[-1:] - slope[-2:-1], 3.0 * slope[-1:] - 2.0 * slope[-2:-1]]
    m = np.concatenate((*before, slope, *after))
    change = np.abs(m[1:] - m[:-1])
    left, right = change[2:], change[:-2]
    total = left + right
    is_flat = total <= 1e-9 * np.max(total)
    weighted = (left * m[1:-2] + right * m[2:-1]) / np.where(is_flat, 1.0, total)
    s = np.where(is_flat, 0.5 * (m[3:] + m[:-3]), weighted)
    return _hermite(x, dx, y, slope, s, False if extrapolate is None else extrapolate)


@_interpolation("CubicSpline")
def cubic_spline(x: Any, y: Any, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Any:
    """Slopes that make the second derivative continuous: a tridiagonal system, with a row for each end's condition."""
    x, dx, y, slope = _points(x, y, axis)
    is_periodic = isinstance(bc_type, str) and bc_type == "periodic"
    mode = extrapolate if extrapolate is not None else "periodic" if is_periodic else True
    if is_periodic:
        return _hermite(x, dx, y, slope, _periodic_slopes(dx, slope), mode)
    first, last = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    n, h = fixed_int(x.shape[0]), np.ravel(dx)
    if n == 2:
        first, last = (((1, slope[0]) if end == "not-a-knot" else end) for end in (first, last))
    if n == 3 and first == "not-a-knot" and last == "not-a-knot":
        middle = (h[1] * slope[:1] + h[0] * slope[1:]) / (h[0] + h[1])
        return _hermite(x, dx, y, slope, np.concatenate((2 * slope[:1] - middle, middle, 2 * slope[1:] - middle)), mode)
    band = np.zeros((3, n))
    band[1, 1:-1] = 2.0 * (h[:-1] + h[1:])
    band[0, 2:], band[2, :-2] = h[:-1], h[1:]
    band[1, 0], band[0, 1], right_first = _condition(first, h, slope, -0.5)
    band[1, -1], band[2, -2], right_last = _condition(last, h[::-1], slope[::-1], 0.5)
    inner = 3.0 * (dx[1:] * slope[:-1] + dx[:-1] * slope[1:])
    right = np.concatenate((right_first[None], inner, right_last[None]))
    flat = banded_solution(band, np.reshape(right, (n, -1)), 1, 1)
    return _hermite(x, dx, y, slope, np.reshape(flat, y.shape), mode)


def _condition(end: Any, h: Any, slope: Any, sign: Any) -> Any:
    """The two coefficients and the right side of an end's row; from the last end, with all in reverse order."""
    if isinstance(end, str):
        if end == "not-a-knot":
            d = h[0] + h[1]
            return h[1], d, ((h[0] + 2.0 * d) * h[1] * slope[0] + h[0] ** 2 * slope[1]) / d
        if end != "natural" and end != "clamped":
            raise NotImplementedError(
                "this end condition of CubicSpline is not supported: use 'not-a-knot', 'natural' or 'clamped'"
            )
        end = (2, 0.0) if end == "natural" else (1, 0.0)
    order, value = end
    if order == 1:
        return 1.0, 0.0, value + 0.0 * slope[0]
    return 2.0, 1.0, 3.0 * slope[0] + sign * value * h[0]


def _periodic_slopes(dx: Any, slope: Any) -> Any:
    """Those of a curve whose ends meet: a cyclic tridiagonal system."""
    h, n = np.ravel(dx), fixed_int(dx.shape[0])
    if n < 3:
        raise NotImplementedError("a periodic CubicSpline of less than four points is not supported: give more points")
    before, here = np.roll(h, 1), np.arange(n)
    matrix = np.zeros((n, n))
    matrix[here, here] = 2.0 * (before + h)
    matrix[here, (here + 1) % n] = before
    matrix[here, (here - 1) % n] = h
    right = 3.0 * (dx * np.roll(slope, 1, axis=0) + np.roll(dx, 1, axis=0) * slope)
    s = np.reshape(np.linalg.solve(matrix, np.reshape(right, (n, -1))), slope.shape)
    return np.concatenate((s, s[:1]))
