"""Further functions of scipy.special: slopes of Bessel functions, probabilities, Fresnel integrals, means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.functions.special import sf
from sdfgad.parse.library.degrees import floating
from sdfgad.parse.library.faddeeva import faddeeva
from sdfgad.parse.library.orthogonal import eval_chebyt, eval_chebyu, eval_genlaguerre, eval_legendre
from sdfgad.parse.registry import definitions

_special = definitions("scipy.special")


def _together(*values: Any) -> Any:
    """Arguments in one floating dtype; a Python number takes that of the others."""
    kind = np.result_type(np.float32, *values)
    return [array_like(value).astype(kind) for value in values]


# --- slopes of Bessel functions (Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 9.1.27 and 9.6.26)


def _slope(f: Any, v: Any, z: Any, n: Any, signs: Any) -> Any:
    """The sum of the functions of the neighbouring orders, with their signs; of those that are not negative."""
    if n not in (0, 1):
        raise ValueError("the derivative of a Bessel function is only supported of the order 0 or 1: combine orders")
    if n == 0:
        return f(v, z)
    lower, upper = signs
    if v >= 1:
        return 0.5 * (lower * f(v - 1, z) + upper * f(v + 1, z))
    return upper * f(v + 1, z) if v == 0 else v / z * f(v, z) + upper * f(v + 1, z)


@_special("jvp")
def jvp(v: Any, z: Any, n: Any = 1) -> Any:
    from scipy.special import jv

    return _slope(jv, v, floating(z), n, (1.0, -1.0))


@_special("yvp")
def yvp(v: Any, z: Any, n: Any = 1) -> Any:
    from scipy.special import yv

    return _slope(yv, v, floating(z), n, (1.0, -1.0))


@_special("ivp")
def ivp(v: Any, z: Any, n: Any = 1) -> Any:
    from scipy.special import iv

    return _slope(iv, v, floating(z), n, (1.0, 1.0))


@_special("kvp")
def kvp(v: Any, z: Any, n: Any = 1) -> Any:
    from scipy.special import kv

    return _slope(kv, v, floating(z), n, (-1.0, -1.0))


# --- distribution functions (the same, chapter 26)


@_special("chdtr")
def chdtr(v: Any, x: Any) -> Any:
    v, x = _together(v, x)
    return sf.gammainc(0.5 * v, 0.5 * x)


@_special("chdtrc")
def chdtrc(v: Any, x: Any) -> Any:
    v, x = _together(v, x)
    return sf.gammaincc(0.5 * v, 0.5 * x)


@_special("fdtr")
def fdtr(dfn: Any, dfd: Any, x: Any) -> Any:
    n, m, x = _together(dfn, dfd, x)
    return sf.betainc(0.5 * n, 0.5 * m, n * x / (m + n * x))


@_special("fdtrc")
def fdtrc(dfn: Any, dfd: Any, x: Any) -> Any:
    n, m, x = _together(dfn, dfd, x)
    return sf.betainc(0.5 * m, 0.5 * n, m / (m + n * x))


@_special("gdtr")
def gdtr(a: Any, b: Any, x: Any) -> Any:
    a, b, x = _together(a, b, x)
    return sf.gammainc(b, a * x)


@_special("gdtrc")
def gdtrc(a: Any, b: Any, x: Any) -> Any:
    a, b, x = _together(a, b, x)
    return sf.gammaincc(b, a * x)


@_special("pdtr")
def pdtr(k: Any, m: Any) -> Any:
    k, m = _together(k, m)
    return sf.gammaincc(np.floor(k) + 1, m)


@_special("pdtrc")
def pdtrc(k: Any, m: Any) -> Any:
    k, m = _together(k, m)
    return sf.gammainc(np.floor(k) + 1, m)


# --- polynomials of other arguments


@_special("eval_sh_legendre")
def eval_sh_legendre(n: Any, x: Any) -> Any:
    return eval_legendre(n, 2 * x - 1)


@_special("eval_sh_chebyt")
def eval_sh_chebyt(n: Any, x: Any) -> Any:
    return eval_chebyt(n, 2 * x - 1)


@_special("eval_sh_chebyu")
def eval_sh_chebyu(n: Any, x: Any) -> Any:
    return eval_chebyu(n, 2 * x - 1)


@_special("eval_chebyc")
def eval_chebyc(n: Any, x: Any) -> Any:
    return 2 * eval_chebyt(n, 0.5 * x)


@_special("eval_chebys")
def eval_chebys(n: Any, x: Any) -> Any:
    return eval_chebyu(n, 0.5 * x)


@_special("assoc_laguerre")
def assoc_laguerre(x: Any, n: Any, k: Any = 0.0) -> Any:
    return eval_genlaguerre(n, k, x)


# --- others

# Terms of the series of Fresnel integrals, for arguments up to 1.
FRESNEL_TERMS = 10


def _fresnel_series(x: Any) -> Any:
    square = x * x * (0.5 * math.pi)
    sine, cosine, even, odd = 0.0, 0.0, 1.0, 1.0
    for n in range(FRESNEL_TERMS):
        even = 1.0 / math.factorial(2 * n) / (4 * n + 1) * (-1) ** n
        odd = 1.0 / math.factorial(2 * n + 1) / (4 * n + 3) * (-1) ** n
        cosine = cosine + even * square ** (2 * n)
        sine = sine + odd * square ** (2 * n + 1)
    return x * sine, x * cosine


@_special("fresnel")
def fresnel(z: Any) -> Any:
    """The integrals of the sine and of the cosine of ``pi t**2 / 2``; by the series, or the Faddeeva function on the
    line of the directions 1 + i (Abramowitz and Stegun, 7.3.22).
    """
    if np.iscomplexobj(z):
        raise ValueError("fresnel of complex numbers is not supported: pass real numbers")
    given = floating(z)
    x = given.astype(np.float64)
    size = np.abs(x)
    is_near = size < 1.0
    near_sine, near_cosine = _fresnel_series(np.where(is_near, x, 0.0))
    at = np.where(is_near, 1.0, size)
    real, imaginary = faddeeva(0.5 * math.sqrt(math.pi) * at, 0.5 * math.sqrt(math.pi) * at)
    c, s = np.cos(0.5 * math.pi * at * at), np.sin(0.5 * math.pi * at * at)
    real, imaginary = 0.5 * (1.0 - c * real + s * imaginary), 0.5 * (-s * real - c * imaginary)
    sign = np.sign(x)
    sine = np.where(is_near, near_sine, sign * (real + imaginary))
    cosine = np.where(is_near, near_cosine, sign * (real - imaginary))
    return sine.astype(given.dtype), cosine.astype(given.dtype)


@_special("agm")
def agm(a: Any, b: Any) -> Any:
    """The arithmetic-geometric mean of two numbers of one sign."""
    a, b = _together(a, b)
    sign = np.where(np.logical_and(a < 0, b < 0), -1, 1).astype(a.dtype)
    a, b = sign * a, sign * b
    for _ in range(10):
        a, b = 0.5 * (a + b), np.sqrt(a) * np.sqrt(b)
    return sign * a


@_special("diric")
def diric(x: Any, n: Any) -> Any:
    """The periodic sinc function, ``sin(n x / 2) / (n sin(x / 2))``."""
    if np.ndim(n) > 0 or int(n) != n or n < 1:
        raise ValueError("diric takes one positive whole number n: loop over several")
    x = array_like(x).astype(np.float64)
    below = np.sin(0.5 * x)
    is_pole = np.abs(below) < 1e-7
    sign = 1.0 if n % 2 == 1 else np.cos(math.pi * np.rint(x / (2 * math.pi)))
    return np.where(is_pole, sign, np.sin(0.5 * n * x) / (n * np.where(is_pole, 1.0, below)))
