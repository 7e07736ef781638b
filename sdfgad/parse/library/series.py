"""Series of orthogonal polynomials: the functions of their coefficients.

Derivatives, integrals and conversions are linear in the coefficients, and products in those of each factor: NumPy
itself gives the matrices. What zeros at the end would make shorter, which is data, keeps its length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int, is_sequence
from sdfgad.parse.functions.linear_maps import matrix_of, product_of
from sdfgad.parse.registry import in_numpy

POWERS, CHEBYSHEV, LEGENDRE = np.polynomial.polynomial, np.polynomial.chebyshev, np.polynomial.legendre
HERMITE, HERMITE_E, LAGUERRE = np.polynomial.hermite, np.polynomial.hermite_e, np.polynomial.laguerre
FAMILIES = {
    "poly": POWERS,
    "cheb": CHEBYSHEV,
    "leg": LEGENDRE,
    "herm": HERMITE,
    "herme": HERMITE_E,
    "lag": LAGUERRE,
}
# From the polynomials of degrees k and k - 1 to that of degree k + 1, by name.
FOLLOWING = {
    "cheb": lambda k, x, last, before: 2 * x * last - before,
    "leg": lambda k, x, last, before: ((2 * k + 1) * x * last - k * before) / (k + 1),
    "herm": lambda k, x, last, before: 2 * x * last - 2 * k * before,
    "herme": lambda k, x, last, before: x * last - k * before,
    "lag": lambda k, x, last, before: ((2 * k + 1 - x) * last - k * before) / (k + 1),
}


def _mapped(matrix: Any, c: Any, axis: Any) -> Any:
    """A matrix times the series along an axis."""
    return np.moveaxis(np.tensordot(matrix, np.moveaxis(c, axis, 0), 1), 0, axis)


def _define(name: str, family: Any) -> None:
    original, integral = getattr(family, f"{name}der"), getattr(family, f"{name}int")
    value, multiplied = getattr(family, f"{name}val"), getattr(family, f"{name}mulx")

    @in_numpy(original)
    def derivative(c: Any, m: Any = 1, scl: Any = 1, axis: Any = 0) -> Any:
        c = array_like(c) * 1.0
        axis = axis_of(axis, c.ndim)
        return _mapped(matrix_of(original, fixed_int(c.shape[axis]), fixed_int(m)), c, axis) * scl**m

    @in_numpy(integral)
    def integrated(c: Any, m: Any = 1, k: Any = None, lbnd: Any = 0, scl: Any = 1, axis: Any = 0) -> Any:
        c = array_like(c) * 1.0
        axis = axis_of(axis, c.ndim)
        constants = [] if k is None else k if is_sequence(k) else [k]
        c = np.moveaxis(c, axis, 0)
        for i in range(fixed_int(m)):
            # Which is 0 at 0.
            c = np.tensordot(matrix_of(integral, fixed_int(c.shape[0])), c, 1) * scl
            constant = constants[i] if i < len(constants) else 0.0
            c = np.concatenate((c[:1] + (constant - value(lbnd, c)), c[1:]))
        return np.moveaxis(c, 0, axis)

    @in_numpy(multiplied)
    def times_x(c: Any) -> Any:
        c = array_like(c) * 1.0
        return matrix_of(multiplied, fixed_int(c.shape[0])) @ c

    @in_numpy(getattr(family, f"{name}add"))
    def added(c1: Any, c2: Any) -> Any:
        return np.flip(np.polyadd(np.flip(array_like(c1)), np.flip(array_like(c2))))

    @in_numpy(getattr(family, f"{name}sub"))
    def subtracted(c1: Any, c2: Any) -> Any:
        return np.flip(np.polyadd(np.flip(array_like(c1)), -np.flip(array_like(c2))))

    @in_numpy(getattr(family, f"{name}val2d"))
    def at_points(x: Any, y: Any, c: Any) -> Any:
        return value(y, value(x, c), tensor=False)

    @in_numpy(getattr(family, f"{name}val3d"))
    def at_points_in_space(x: Any, y: Any, z: Any, c: Any) -> Any:
        return value(z, value(y, value(x, c), tensor=False), tensor=False)

    @in_numpy(getattr(family, f"{name}grid2d"))
    def on_grid(x: Any, y: Any, c: Any) -> Any:
        return value(y, value(x, c))


def _define_orthogonal(name: str, family: Any) -> None:
    """What is another for powers."""
    product, following = getattr(family, f"{name}mul"), FOLLOWING[name]
    to_powers, from_powers = getattr(family, f"{name}2poly"), getattr(family, f"poly2{name}")

    @in_numpy(product)
    def multiplied(c1: Any, c2: Any) -> Any:
        c1, c2 = array_like(c1) * 1.0, array_like(c2) * 1.0
        return np.einsum("kij,i,j", product_of(product, fixed_int(c1.shape[0]), fixed_int(c2.shape[0])), c1, c2)

    @in_numpy(to_powers)
    def as_powers(c: Any) -> Any:
        c = array_like(c) * 1.0
        return matrix_of(to_powers, fixed_int(c.shape[0])) @ c

    @in_numpy(from_powers)
    def as_series(pol: Any) -> Any:
        pol = array_like(pol) * 1.0
        return matrix_of(from_powers, fixed_int(pol.shape[0])) @ pol

    @in_numpy(getattr(family, f"{name}vander"))
    def at_all_degrees(x: Any, deg: Any) -> Any:
        x = array_like(x) * 1.0
        columns = [np.ones_like(x)]
        for k in range(fixed_int(deg)):
            before = columns[k - 1] if k > 0 else np.zeros_like(x)
            columns.append(_first(name, x) if k == 0 else following(k, x, columns[k], before))
        return np.stack(columns, axis=-1)


def _first(name: str, x: Any) -> Any:
    """The polynomial of degree 1."""
    return 2 * x if name == "herm" else 1 - x if name == "lag" else x


def _define_fit(name: str, family: Any) -> None:
    matrix_at = getattr(family, f"{name}vander")

    @in_numpy(getattr(family, f"{name}fit"))
    def fit(x: Any, y: Any, deg: Any) -> Any:
        """Least squares on columns that are scaled to length 1."""
        matrix, y = matrix_at(array_like(x).astype(np.float64), deg), array_like(y).astype(np.float64)
        lengths = np.sqrt(np.sum(np.square(matrix), axis=0))
        cut = matrix.shape[0] * float(np.finfo(np.float64).eps)
        c = np.linalg.lstsq(matrix / lengths, y, cut)[0]
        return c / (lengths if y.ndim == 1 else lengths[:, None])


@in_numpy(POWERS.polyvander)
def polyvander(x: Any, deg: Any) -> Any:
    x = array_like(x)
    return np.stack([x**k for k in range(fixed_int(deg) + 1)], axis=-1)


@in_numpy(POWERS.polymul)
def polymul(c1: Any, c2: Any) -> Any:
    return np.convolve(array_like(c1), array_like(c2))


for _name, _family in FAMILIES.items():
    _define(_name, _family)
    _define_fit(_name, _family)
    if _name in FOLLOWING:
        _define_orthogonal(_name, _family)
