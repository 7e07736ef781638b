"""Roots of functions of one number, as in scipy.optimize, with derivatives by the implicit function theorem.

A root is found without derivatives: those of the steps are not the root's (bisection's are 0). Then chord steps
``x - f(x) / m`` are taken that leave the root as it is, and carry derivatives: with m near f'(x), k steps give the
root's derivative -f_p / f' up to the k-th power of 1 - f' / m. So m may be a difference quotient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like
from sdfgad.parse.functions.special import held
from sdfgad.parse.registry import optional

# Both one-sided differences agree with the slope so far; so many chord steps are then exact up to rounding.
AGREEMENT = 1e-3
CHORDS = 6
DEFAULT = 8.881784197001252e-16


class Equation:
    """A function of one number with the other arguments that it takes."""

    def __init__(self, function: Any, args: Any) -> None:
        self.function, self.args = function, args if isinstance(args, tuple) else (args,)

    def __call__(self, x: Any) -> Any:
        return np.reshape(array_like(self.function(x, *self.args)).astype(np.float64), ())


def _with_derivative(f: Equation, x: Any, scale: Any) -> Any:
    """The root with the derivative of the implicit function."""
    x = held(x)
    slope = _slope(f, x, held(scale))
    for _ in range(CHORDS):
        value = f(x)
        x = x - (value - held(value)) / slope
    return x


def _slope(f: Equation, x: Any, scale: Any) -> Any:
    """A difference quotient by steps so short that those of both sides agree."""
    h = 1e-3 * np.maximum(np.abs(x), scale)
    least = 1e-14 * np.maximum(np.abs(x), scale)
    middle, slope, is_sure = held(f(x)), 1.0 + 0.0 * x, False
    while not is_sure and h > least:
        ends = np.zeros(2)
        for side in range(2):
            ends[side] = held(f(x + h * (1.0 - 2.0 * side)))
        slope = (ends[0] - ends[1]) / (2.0 * h)
        apart = np.abs(ends[0] + ends[1] - 2.0 * middle)
        is_sure = np.logical_and(apart <= AGREEMENT * np.abs(ends[0] - ends[1]), slope != 0.0)
        h = 0.25 * h
    if not is_sure:
        raise RuntimeError("the derivative of a function at its root is zero, or not the same on both sides")
    return held(slope)


def _require_signs(fa: Any, fb: Any) -> None:
    if fa * fb > 0.0:
        raise ValueError("f(a) and f(b) must have different signs")


def _require_end(is_found: Any) -> None:
    if not is_found:
        raise RuntimeError("a root has not been found within maxiter iterations")


def _bisected(f: Equation, a: Any, b: Any, xtol: Any, rtol: Any, maxiter: Any) -> Any:
    left, right = held(f(a)), held(f(b))
    _require_signs(left, right)
    width, tried, is_found = b - a, 0, np.logical_or(left == 0.0, right == 0.0)
    x = np.where(left == 0.0, a, b)
    start = a
    while not is_found and tried < maxiter:
        width = 0.5 * width
        x = start + width
        value = held(f(x))
        start = np.where((value > 0.0) == (left > 0.0), x, start)
        is_found = np.logical_or(value == 0.0, np.abs(width) < xtol + rtol * np.abs(x))
        tried += 1
    _require_end(is_found)
    return x


def _interpolated(a: Any, b: Any, c: Any, fa: Any, fb: Any, fc: Any) -> Any:
    """The numerator and denominator of a step from b by the line or the inverse parabola through the points."""
    is_line = a == c
    s, half = fb / fa, 0.5 * (c - b)
    q, r = fa / fc, fb / fc
    above = np.where(is_line, 2.0 * half * s, s * (2.0 * half * q * (q - r) - (b - a) * (r - 1.0)))
    below = np.where(is_line, 1.0 - s, (q - 1.0) * (r - 1.0) * (s - 1.0))
    return np.abs(above), np.where(above > 0.0, -below, below)


def _by_brent(f: Equation, a: Any, b: Any, xtol: Any, rtol: Any, maxiter: Any) -> Any:
    """Brent's method (Algorithms for Minimization without Derivatives, 1973, chapter 4)."""
    fa, fb = held(f(a)), held(f(b))
    _require_signs(fa, fb)
    c, fc, step, before = a, fa, b - a, b - a
    tried, is_found = 0, False
    while not is_found and tried < maxiter:
        if np.abs(fc) < np.abs(fb):
            a, b, c, fa, fb, fc = b, c, b, fb, fc, fb
        tolerance, half = 0.5 * (xtol + rtol * np.abs(b)), 0.5 * (c - b)
        is_found = np.logical_or(fb == 0.0, np.abs(half) < tolerance)
        above, below = _interpolated(a, b, c, fa, fb, fc)
        is_usable = np.logical_and(np.abs(before) >= tolerance, np.abs(fa) > np.abs(fb))
        is_short = 2.0 * above < np.minimum(3.0 * half * below - np.abs(tolerance * below), np.abs(before * below))
        is_taken = np.logical_and(is_usable, is_short)
        before = np.where(is_taken, step, half)
        step = np.where(is_taken, above / below, half)
        if not is_found:
            a, fa = b, fb
            b = b + np.where(np.abs(step) > tolerance, step, np.where(half > 0.0, tolerance, -tolerance))
            fb = held(f(b))
            if (fb > 0.0) == (fc > 0.0):
                c, fc, step, before = a, fa, b - a, b - a
        tried += 1
    _require_end(is_found)
    return b


