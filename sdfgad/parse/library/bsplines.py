"""B-splines of scipy.interpolate: coefficients times basis functions, by the recursion of Cox and de Boor.

A spline of degree k has n coefficients and n + k + 1 knots; on the interval from knot t[l] to t[l + 1] there are the
k + 1 basis functions l - k to l.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.factored import banded_solution
from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.registry import definitions

_interpolation = definitions("scipy.interpolate")
_of_splines = definitions("scipy.interpolate._bsplines")


class Spline:
    """A spline of the program, with the attributes and methods of SciPy's BSpline."""

    def __init__(self, t: Any, c: Any, k: Any, extrapolate: Any) -> None:
        self.t, self.c, self.k, self.extrapolate, self.axis = t, c, k, extrapolate, 0

    @property
    def tck(self) -> Any:
        return self.t, self.c, self.k

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        return called(self, x, nu, extrapolate)

    def derivative(self, nu: Any = 1) -> Any:
        return derivative(self, nu)

    def antiderivative(self, nu: Any = 1) -> Any:
        return antiderivative(self, nu)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        return integrate(self, a, b, extrapolate)


@_interpolation("BSpline")
def b_spline(t: Any, c: Any, k: Any, extrapolate: Any = True, axis: Any = 0) -> Any:
    c = array_like(c)
    if axis % c.ndim != 0:
        raise NotImplementedError(
            "a spline along another axis than the first is not supported: write axis=0, and transpose the coefficients"
        )
    return Spline(array_like(t).astype(np.float64), c.astype(np.result_type(c.dtype, np.float64)), k, extrapolate)


