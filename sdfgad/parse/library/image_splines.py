"""Splines through the elements of an array, between them and beyond its edges, as scipy.ndimage has them.

Coefficients of B-splines are the solution of a banded system along each axis, where SciPy has a recursive filter
(Unser, Aldroubi and Eden, IEEE Transactions on Signal Processing 41 (1993), 821). For the modes 'reflect' and
'grid-mirror', and axes of less than some ten elements, SciPy's differ, as its filter does not go through the elements.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.factored import banded_solution
from sdfgad.parse.functions.facts import fixed_int, is_known
from sdfgad.parse.functions.spline_bands import spline_band

# How coefficients continue beyond the edges; of 'grid-constant', what is there is zero, once `cval` is subtracted.
CONTINUED = {
    **{"constant": "mirror", "mirror": "mirror", "wrap": "mirror", "reflect": "half", "grid-mirror": "half"},
    **{"nearest": "edge", "grid-wrap": "period", "grid-constant": "zero"},
}
# So far from the edges SciPy continues an array before it computes coefficients.
MARGIN = 12
# A coefficient depends on elements as far away, to rounding, in a period of which the ends are cut off.
MEMORY = 48


def require_known(order: Any, mode: Any) -> None:
    if not is_known(order) or order not in (0, 1, 2, 3, 4, 5):
        raise ValueError("the order of a spline through an image is 0, 1, 2, 3, 4 or 5")
    if mode not in CONTINUED:
        raise ValueError(
            "the mode of an image is 'reflect', 'grid-mirror', 'constant', 'grid-constant', 'nearest', 'mirror', "
            "'grid-wrap' or 'wrap'"
        )


class ImageSpline:
    """The spline of an order through an array, or with the array's elements as coefficients (no `prefilter`)."""

    def __init__(self, values: Any, order: Any, mode: Any, cval: Any, prefilter: Any) -> None:
        require_known(order, mode)
        if values.dtype.kind not in "fc":
            raise ValueError("an image of integers is not supported: convert the array, x.astype(float)")
        self.shape, self.dtype = [fixed_int(extent) for extent in values.shape], values.dtype
        self.order, self.mode, self.cval = order, mode, cval
        self.continued, self.margin = CONTINUED[mode], 0
        values = values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)
        # The coefficients of a constant are the constant.
        values = values - cval if self.continued == "zero" else values
        if order > 1 and prefilter:
            if self.continued in ("edge", "zero"):
                kind: Any = "edge" if self.continued == "edge" else "constant"
                self.margin = MARGIN
                values = np.pad(values, MARGIN, kind)
            for axis in range(values.ndim):
                values = coefficients(values, order, axis, self.continued)
        self.coefficients = values

    def along_axes(self, places: Any) -> Any:
        """The values on the grid of some places on each axis."""
        result = self.coefficients
        for axis in range(len(places)):
            index, weights = self._taps(places[axis], axis)
            trailing = (1,) * (result.ndim - axis - 1)
            total = 0.0
            for j in range(self.order + 1):
                row = np.reshape(weights[j], weights[j].shape + trailing)
                total = total + row * np.take(result, index[j], axis=axis)
            result = total
        reach = [np.reshape(x, (-1,) + (1,) * (len(places) - axis - 1)) for axis, x in enumerate(places)]
        return self._finished(result, reach)

    def at_points(self, parts: Any) -> Any:
        """The values at points, of which each array has one coordinate; all products of coefficients and weights."""
        count, shape = len(parts), parts[0].shape
        index: Any = []
        weights: Any = 1.0
        for axis in range(count):
            places, shares = self._taps(parts[axis], axis)
            wide = (1,) * axis + (self.order + 1,) + (1,) * (count - axis - 1) + shape
            index.append(np.reshape(np.stack(places), wide))
            weights = weights * np.reshape(np.stack(shares), wide)
        total = np.sum(weights * self.coefficients[tuple(index)], axis=tuple(range(count)))
        return self._finished(total, parts)

    def _taps(self, x: Any, axis: Any) -> Any:
        """The places of the coefficients that a coordinate needs, and their weights."""
        n, order = self.shape[axis], self.order
        x = _folded(x, n, self.mode) + self.margin
        up = 0.0 if order % 2 == 1 else 0.5
        first = np.floor(x + up)
        weights = _bells(x + up - first, order)
        first = first.astype(np.int64) - order // 2
        extent = n + 2 * self.margin
        places = [first + j for j in range(order + 1)]
        if self.continued == "zero":
            weights = [
                np.where(np.logical_and(k >= 0, k < extent), w, 0.0) for k, w in zip(places, weights, strict=True)
            ]
        return [_continued(k, extent, self.continued) for k in places], weights

    def _finished(self, result: Any, parts: Any) -> Any:
        if self.continued == "zero":
            result = result + self.cval
        if self.mode == "constant":
            for x, n in zip(parts, self.shape, strict=True):
                result = np.where(np.logical_or(x < 0.0, x > n - 1), self.cval, result)
        return result.astype(self.dtype)


