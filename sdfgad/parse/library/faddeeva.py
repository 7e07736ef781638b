"""The Faddeeva function w(z) = exp(-z**2) erfc(-iz) and the Voigt profile, of scipy.special.

Above the real axis w(z) = (i / pi) integral of exp(-t**2) / (z - t), by the trapezoidal or the midpoint rule, whichever
has no point near z, and with the residue at z where that is nearer to the axis than pi / h (Chiarella and Reichel,
Mathematics of Computation 22 (1968), 137; the choice is that of Al Azah and Chandler-Wilde, SIAM Journal on Numerical
Analysis 59 (2021), 2346). The derivatives of these sums have no cancellation, as w'(z) = 2i / sqrt(pi) - 2 z w(z) has.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.functions.special import held, sf
from sdfgad.parse.library.degrees import floating
from sdfgad.parse.registry import definitions

_special = definitions("scipy.special")
# So many points on each side leave out terms of exp(-12 pi), and the rules are as near to the integral.
POINTS = 12
STEP = math.sqrt(math.pi / POINTS)
REACH = math.pi / STEP


def _above(x: Any, y: Any) -> Any:
    """The real and imaginary part of w(x + iy) for y >= 0."""
    is_shifted = np.abs(np.mod(held(x) / STEP, 1.0) - 0.5) > 0.25
    real, imaginary = _sums(x[..., None], y[..., None], is_shifted[..., None])
    is_near = y < REACH
    residue_real, residue_imaginary = _residue(x, np.where(is_near, y, 0.0), np.where(is_shifted, -1.0, 1.0))
    return real + np.where(is_near, residue_real, 0.0), imaginary + np.where(is_near, residue_imaginary, 0.0)


def _sums(x: Any, y: Any, is_shifted: Any) -> Any:
    """The sums of a rule over the points t and -t, along the last axis."""
    count = np.arange(0.0, POINTS)
    t = (count + np.where(is_shifted, 0.5, 0.0)) * STEP
    at_origin = np.logical_and(count == 0.0, np.logical_not(is_shifted))
    weights = np.where(at_origin, 0.5, 1.0) * (2.0 * STEP / math.pi) * np.exp(-t * t)
    near, far = np.square(x - t) + y * y, np.square(x + t) + y * y
    real = weights * (y / near) * ((x * x + y * y + t * t) / far)
    imaginary = weights * (x / near) * ((x * x + y * y - t * t) / far)
    return np.sum(real, axis=-1), np.sum(imaginary, axis=-1)


def _residue(x: Any, y: Any, sign: Any) -> Any:
    """``2 exp(-z**2) / (1 - sign * exp(-2 pi i z / h))``; where z is in the middle between two points it is 0."""
    size, angle, turn = 2.0 * np.exp(y * y - x * x), 2.0 * x * y, 2.0 * REACH * x
    growth = np.exp(2.0 * REACH * y)
    real, imaginary = 1.0 - sign * growth * np.cos(turn), sign * growth * np.sin(turn)
    square = real * real + imaginary * imaginary
    cosine, sine = np.cos(angle), -np.sin(angle)
    return (
        size * (cosine * real + sine * imaginary) / square,
        size * (sine * real - cosine * imaginary) / square,
    )


def faddeeva(x: Any, y: Any) -> Any:
    """The real and imaginary part of w(x + iy); below the axis, w(z) = 2 exp(-z**2) - w(-z)."""
    is_below = y < 0.0
    real, imaginary = _above(np.where(is_below, -x, x), np.abs(y))
    low = np.where(is_below, y, 0.0)
    size = 2.0 * np.exp(low * low - x * x)
    return (
        np.where(is_below, size * np.cos(2.0 * x * low) - real, real),
        np.where(is_below, -size * np.sin(2.0 * x * low) - imaginary, imaginary),
    )


@_special("wofz")
def wofz(z: Any) -> Any:
    """The Faddeeva function; of real numbers by Dawson's integral."""
    z = array_like(z)
    if not np.iscomplexobj(z):
        z = z.astype(np.float64)
        return np.exp(-z * z) + 2j / math.sqrt(math.pi) * sf.dawsn(z)
    real, imaginary = faddeeva(np.real(z).astype(np.float64), np.imag(z).astype(np.float64))
    return (real + 1j * imaginary).astype(z.dtype)


@_special("voigt_profile")
def voigt_profile(x: Any, sigma: Any, gamma: Any) -> Any:
    """The convolution of a normal and a Cauchy density: ``real(w(z)) / (sigma sqrt(2 pi))`` for z = (x + i gamma) /
    (sigma sqrt(2)), and Cauchy's density for sigma = 0, where it is even in sigma, which has the derivative 0 then.
    """
    x, sigma, gamma = floating(x), floating(sigma), floating(gamma)
    kind = np.result_type(x.dtype, sigma.dtype, gamma.dtype)
    x, sigma, gamma = np.broadcast_arrays(x.astype(np.float64), sigma.astype(np.float64), gamma.astype(np.float64))
    is_sharp, is_far = sigma == 0.0, np.logical_or(np.isinf(x), np.isinf(gamma))
    x, gamma = np.where(is_far, 0.0, x), np.where(is_far, 0.0, gamma)
    width = np.where(is_sharp, 1.0, sigma) * math.sqrt(2.0)
    real, _ = faddeeva(x / width, gamma / width)
    square = x * x + gamma * gamma
    is_point = square == 0.0
    cauchy = np.where(is_point, np.inf, gamma / (math.pi * np.where(is_point, 1.0, square)))
    density = np.where(is_sharp, cauchy, real / (width * math.sqrt(math.pi)))
    return np.where(is_far, 0.0, density).astype(kind)
