"""Tensor products of B-splines through values on a grid: the smooth methods of RegularGridInterpolator.

The coefficients solve the equations along one axis after another (de Boor, A Practical Guide to Splines (1978), chapter
XVII). Where SciPy solves them by an iteration, its values differ by up to 1e-4 of the largest one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.library.bsplines import basis, differentiated, interpolated

DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}


class GridSpline:
    """The knots and coefficients, and the degree along each axis, as SciPy's NdBSpline has them."""

    def __init__(self, t: Any, c: Any, k: Any) -> None:
        self.t, self.c, self.k = t, c, k


def through_grid(grid: Any, values: Any, method: Any) -> GridSpline:
    """The spline through values, whose knots are those of `make_interp_spline` along each axis."""
    degree, knots = DEGREES[method], []
    for axis, points in enumerate(grid):
        if fixed_int(points.shape[0]) <= degree:
            raise ValueError("a spline on a grid needs more points along each axis than its degree: use 'linear'")
        rows = np.moveaxis(values, axis, 0)
        flat = np.reshape(rows, (fixed_int(rows.shape[0]), -1))
        t, c = interpolated(points, flat.astype(np.result_type(flat.dtype, np.float64)), degree, None, [[], []])
        knots.append(t)
        values = np.moveaxis(np.reshape(c, rows.shape), 0, axis)
    return GridSpline(knots, values, [degree] * len(knots))


def values_at(spline: Any, parts: Any, nu: Any) -> Any:
    """The values of a spline, or of its derivative of the orders `nu`, at points given by coordinates."""
    c, count, shape = array_like(spline.c), len(parts), parts[0].shape
    trailing = (1,) * (c.ndim - count)
    index: Any = []
    weights: Any = 1.0
    for axis in range(count):
        t, rows, k = array_like(spline.t[axis]), np.moveaxis(c, axis, 0), fixed_int(spline.k[axis])
        order = 0 if nu is None else fixed_int(nu[axis])
        if order > k:
            return np.zeros(shape + c.shape[count:], c.dtype)
        t, rows, k = differentiated(t, rows, k, order)
        c = np.moveaxis(rows, 0, axis)
        first, bells = basis(t, k, np.ravel(parts[axis]))
        wide = (1,) * axis + (k + 1,) + (1,) * (count - axis - 1) + shape
        index.append(np.reshape(np.stack([first + j for j in range(k + 1)]), wide))
        weights = weights * np.reshape(np.stack(bells), wide + trailing)
    return np.sum(weights * c[tuple(index)], axis=tuple(range(count)))
