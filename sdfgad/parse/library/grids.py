"""Interpolation on regular grids: RegularGridInterpolator and interpn of scipy.interpolate."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int, is_sequence
from sdfgad.parse.library.grid_splines import DEGREES, through_grid, values_at
from sdfgad.parse.registry import optional

METHODS = ("linear", "nearest", *DEGREES)


class GridInterpolator:
    """What ``RegularGridInterpolator`` returns here."""

    def __init__(self, points: Any, values: Any, method: Any, bounds_error: Any, fill_value: Any) -> None:
        self.grid, self.values, self.method = points, values, method
        self.bounds_error, self.fill_value = bounds_error, fill_value
        self._spline = through_grid(points, values, method) if method in DEGREES else None

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
        return of_grid(self, xi, method, nu=nu)


@optional("scipy.interpolate", "RegularGridInterpolator", is_definition=True)
def regular_grid_interpolator(
    points: Any,
    values: Any,
    method: Any = "linear",
    bounds_error: Any = True,
    fill_value: Any = np.nan,
    *,
    solver: Any = None,
    solver_args: Any = None,
) -> Any:
    """The equations of a spline are solved directly, whatever the solver."""
    values, grid = array_like(values), [array_like(axis) for axis in points]
    # As in SciPy, floating values are no copy: a later update of the array is seen.
    values = values if values.dtype.kind in "fc" else values.astype(np.float64)
    grid = [axis if axis.dtype.kind == "f" else axis.astype(np.float64) for axis in grid]
    for axis in grid:
        if np.any(axis[1:] <= axis[:-1]):
            raise ValueError("the points along an axis of a grid do not ascend")
    return GridInterpolator(grid, values, method, bounds_error, fill_value)


@optional("scipy.interpolate", "interpn", is_definition=True)
def interpn(
    points: Any, values: Any, xi: Any, method: Any = "linear", bounds_error: Any = True, fill_value: Any = np.nan
) -> Any:
    return regular_grid_interpolator(points, values, method, bounds_error, fill_value)(xi)


@optional("scipy.interpolate._rgi", "RegularGridInterpolator.__call__", is_definition=True)
def of_grid(self: Any, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
    """The call of an interpolator, also of one that was made before the program."""
    method = self.method if method is None else method
    if method not in METHODS:
        raise NotImplementedError(
            "this method of RegularGridInterpolator is not supported: use 'linear', 'nearest', 'slinear', 'cubic' or "
            "'quintic'"
        )
    if nu is not None and method not in DEGREES:
        raise ValueError("the derivatives of a RegularGridInterpolator are those of 'slinear', 'cubic' or 'quintic'")
    grid, values = [array_like(axis) for axis in self.grid], array_like(self.values)
    if is_sequence(xi) and len(xi) == len(grid) and np.ndim(xi[0]) > 0:
        parts: Any = np.broadcast_arrays(*[array_like(part) for part in xi])
    else:
        xi = array_like(xi)
        xi = xi[:, None] if len(grid) == 1 and xi.ndim == 1 else xi
        parts = [xi[..., axis] for axis in range(len(grid))]
    parts = [part.astype(np.float64) for part in parts]
    outside = [np.logical_or(x < axis[0], x > axis[-1]) for x, axis in zip(parts, grid, strict=True)]
    is_outside = np.any(np.stack(outside), axis=0)
    if self.bounds_error and np.any(is_outside):
        raise ValueError("a point is outside of the grid")
    if method in DEGREES:
        spline = self._spline if method == self.method else through_grid(grid, values, method)
        result = values_at(spline, parts, nu)
    else:
        result = _on_grid(grid, values, parts, method)
    if self.bounds_error or self.fill_value is None:
        return result
    trailing = (1,) * (values.ndim - len(grid))
    return np.where(np.reshape(is_outside, is_outside.shape + trailing), self.fill_value, result)


def _on_grid(grid: Any, values: Any, parts: Any, method: Any) -> Any:
    low, shares = [], []
    for x, axis in zip(parts, grid, strict=True):
        n = fixed_int(axis.shape[0])
        place = np.clip(np.searchsorted(axis, x, side="right") - 1, 0, n - 2)
        before, after = np.take(axis, place), np.take(axis, place + 1)
        low.append(place)
        shares.append((x - before) / (after - before))
    columns = parts[0].shape + (1,) * (values.ndim - len(grid))
    if method == "nearest":
        index = tuple([place + (share > 0.5).astype(np.int64) for place, share in zip(low, shares, strict=True)])
        return values[index] + 0.0 * np.reshape(parts[0], columns)
    return _corners(values, low, shares, columns)


def _corners(values: Any, low: Any, shares: Any, columns: Any) -> Any:
    """Multilinear interpolation: the corners of the cell of each point, weighted."""
    result = 0.0
    for corner in itertools.product((0, 1), repeat=len(low)):
        weight = 1.0
        for share, side in zip(shares, corner, strict=True):
            weight = weight * (share if side else 1.0 - share)
        index = tuple([place + side for place, side in zip(low, corner, strict=True)])
        result = result + np.reshape(weight, columns) * values[index]
    return result