@_of_splines("BSpline.__call__")
def called(self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    """A spline, also one that was made before the program, or its derivative at points."""
    t, c, k = _parts(self)
    x = array_like(x).astype(np.float64)
    mode = self.extrapolate if extrapolate is None else extrapolate
    first, last = t[k], t[t.shape[0] - k - 1]
    y = first + np.remainder(x - first, last - first) if mode == "periodic" else x
    result = spline_values(t, c, k, y, nu)
    if mode:
        return result
    outside = np.logical_or(x < first, x > last)
    return np.where(np.reshape(outside, x.shape + (1,) * (result.ndim - x.ndim)), np.nan, result)


def _parts(self: Any) -> Any:
    """The knots, coefficients and degree of a spline along the first axis."""
    if self.axis != 0:
        raise NotImplementedError("a spline along another axis than the first is not supported: make it with axis=0")
    return array_like(self.t), array_like(self.c), fixed_int(self.k)


@_of_splines("BSpline.derivative")
def derivative(self: Any, nu: Any = 1) -> Any:
    t, c, k = _parts(self)
    t, c, k = differentiated(t, c, k, nu)
    return Spline(t, c, k, self.extrapolate)


@_of_splines("BSpline.antiderivative")
def antiderivative(self: Any, nu: Any = 1) -> Any:
    is_periodic = isinstance(self.extrapolate, str)
    t, c, k = _parts(self)
    t, c, k = integrated(t, c, k, nu)
    return Spline(t, c, k, False if is_periodic else self.extrapolate)


@_of_splines("BSpline.integrate")
def integrate(self: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    mode = self.extrapolate if extrapolate is None else extrapolate
    if isinstance(mode, str):
        raise NotImplementedError("the integral of a periodic spline is not supported: integrate its antiderivative")
    t, c, k = _parts(self)
    if not mode:
        a, b = inside(t, k, a), inside(t, k, b)
    return integral(t, c, k, a, b)


# --- evaluation


def spline_values(t: Any, c: Any, k: Any, x: Any, nu: Any) -> Any:
    """A spline's values at points, or those of its derivative of the order nu; outside, the polynomials at its ends.

    Returns an array of the shape of the points, and those of the coefficients behind their first axis.
    """
    x = array_like(x).astype(np.float64)
    shape = x.shape + c.shape[1:]
    if nu > k:
        return np.zeros(shape, c.dtype)
    t, c, k = differentiated(t, c, k, nu)
    place, bells = basis(t, k, np.ravel(x))
    result = 0.0
    for j in range(k + 1):
        result = result + np.reshape(bells[j], bells[j].shape + (1,) * (c.ndim - 1)) * np.take(c, place + j, axis=0)
    return np.reshape(result, shape)


def basis(t: Any, k: Any, x: Any) -> Any:
    """For each point, the first of the k + 1 basis functions there, and the values of them all."""
    n = fixed_int(t.shape[0]) - k - 1
    interval = np.clip(np.searchsorted(t, x, side="right") - 1, k, n - 1)
    bells: Any = [np.ones(x.shape)]
    for degree in range(1, k + 1):
        higher, rest = [], 0.0
        for r in range(degree):
            right = np.take(t, interval + r + 1) - x
            left = x - np.take(t, interval + r + 1 - degree)
            share = bells[r] / (right + left)
            higher.append(rest + right * share)
            rest = left * share
        bells = [*higher, rest]
    return interval - k, bells


def differentiated(t: Any, c: Any, k: Any, nu: Any) -> Any:
    """The knots, coefficients and degree of a derivative."""
    for _ in range(nu):
        n = fixed_int(t.shape[0]) - k - 1
        dt = np.reshape(t[k + 1 : n + k] - t[1:n], (n - 1,) + (1,) * (c.ndim - 1))
        c = k * (c[1:n] - c[: n - 1]) / dt
        t, k = t[1:-1], k - 1
    return t, c, k


def integrated(t: Any, c: Any, k: Any, nu: Any) -> Any:
    """The knots, coefficients and degree of an antiderivative, which is 0 at the first knot."""
    for _ in range(nu):
        n = fixed_int(t.shape[0]) - k - 1
        dt = np.reshape(t[k + 1 :] - t[:n], (n,) + (1,) * (c.ndim - 1))
        sums = np.cumsum(c[:n] * dt, axis=0) / (k + 1)
        c = np.concatenate((np.zeros((1, *c.shape[1:]), c.dtype), sums))
        t, k = np.concatenate((t[:1], t, t[-1:])), k + 1
    return t, c, k


def integral(t: Any, c: Any, k: Any, a: Any, b: Any) -> Any:
    t, c, k = integrated(t, c, k, 1)
    return spline_values(t, c, k, b, 0) - spline_values(t, c, k, a, 0)


def inside(t: Any, k: Any, x: Any) -> Any:
    """Points, or the nearest ones of the interval on which a spline is defined."""
    return np.clip(x, t[k], t[t.shape[0] - k - 1])


# --- interpolation


@_interpolation("make_interp_spline")
def make_interp_spline(
    x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0, check_finite: Any = True
) -> Any:
    x, y = array_like(x).astype(np.float64), array_like(y)
    if axis % y.ndim != 0:
        raise NotImplementedError(
            "an interpolation along another axis than the first is not supported: transpose the values"
        )
    first, last = (bc_type, bc_type) if bc_type is None or isinstance(bc_type, str) else bc_type
    ends = [_conditions(first, y), _conditions(last, y)]
    t, c = interpolated(x, y.astype(np.result_type(y.dtype, np.float64)), fixed_int(k), t, ends)
    return Spline(t, c, k, True)


def _conditions(end: Any, y: Any) -> Any:
    """The orders and values of the derivatives that are prescribed at an end."""
    if end is None or (isinstance(end, str) and end == "not-a-knot"):
        return []
    if isinstance(end, str):
        if end != "natural" and end != "clamped":
            raise NotImplementedError(
                "this end condition of make_interp_spline is not supported: use 'not-a-knot', 'natural' or 'clamped'"
            )
        return [(2 if end == "natural" else 1, np.zeros(y.shape[1:]))]
    return list(end)


def interpolated(x: Any, y: Any, k: Any, t: Any, ends: Any) -> Any:
    """The knots, and the coefficients that make a spline go through points."""
    has_conditions = len(ends[0]) + len(ends[1]) > 0
    if t is None:
        t = np.concatenate((np.repeat(x[:1], k), x, np.repeat(x[-1:], k))) if has_conditions else _knots(x, k)
    t = array_like(t).astype(np.float64)
    if k < 2 and not has_conditions:
        return t, y
    n, below = fixed_int(t.shape[0]) - k - 1, len(ends[0])
    rows = fixed_int(x.shape[0])
    if rows + below + len(ends[1]) != n:
        raise ValueError("a spline needs as many points and conditions at its ends as it has coefficients")
    # A[i, j] is band[k + i - j, j].
    band = np.zeros((2 * k + 1, n))
    place, bells = basis(t, k, x)
    for j in range(k + 1):
        band[k + below + np.arange(rows) - place - j, place + j] = bells[j]
    for i, (order, _) in enumerate(ends[0]):
        _put_end(t, k, band, x[0], order, i, 0)
    for i, (order, _) in enumerate(ends[1]):
        _put_end(t, k, band, x[-1], order, below + rows + i, n - k - 1)
    values = [[np.broadcast_to(value, y.shape[1:])[None] for _, value in end] for end in ends]
    right = np.reshape(np.concatenate((*values[0], y, *values[1])), (n, -1))
    return t, np.reshape(banded_solution(band, right, k, k), (n, *y.shape[1:]))


def _put_end(t: Any, k: Any, band: Any, x: Any, order: Any, i: Any, start: Any) -> None:
    """Row i of the matrix: a derivative at an end, where there are k + 1 basis functions from `start` on."""
    n = fixed_int(t.shape[0]) - k - 1
    values = spline_values(t, np.eye(n)[:, start : start + k + 1], k, x, order)
    for j in range(k + 1):
        band[k + i - start - j, start + j] = values[j]


def _knots(x: Any, k: Any) -> Any:
    """Of odd degree, the points without those next to the ends ("not a knot"); of even degree, middles of them."""
    if k < 2:
        return np.concatenate((*[x[:1]] * k, x, x[-1:]))
    middle = x if k % 2 == 1 else (x[1:] + x[:-1]) / 2.0
    left_out = (k + 1) // 2
    return np.concatenate((np.repeat(x[:1], k + 1), middle[left_out:-left_out], np.repeat(x[-1:], k + 1)))