def _bracketed(method: Any, f: Any, a: Any, b: Any, args: Any, xtol: Any, rtol: Any, maxiter: Any, more: Any) -> Any:
    if more:
        raise NotImplementedError("full_output of a root is not supported: leave it out")
    equation, a, b = Equation(f, args), held(1.0 * a), held(1.0 * b)
    x = method(equation, a, b, xtol, rtol, maxiter)
    return _with_derivative(equation, x, 1e-3 * np.abs(b - a))


@optional("scipy.optimize", "bisect", is_definition=True, static=False)
def bisect(
    f: Any,
    a: Any,
    b: Any,
    args: Any = (),
    xtol: Any = 2e-12,
    rtol: Any = DEFAULT,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    return _bracketed(_bisected, f, a, b, args, xtol, rtol, maxiter, full_output)


@optional("scipy.optimize", "brentq", "brenth", "ridder", is_definition=True, static=False)
def brentq(
    f: Any,
    a: Any,
    b: Any,
    args: Any = (),
    xtol: Any = 2e-12,
    rtol: Any = DEFAULT,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    """All of them by Brent's method: they agree to `xtol`."""
    return _bracketed(_by_brent, f, a, b, args, xtol, rtol, maxiter, full_output)


def _by_newton(f: Equation, slope: Equation, x: Any, tol: Any, rtol: Any, maxiter: Any) -> Any:
    tried, is_found = 0, False
    while not is_found and tried < maxiter:
        value = held(f(x))
        new = x - np.where(value == 0.0, 0.0, value / held(slope(x)))
        is_found = np.abs(new - x) <= tol + rtol * np.abs(x)
        x = new
        tried += 1
    _require_end(is_found)
    return x


def _by_secants(f: Equation, x: Any, x1: Any, tol: Any, rtol: Any, maxiter: Any) -> Any:
    """The second point, if none is given, is as near as SciPy takes it."""
    before = x
    x = x * (1.0 + 1e-4) + np.where(x >= 0.0, 1e-4, -1e-4) if x1 is None else held(1.0 * x1)
    f_before, f_here = held(f(before)), held(f(x))
    if np.abs(f_before) < np.abs(f_here):
        before, x, f_before, f_here = x, before, f_here, f_before
    tried, is_found = 0, f_here == 0.0
    while not is_found and tried < maxiter:
        is_flat = f_here == f_before
        new = x - f_here * (x - before) / np.where(is_flat, 1.0, f_here - f_before)
        is_found = np.logical_and(np.abs(new - x) <= tol + rtol * np.abs(x), np.logical_not(is_flat))
        before, f_before, x = x, f_here, np.where(is_flat, x, new)
        f_here = held(f(x))
        tried += 1
    _require_end(is_found)
    return x


@optional("scipy.optimize", "newton", is_definition=True, static=False)
def newton(
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: Any = 1.48e-8,
    maxiter: Any = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: Any = 0.0,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    """Newton's method or, without a slope, the secant method; of Halley's method, only the root."""
    if full_output or np.ndim(x0) > 0:
        raise NotImplementedError(
            "newton with full_output, or from several starts at once, is not supported: call it in a loop"
        )
    equation, start = Equation(func, args), held(1.0 * x0)
    if fprime is None:
        x = _by_secants(equation, start, x1, tol, rtol, maxiter)
    else:
        x = _by_newton(equation, Equation(fprime, args), start, tol, rtol, maxiter)
    return _with_derivative(equation, x, np.where(start == 0.0, 1e-3, 1e-3 * np.abs(start)))


class Root:
    """What ``root_scalar`` returns."""

    def __init__(self, root: Any) -> None:
        self.root, self.converged, self.flag = root, True, "converged"


@optional("scipy.optimize", "root_scalar", is_definition=True, static=False)
def root_scalar(
    f: Any,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
    options: Any = None,
) -> Any:
    """In a bracket by bisection or Brent's method; else from `x0`."""
    if options is not None or callable(fprime) != (fprime is not None):
        raise NotImplementedError(
            "options of root_scalar, and fprime=True, are not supported: pass a function as fprime, or none"
        )
    if bracket is not None and method not in ("newton", "secant", "halley"):
        search = bisect if method == "bisect" else brentq
        tolerances = (2e-12 if xtol is None else xtol, DEFAULT if rtol is None else rtol)
        return Root(search(f, bracket[0], bracket[1], args, *tolerances, 100 if maxiter is None else maxiter))
    tol, relative = 1.48e-8 if xtol is None else xtol, 0.0 if rtol is None else rtol
    slope = None if method == "secant" else fprime
    return Root(newton(f, x0, slope, args, tol, 50 if maxiter is None else maxiter, None, x1, relative))
