"""Interpolation of scattered points by radial basis functions, and of a few points by one polynomial.

The weights of the radial functions and the coefficients of the polynomial solve one system of equations, in which the
weights are orthogonal to polynomials (Fasshauer, Meshfree Approximation Methods with MATLAB (2007), chapter 6).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.functions.special import root_of_squares
from sdfgad.parse.library.splines import pchip_interpolator
from sdfgad.parse.registry import definitions, optional

_interpolation = definitions("scipy.interpolate")
# Of the squared distance: the functions, and the least degree of the polynomial, which is left out for -1.
KERNELS = {
    "linear": (lambda s: -root_of_squares(s), 0),
    "thin_plate_spline": (lambda s: 0.5 * s * np.log(np.where(s == 0.0, 1.0, s)), 1),
    "cubic": (lambda s: s * root_of_squares(s), 1),
    "quintic": (lambda s: -s * s * root_of_squares(s), 2),
    "multiquadric": (lambda s: -np.sqrt(s + 1.0), 0),
    "inverse_multiquadric": (lambda s: 1.0 / np.sqrt(s + 1.0), -1),
    "inverse_quadratic": (lambda s: 1.0 / (s + 1.0), -1),
    "gaussian": (lambda s: np.exp(-s), -1),
}
SCALE_INVARIANT = ("linear", "thin_plate_spline", "cubic", "quintic")


class Radial:
    """What ``RBFInterpolator`` returns here, with the attributes of SciPy's."""

    def __init__(self, y: Any, d: Any, smoothing: Any, kernel: Any, epsilon: Any, degree: Any) -> None:
        self.y, self.kernel, self.epsilon, self.neighbors = y, kernel, epsilon, None
        n, self.d_shape, self.d_dtype = fixed_int(y.shape[0]), d.shape[1:], d.dtype
        exponents = itertools.product(range(degree + 1), repeat=fixed_int(y.shape[1]))
        self.powers = [powers for powers in exponents if sum(powers) <= degree]
        low, high = np.min(y, axis=0), np.max(y, axis=0)
        self._shift, self._scale = 0.5 * (high + low), np.where(high == low, 1.0, 0.5 * (high - low))
        parts, count = _monomials(self, y), len(self.powers)
        system = np.zeros((n + count, n + count))
        system[:n, :n] = _kernels(self, y) + np.diag(np.broadcast_to(array_like(smoothing).astype(np.float64), (n,)))
        system[:n, n:] = parts
        system[n:, :n] = parts.T
        right = np.concatenate((np.reshape(d, (n, -1)), np.zeros((count, np.size(d) // n), d.dtype)))
        self._coeffs = np.linalg.solve(system, right)

    def __call__(self, x: Any) -> Any:
        return values_of_radial(self, x)


def _kernels(self: Any, x: Any) -> Any:
    """The radial function of each distance between points x and the centres."""
    apart = (x[:, None, :] - array_like(self.y)[None, :, :]) * self.epsilon
    return KERNELS[self.kernel][0](np.sum(apart * apart, axis=-1))


def _monomials(self: Any, x: Any) -> Any:
    at = (x - self._shift) / self._scale
    columns = []
    for powers in self.powers:
        column = np.ones(at.shape[0])
        for k, power in enumerate(powers):
            column = column * at[:, k] ** int(power)
        columns.append(column)
    return np.stack(columns, axis=1) if len(columns) > 0 else np.zeros((at.shape[0], 0))


@_interpolation("RBFInterpolator")
def rbf_interpolator(
    y: Any,
    d: Any,
    neighbors: Any = None,
    smoothing: Any = 0.0,
    kernel: Any = "thin_plate_spline",
    epsilon: Any = None,
    degree: Any = None,
) -> Any:
    if neighbors is not None:
        raise ValueError("RBFInterpolator with neighbors is not supported: leave it out")
    if kernel not in KERNELS or (epsilon is None and kernel not in SCALE_INVARIANT):
        raise ValueError("RBFInterpolator needs the name of a kernel, and epsilon for those that have a scale")
    y, d = array_like(y).astype(np.float64), array_like(d)
    d = d.astype(np.result_type(d.dtype, np.float64))
    least = KERNELS[kernel][1]
    degree = max(least, 0) if degree is None else fixed_int(degree)
    if y.ndim != 2 or degree < min(least, 0):
        raise ValueError("RBFInterpolator takes a matrix with a point in each row, and a degree of at least -1")
    return Radial(y, d, smoothing, kernel, 1.0 if epsilon is None else epsilon, degree)


@optional("scipy.interpolate._rbfinterp", "RBFInterpolator.__call__", is_definition=True)
def values_of_radial(self: Any, x: Any) -> Any:
    """Also of an interpolator that was made before the program."""
    if self.neighbors is not None:
        raise ValueError("RBFInterpolator with neighbors is not supported: leave it out")
    x = array_like(x).astype(np.float64)
    columns = np.concatenate((_kernels(self, x), _monomials(self, x)), axis=1)
    return np.reshape(columns @ array_like(self._coeffs), (x.shape[0], *self.d_shape))


# --- one polynomial through all points


def _weights(xi: Any) -> Any:
    """Those of the barycentric form (Berrut and Trefethen, SIAM Review 46 (2004), 501)."""
    n = fixed_int(xi.shape[0])
    apart = xi[:, None] - xi[None, :] + np.eye(n)
    return 1.0 / np.prod(apart, axis=1)


@_interpolation("lagrange")
def lagrange(x: Any, w: Any) -> Any:
    """The polynomial as an object of np.poly1d."""
    x, w = array_like(x).astype(np.float64), array_like(w)
    n, weights, total = fixed_int(x.shape[0]), _weights(x), 0.0
    for k in range(n):
        others = np.poly(np.concatenate((x[:k], x[k + 1 :]))) if n > 1 else np.ones(1)
        total = total + w[k] * weights[k] * others
    return np.poly1d(total)


@_interpolation("pchip_interpolate")
def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: Any = 0) -> Any:
    if axis != 0 or not isinstance(der, int):
        raise ValueError("pchip_interpolate takes one order of the derivative, along the first axis: loop over orders")
    return pchip_interpolator(xi, yi)(x, der)
