"""Polynomials as objects, ``np.poly1d`` and ``np.polynomial.Polynomial``, and roots.

Coefficients are kept as they are: that a leading one is zero, so that NumPy's object has a lower degree, is data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.functions.truth import must_hold
from sdfgad.parse.registry import in_numpy

SERIES = np.polynomial.Polynomial
BASE = np.polynomial._polybase.ABCPolyBase


# --- np.poly1d


class Poly1d:
    """What ``np.poly1d`` makes here: coefficients from the highest power on."""

    def __init__(self, coefficients: Any) -> None:
        self.coeffs = coefficients

    @property
    def c(self) -> Any:
        return self.coeffs

    @property
    def coef(self) -> Any:
        return self.coeffs

    @property
    def order(self) -> Any:
        return self.coeffs.shape[0] - 1

    @property
    def o(self) -> Any:
        return self.order

    @property
    def roots(self) -> Any:
        return np.roots(self.coeffs)

    @property
    def r(self) -> Any:
        return self.roots

    def __len__(self) -> Any:
        return self.order

    def __call__(self, x: Any) -> Any:
        return np.polyval(self.coeffs, x)

    def __getitem__(self, k: Any) -> Any:
        """The coefficient of a power; 0 of one that there is not."""
        return self.coeffs[self.order - k] if 0 <= k <= self.order else 0.0

    def deriv(self, m: Any = 1) -> Any:
        return Poly1d(np.polyder(self.coeffs, m))

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        return Poly1d(np.polyint(self.coeffs, m, k))

    def __add__(self, other: Any) -> Any:
        return Poly1d(np.polyadd(self.coeffs, coefficients_of(other)))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return Poly1d(np.polyadd(self.coeffs, -coefficients_of(other)))

    def __rsub__(self, other: Any) -> Any:
        return Poly1d(np.polyadd(coefficients_of(other), -self.coeffs))

    def __mul__(self, other: Any) -> Any:
        return Poly1d(np.convolve(self.coeffs, coefficients_of(other)))

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, (Poly1d, np.poly1d)) or np.ndim(other) > 0:
            raise ValueError("a quotient of polynomials is not supported: divide by a number")
        return Poly1d(self.coeffs / other)

    def __neg__(self) -> Any:
        return Poly1d(-self.coeffs)

    def __pow__(self, n: Any) -> Any:
        result = np.ones(1)
        for _ in range(fixed_int(n)):
            result = np.convolve(result, self.coeffs)
        return Poly1d(result)


def coefficients_of(p: Any) -> Any:
    """Of an object, an array or a number."""
    if isinstance(p, (Poly1d, np.poly1d)):
        return p.coeffs
    return np.atleast_1d(array_like(p))


@in_numpy(np.poly1d, static=False)
def poly1d(c_or_r: Any, r: Any = False, variable: Any = None) -> Any:
    return Poly1d(np.poly(c_or_r) if r else coefficients_of(c_or_r))


@in_numpy(np.poly1d.__call__, static=False)
def value_of_poly1d(self: Any, val: Any) -> Any:
    """Of an object from outside of the program."""
    return np.polyval(self.coeffs, val)


# --- np.polynomial.Polynomial


class Series:
    """What ``np.polynomial.Polynomial`` makes here: coefficients from the lowest power on, of an argument in `domain`
    that is mapped to `window`.
    """

    def __init__(self, coef: Any, domain: Any, window: Any) -> None:
        self.coef, self.domain, self.window = coef, domain, window

    def degree(self) -> Any:
        return self.coef.shape[0] - 1

    def _map(self) -> Any:
        """The offset and the scale of the map."""
        (a, b), (c, d) = self.domain, self.window
        return (b * c - a * d) / (b - a), (d - c) / (b - a)

    def __call__(self, arg: Any) -> Any:
        if self.domain is None:
            return np.polyval(np.flip(self.coef), arg)
        offset, scale = self._map()
        return np.polyval(np.flip(self.coef), offset + scale * array_like(arg))

    def _like(self, coef: Any) -> Any:
        return Series(coef, self.domain, self.window)

    def deriv(self, m: Any = 1) -> Any:
        coef = np.flip(np.polyder(np.flip(self.coef), m))
        return self._like(coef if self.domain is None else coef * self._map()[1] ** m)

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        if self.domain is not None:
            raise ValueError("the integral of a polynomial with a domain is not supported: write p.convert().integ()")
        return self._like(np.flip(np.polyint(np.flip(self.coef), m, k)))

    def convert(self) -> Any:
        """In the usual domain."""
        if self.domain is None:
            return self
        offset, scale = self._map()
        result, power = self.coef[:1], np.ones(1)
        for k in range(1, fixed_int(self.coef.shape[0])):
            power = np.convolve(power, np.stack([offset, scale]))
            result = np.concatenate((result, np.zeros(1))) + self.coef[k] * power
        return Series(result, None, None)

    def _other(self, other: Any) -> Any:
        if isinstance(other, Series):
            if self.domain is not None or other.domain is not None:
                raise ValueError("polynomials with domains are combined: write p.convert() + q.convert()")
            return np.flip(other.coef)
        return np.flip(np.atleast_1d(array_like(other)))

    def __add__(self, other: Any) -> Any:
        return self._like(np.flip(np.polyadd(np.flip(self.coef), self._other(other))))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return self._like(np.flip(np.polyadd(np.flip(self.coef), -self._other(other))))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        return self._like(np.flip(np.convolve(np.flip(self.coef), self._other(other))))

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        return self._like(self.coef / other)

    def __neg__(self) -> Any:
        return self._like(-self.coef)

    def roots(self) -> Any:
        raise ValueError("roots of this object are not supported: write np.roots(p.coef[::-1])")


@in_numpy(SERIES, static=False)
def polynomial(coef: Any, domain: Any = None, window: Any = None, symbol: Any = "x") -> Any:
    if domain is None and window is None:
        return Series(np.atleast_1d(array_like(coef)), None, None)
    usual = (-1.0, 1.0)
    ends = [usual if one is None else (one[0], one[1]) for one in (domain, window)]
    return Series(np.atleast_1d(array_like(coef)), ends[0], ends[1])


@in_numpy(SERIES.fit, static=False)
def polynomial_fit(
    x: Any, y: Any, deg: Any, domain: Any = None, rcond: Any = None, full: Any = False, w: Any = None
) -> Any:
    """Least squares in the domain of the data, which is mapped to -1 to 1."""
    if full or rcond is not None or w is not None:
        raise ValueError("Polynomial.fit is only supported without full, rcond and w: use np.polyfit")
    x = array_like(x)
    ends = (np.min(x), np.max(x)) if domain is None else (domain[0], domain[1])
    made = Series(np.zeros(1), ends, (-1.0, 1.0))
    offset, scale = made._map()
    return made._like(np.flip(np.polyfit(offset + scale * x, y, deg)))


@in_numpy(BASE.__call__, static=False)
def value_of_series(self: Any, arg: Any) -> Any:
    """Of an object from outside of the program."""
    offset, scale = self.mapparms()
    at, c = offset + scale * array_like(arg), array_like(self.coef)
    if isinstance(self, np.polynomial.Chebyshev):
        return np.polynomial.chebyshev.chebval(at, c)
    if isinstance(self, np.polynomial.Legendre):
        return np.polynomial.legendre.legval(at, c)
    if isinstance(self, np.polynomial.Hermite):
        return np.polynomial.hermite.hermval(at, c)
    if isinstance(self, np.polynomial.HermiteE):
        return np.polynomial.hermite_e.hermeval(at, c)
    if isinstance(self, np.polynomial.Laguerre):
        return np.polynomial.laguerre.lagval(at, c)
    return np.polyval(np.flip(c), at)


# --- roots


@in_numpy(np.roots)
def roots(p: Any) -> Any:
    """The eigenvalues of the companion matrix, which are complex: where all of a real one are real, it is an error."""
    p = array_like(p)
    n = fixed_int(p.shape[0])
    if p.ndim != 1 or n < 2:
        raise ValueError("np.roots is only supported of a vector of two coefficients or more: pass such a vector")
    ends = np.stack([p[0], p[-1]])
    must_hold(ends != 0, "np.roots of coefficients that begin or end with zero is not supported", "Leave these out.")
    matrix = np.zeros((n - 1, n - 1), np.result_type(p.dtype, np.float64))
    matrix[0] = -p[1:] / p[0]
    for k in range(n - 2):
        matrix[k + 1, k] = 1.0
    return np.linalg.eigvals(matrix)


@in_numpy(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """The coefficients of the polynomial with these zeros."""
    zeros = array_like(seq_of_zeros)
    if zeros.ndim != 1 or np.iscomplexobj(zeros):
        raise ValueError("np.poly is only supported of a vector of real zeros: multiply the factors by np.convolve")
    result = np.ones(1)
    for k in range(fixed_int(zeros.shape[0])):
        result = np.concatenate((result, np.zeros(1))) - np.concatenate((np.zeros(1), zeros[k] * result))
    return result
