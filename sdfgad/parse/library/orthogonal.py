"""Orthogonal polynomials, spherical harmonics and elliptic integrals of scipy.special.

Polynomials by their recurrences of three terms (Abramowitz and Stegun, Handbook of Mathematical Functions (1964), table
22.7), of degrees that are known while parsing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, dtype_of_call, fixed_int
from sdfgad.parse.library.degrees import floating
from sdfgad.parse.registry import definitions, optional

_special = definitions("scipy.special")


def _degree(n: Any) -> Any:
    """A degree as an integer that is known while parsing."""
    if np.ndim(n) > 0 or int(n) != n or n < 0:
        raise ValueError("the degree of a polynomial is one whole number that is not negative: loop over several")
    return fixed_int(int(n))


def _double(x: Any) -> Any:
    """In double precision, as SciPy's for a degree that is an integer."""
    x = array_like(x)
    return x.astype(np.result_type(x.dtype, np.float64))


def _following(n: Any, first: Any, second: Any, step: Any) -> Any:
    """The polynomial of degree n by those of degrees 0 and 1, and a step from degrees k and k - 1 to k + 1."""
    n = _degree(n)
    if n == 0:
        return first
    before, last = first, second
    for k in range(1, n):
        before, last = last, step(k, last, before)
    return last


@_special("eval_legendre")
def eval_legendre(n: Any, x: Any) -> Any:
    x = _double(x)
    return _following(n, np.ones_like(x), x, lambda k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))


@_special("eval_chebyt")
def eval_chebyt(n: Any, x: Any) -> Any:
    x = _double(x)
    return _following(n, np.ones_like(x), x, lambda k, p, q: 2 * x * p - q)


@_special("eval_chebyu")
def eval_chebyu(n: Any, x: Any) -> Any:
    x = _double(x)
    return _following(n, np.ones_like(x), 2 * x, lambda k, p, q: 2 * x * p - q)


@_special("eval_hermite")
def eval_hermite(n: Any, x: Any) -> Any:
    """Of physicists."""
    x = _double(x)
    return _following(n, np.ones_like(x), 2 * x, lambda k, p, q: 2 * x * p - 2 * k * q)


@_special("eval_hermitenorm")
def eval_hermitenorm(n: Any, x: Any) -> Any:
    """Of probability theory."""
    x = _double(x)
    return _following(n, np.ones_like(x), x, lambda k, p, q: x * p - k * q)


@_special("eval_laguerre")
def eval_laguerre(n: Any, x: Any) -> Any:
    return eval_genlaguerre(n, 0.0, x)


@_special("eval_genlaguerre")
def eval_genlaguerre(n: Any, alpha: Any, x: Any) -> Any:
    x = _double(x)
    first, second = np.ones_like(alpha + x), 1 + alpha - x
    return _following(n, first, second, lambda k, p, q: ((2 * k + 1 + alpha - x) * p - (k + alpha) * q) / (k + 1))


@_special("eval_gegenbauer")
def eval_gegenbauer(n: Any, alpha: Any, x: Any) -> Any:
    x = _double(x)
    first, second = np.ones_like(alpha + x), 2 * alpha * x
    return _following(n, first, second, lambda k, p, q: (2 * (k + alpha) * x * p - (k + 2 * alpha - 1) * q) / (k + 1))


@_special("eval_jacobi")
def eval_jacobi(n: Any, alpha: Any, beta: Any, x: Any) -> Any:
    x = _double(x)

    def step(k: Any, p: Any, q: Any) -> Any:
        s = 2 * k + alpha + beta
        turned = (s + 1) * ((s + 2) * s * x + alpha * alpha - beta * beta) * p
        return (turned - 2 * (k + alpha) * (k + beta) * (s + 2) * q) / (2 * (k + 1) * (k + alpha + beta + 1) * s)

    second = (alpha + 1) + (alpha + beta + 2) * 0.5 * (x - 1)
    return _following(n, np.ones_like(second), second, step)


