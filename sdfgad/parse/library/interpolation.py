"""Piecewise polynomials of scipy.interpolate that were made before the program, at points of the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.registry import optional


@optional("scipy.interpolate._interpolate", "_PPolyBase.__call__", is_definition=True)
def piecewise(self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    """A piecewise polynomial or its derivative, by Horner's scheme; at a knot, that on its right."""
    if hasattr(self, "from_derivatives"):
        raise NotImplementedError(
            "a polynomial in the Bernstein basis is not supported: make a PPoly of it, by PPoly.from_bernstein_basis"
        )
    knots = array_like(self.x)
    coefficients = array_like(self.c)
    mode = self.extrapolate if extrapolate is None else extrapolate
    if self.axis != 0:
        raise NotImplementedError(
            "a piecewise polynomial along another axis than the first is not supported: make it with axis=0"
        )
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
