"""Splines of scipy.interpolate in the manner of FITPACK: `splrep`, `splev`, and splines of one and two variables that
go through all points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.library.bsplines import basis, differentiated, inside, integrated, interpolated, spline_values
from sdfgad.parse.library.bsplines import integral as integral_between
from sdfgad.parse.registry import definitions

_interpolation = definitions("scipy.interpolate")
_of_splines = definitions("scipy.interpolate._fitpack2")
MODES = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}


@_interpolation("splrep")
def splrep(
    x: Any,
    y: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: Any = 3,
    task: Any = 0,
    s: Any = None,
    t: Any = None,
    full_output: Any = 0,
    per: Any = 0,
    quiet: Any = 1,
) -> Any:
    """The knots, coefficients and degree of a spline through points."""
    _require_interpolation(0 if s is None and w is None else s)
    if xb is not None or xe is not None or task != 0 or t is not None or full_output or per:
        raise NotImplementedError("splrep with these arguments is not supported: give x, y and k only")
    return _through(x, y, k)


def _require_interpolation(s: Any) -> None:
    if s is None or s != 0:
        raise NotImplementedError("a smoothing spline is not supported: give s=0, or fit it before the program")


def _through(x: Any, y: Any, k: Any) -> Any:
    x, y, k = array_like(x).astype(np.float64), array_like(y).astype(np.float64), fixed_int(k)
    if y.ndim != 1:
        raise ValueError("a spline takes a vector of points and a vector of values")
    t, c = interpolated(x, y, k, None, [[], []])
    return t, np.concatenate((c, np.zeros(k + 1))), k


@_interpolation("splev")
def splev(x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any:
    t, c, k = (tck.t, tck.c, tck.k) if hasattr(tck, "tck") else tck
    if isinstance(c, list):
        return [splev(x, (t, one, k), der, ext) for one in c]
    t, k, x = array_like(t), fixed_int(k), array_like(x).astype(np.float64)
    mode = MODES[ext] if isinstance(ext, str) else ext
    is_outside = np.logical_or(x < t[k], x > t[t.shape[0] - k - 1])
    if mode == 2 and np.any(is_outside):
        raise ValueError("a point is outside of the interval of the spline")
    values = spline_values(t, array_like(c), k, inside(t, k, x) if mode == 3 else x, der)
    return np.where(is_outside, 0.0, values) if mode == 1 else values


@_interpolation("splint")
def splint(a: Any, b: Any, tck: Any, full_output: Any = 0) -> Any:
    """The integral of a spline that is 0 outside of its interval."""
    if full_output:
        raise NotImplementedError("splint with full_output is not supported: leave it out")
    t, c, k = tck
    t, k = array_like(t), fixed_int(k)
    return integral_between(t, array_like(c), k, inside(t, k, a), inside(t, k, b))


# --- splines of one variable


class Univariate:
    """A spline through points of the program, with the methods of SciPy's UnivariateSpline."""

    def __init__(self, tck: Any, ext: Any) -> None:
        self._eval_args, self.ext = tck, MODES[ext] if isinstance(ext, str) else ext

    def __call__(self, x: Any, nu: Any = 0, ext: Any = None) -> Any:
        return called(self, x, nu, ext)

    def derivative(self, n: Any = 1) -> Any:
        return derivative(self, n)

    def antiderivative(self, n: Any = 1) -> Any:
        return antiderivative(self, n)

    def integral(self, a: Any, b: Any) -> Any:
        return integral(self, a, b)


@_interpolation("InterpolatedUnivariateSpline")
def interpolated_univariate_spline(
    x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: Any = 3, ext: Any = 0, check_finite: Any = False
) -> Any:
    return univariate_spline(x, y, w, bbox, k, 0, ext, check_finite)


@_interpolation("UnivariateSpline")
def univariate_spline(
    x: Any,
    y: Any,
    w: Any = None,
    bbox: Any = (None, None),
    k: Any = 3,
    s: Any = None,
    ext: Any = 0,
    check_finite: Any = False,
) -> Any:
    _require_interpolation(s)
    if bbox[0] is not None or bbox[1] is not None:
        raise NotImplementedError("a spline with bbox is not supported: leave it out")
    return Univariate(_through(x, y, k), ext)