@optional("scipy.special._orthogonal", "orthopoly1d.__call__", is_definition=True)
def value_of_object(self: Any, v: Any) -> Any:
    """Of a polynomial that scipy.special has made, by its roots: coefficients of a high degree lose digits."""
    if self._eval_func is None:
        return np.polyval(self.coeffs, v)
    v = array_like(v)
    kind = dtype_of_call(self._eval_func, v.dtype)
    if len(self.coeffs) == 1:
        return np.full(v.shape, self.coeffs[0], kind)
    return (self.coeffs[0] * np.prod(v[..., None] - self.weights[:, 0], axis=-1)).astype(kind)


# --- associated Legendre functions and spherical harmonics


def _associated(degree: Any, order: Any, x: Any, root: Any) -> Any:
    """Legendre functions of the first kind with the phase ``(-1) ** order``; `root` is ``sqrt(1 - x**2)``."""
    first = np.ones_like(x)
    for k in range(order):
        first = -(2 * k + 1) * first * root
    if degree == order:
        return first
    before, last = first, (2 * order + 1) * x * first
    for k in range(order + 1, degree):
        before, last = last, ((2 * k + 1) * x * last - (k + order) * before) / (k - order + 1)
    return last


@_special("lpmv")
def lpmv(m: Any, v: Any, x: Any) -> Any:
    order, degree, x = _degree(m), _degree(v), floating(x)
    if order > degree:
        return 0.0 * x
    return _associated(degree, order, x, np.sqrt(1 - x * x) if order > 0 else x)


@_special("sph_harm_y")
def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """Spherical harmonics of the polar angle `theta` and the azimuth `phi`, of degree n and order m."""
    if np.ndim(m) > 0 or int(m) != m:
        raise ValueError("the order of a spherical harmonic is one whole number: loop over several")
    degree, size, sign = _degree(n), fixed_int(abs(int(m))), 1 if m >= 0 else -1
    theta, phi = _double(theta), _double(phi)
    if size > degree:
        return 0j * (theta + phi)
    norm = math.sqrt((2 * degree + 1) / (4 * math.pi) * math.factorial(degree - size) / math.factorial(degree + size))
    norm = -norm if sign < 0 and size % 2 == 1 else norm
    # Of an angle outside of [0, pi], too, SciPy takes the size of the sine; at a pole its slope is that from inside.
    sine = np.sin(theta)
    value = norm * _associated(degree, size, np.cos(theta), np.where(sine < 0, -sine, sine))
    return value * np.exp(1j * sign * size * phi)


# --- complete elliptic integrals


# Each step of the mean doubles the number of digits.
STEPS = 8


def _means(start: Any) -> Any:
    """The arithmetic-geometric mean of 1 and a number, and the sum of ``2**(k - 1)`` times the squared differences."""
    a, b, total = np.ones_like(start), start, 0.5 * (1 - start * start)
    for k in range(STEPS):
        half = 0.5 * (a - b)
        a, b = 0.5 * (a + b), np.sqrt(a * b)
        total = total + 2.0**k * half * half
    return a, total


@_special("ellipk")
def ellipk(m: Any) -> Any:
    """Of the first kind, of the parameter m < 1, by the arithmetic-geometric mean (Abramowitz and Stegun, 17.6)."""
    return 0.5 * math.pi / _means(np.sqrt(1 - floating(m)))[0]


@_special("ellipkm1")
def ellipkm1(p: Any) -> Any:
    return 0.5 * math.pi / _means(np.sqrt(floating(p)))[0]


@_special("ellipe")
def ellipe(m: Any) -> Any:
    """Of the second kind, of the parameter m < 1."""
    mean, total = _means(np.sqrt(1 - floating(m)))
    return 0.5 * math.pi / mean * (1 - total)


# --- elementary ones


@_special("softplus")
def softplus(x: Any) -> Any:
    return np.logaddexp(0.0, floating(x))


@_special("cosm1")
def cosm1(x: Any) -> Any:
    return -2 * np.sin(0.5 * floating(x)) ** 2


@_special("powm1")
def powm1(x: Any, y: Any) -> Any:
    """Of a positive x."""
    return np.expm1(y * np.log(x))