def coefficients(values: Any, order: Any, axis: Any, continued: Any) -> Any:
    """The coefficients along an axis, of which the band of the equations is solved."""
    n = fixed_int(values.shape[axis])
    if n == 1:
        return values
    rows = np.moveaxis(values, axis, 0)
    if continued == "period":
        rows = np.take(rows, np.arange(-MEMORY, n + MEMORY), axis=0, mode="wrap")
    count, half = fixed_int(rows.shape[0]), order // 2
    band = spline_band(count, order, continued in ("half", "edge"))
    found = banded_solution(band, np.reshape(rows, (count, math.prod(rows.shape[1:]))), half, half)
    found = np.reshape(found, rows.shape)
    return np.moveaxis(found[MEMORY : n + MEMORY] if continued == "period" else found, 0, axis)


def _bells(share: Any, order: Any) -> Any:
    """The B-splines that are not zero in a unit interval between integers, by de Boor's recursion."""
    bells: Any = [np.ones(share.shape)]
    for degree in range(1, order + 1):
        higher, rest = [], 0.0
        for r in range(degree):
            part = bells[r] / degree
            higher.append(rest + (r + 1.0 - share) * part)
            rest = (share + (degree - r - 1.0)) * part
        bells = [*higher, rest]
    return bells


def _folded(x: Any, n: Any, mode: Any) -> Any:
    """A coordinate beyond the edges, as one between them."""
    if mode == "mirror" and n > 1:
        period = 2.0 * n - 2.0
        size = np.abs(x)
        size = size - period * np.floor(size / period)
        # At n - 1/2, the last element is the nearest one on the way there alone.
        return np.where(size >= np.where(x < 0.0, n - 1.0, 1.0 * n), period - size, size)
    if mode in ("reflect", "grid-mirror"):
        shifted = np.mod(x + 0.5, 2.0 * n)
        return np.where(shifted > n, 2.0 * n - shifted, shifted) - 0.5
    if mode == "wrap" and n > 1:
        period = n - 1.0
        behind = x - period * np.floor(x / period)
        return np.where(x < 0.0, x + period * (np.floor(-x / period) + 1.0), np.where(x > period, behind, x))
    if mode == "grid-wrap":
        return np.mod(x, 1.0 * n)
    return 0.0 * x if mode in ("mirror", "wrap") else x


def _continued(k: Any, n: Any, continued: Any) -> Any:
    """The number of the coefficient that stands for one beyond the edges."""
    if continued == "period":
        return np.mod(k, n)
    if continued == "half":
        k = np.mod(k, 2 * n)
        return np.minimum(k, 2 * n - 1 - k)
    if continued == "mirror":
        k = np.mod(k, max(2 * n - 2, 1))
        return np.minimum(k, 2 * n - 2 - k)
    return np.clip(k, 0, n - 1)