@_of_splines("UnivariateSpline.__call__")
def called(self: Any, x: Any, nu: Any = 0, ext: Any = None) -> Any:
    return splev(x, self._eval_args, nu, self.ext if ext is None else ext)


@_of_splines("UnivariateSpline.derivative")
def derivative(self: Any, n: Any = 1) -> Any:
    t, c, k = self._eval_args
    # Behind the ends, the derivative of a constant is 0.
    return Univariate(differentiated(array_like(t), array_like(c), fixed_int(k), n), 1 if self.ext == 3 else self.ext)


@_of_splines("UnivariateSpline.antiderivative")
def antiderivative(self: Any, n: Any = 1) -> Any:
    t, c, k = self._eval_args
    return Univariate(integrated(array_like(t), array_like(c), fixed_int(k), n), self.ext)


@_of_splines("UnivariateSpline.integral")
def integral(self: Any, a: Any, b: Any) -> Any:
    return splint(a, b, self._eval_args)


# --- splines of two variables


class Bivariate:
    """A spline through points of a grid, with the methods of SciPy's RectBivariateSpline."""

    def __init__(self, tck: Any, degrees: Any) -> None:
        self.tck, self.degrees = tck, degrees

    def __call__(self, x: Any, y: Any, dx: Any = 0, dy: Any = 0, grid: Any = True) -> Any:
        return surface(self, x, y, dx, dy, grid)

    def ev(self, xi: Any, yi: Any, dx: Any = 0, dy: Any = 0) -> Any:
        return surface(self, xi, yi, dx, dy, False)


@_interpolation("RectBivariateSpline")
def rect_bivariate_spline(
    x: Any, y: Any, z: Any, bbox: Any = (None, None, None, None), kx: Any = 3, ky: Any = 3, s: Any = 0
) -> Any:
    _require_interpolation(s)
    if not all(limit is None for limit in bbox):
        raise NotImplementedError("a spline with bbox is not supported: leave it out")
    x, y, z = (array_like(one).astype(np.float64) for one in (x, y, z))
    tx, half = interpolated(x, z, fixed_int(kx), None, [[], []])
    ty, c = interpolated(y, half.T, fixed_int(ky), None, [[], []])
    return Bivariate((tx, ty, np.ravel(c.T)), (kx, ky))


@_of_splines("BivariateSpline.ev")
def ev(self: Any, xi: Any, yi: Any, dx: Any = 0, dy: Any = 0) -> Any:
    return surface(self, xi, yi, dx, dy, False)


@_of_splines("_BivariateSplineBase.__call__")
def surface(self: Any, x: Any, y: Any, dx: Any = 0, dy: Any = 0, grid: Any = True) -> Any:
    """A spline of two variables at points, or on the grid of them; points outside are taken at the edge."""
    tx, ty, c = (array_like(one) for one in self.tck)
    kx, ky = fixed_int(self.degrees[0]), fixed_int(self.degrees[1])
    shape = fixed_int(tx.shape[0]) - kx - 1, fixed_int(ty.shape[0]) - ky - 1
    x, y = (array_like(one).astype(np.float64) for one in (x, y))
    x, y, c = inside(tx, kx, x), inside(ty, ky, y), np.reshape(c, shape)
    if grid:
        return spline_values(ty, spline_values(tx, c, kx, np.ravel(x), dx).T, ky, np.ravel(y), dy).T
    tx, c, kx = differentiated(tx, c, kx, dx)
    ty, c, ky = differentiated(ty, c.T, ky, dy)
    x, y = np.broadcast_arrays(x, y)
    (i, bells), (j, others) = basis(tx, kx, np.ravel(x)), basis(ty, ky, np.ravel(y))
    result = 0.0
    for p in range(kx + 1):
        for q in range(ky + 1):
            result = result + bells[p] * others[q] * c[j + q, i + p]
    return np.reshape(result, x.shape)
