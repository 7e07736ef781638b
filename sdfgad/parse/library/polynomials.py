"""Polynomials: fits, integrals and sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int, is_sequence, most
from sdfgad.parse.registry import in_numpy


@in_numpy(np.polyfit)
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Any:
    """Linear least squares on the Vandermonde matrix, whose columns are scaled to length 1, as NumPy documents."""
    if full or cov:
        raise ValueError(
            "np.polyfit with full or cov is not supported: write np.linalg.lstsq(np.vander(x, deg + 1), y)"
        )
    x, y = (array_like(x).astype(np.float64), array_like(y).astype(np.float64))
    n = fixed_int(deg) + 1
    matrix = np.vander(x, n)
    if w is not None:
        weights = array_like(w)
        matrix = matrix * weights[:, None]
        y = y * weights if y.ndim == 1 else y * weights[:, None]
    lengths = np.sqrt(np.sum(np.square(matrix), axis=0))
    cut = most(x.shape[0]) * float(np.finfo(np.float64).eps) if rcond is None else rcond
    c = np.linalg.lstsq(matrix / lengths, y, cut)[0]
    return c / lengths if y.ndim == 1 else c / lengths[:, None]


@in_numpy(np.polyint)
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    p = array_like(p)
    m = fixed_int(m)
    constants = [0.0 for _ in range(m)] if k is None else k if is_sequence(k) else [k for _ in range(m)]
    for i in range(m):
        n = fixed_int(p.shape[0])
        p = np.concatenate((p / np.arange(n, 0, -1), np.reshape(constants[i], (1,))))
    return p


@in_numpy(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    return np.polyadd(a1, -array_like(a2))


@in_numpy(np.polynomial.polynomial.polyval)
def power_series(x: Any, c: Any, tensor: Any = True) -> Any:
    """Horner's scheme; the coefficients from the lowest on."""
    x = array_like(x)
    return np.polyval(np.flip(_coefficients(x, c, tensor), 0), x)


def _coefficients(x: Any, c: Any, tensor: Any) -> Any:
    """With axes behind them for those of the points, so that each series is taken at all points."""
    c = array_like(c)
    return np.reshape(c, c.shape + (1,) * x.ndim) if tensor else c


@in_numpy(np.polynomial.chebyshev.chebval)
def chebval(x: Any, c: Any, tensor: Any = True) -> Any:
    return _clenshaw(x, c, tensor, lambda k, x: (1 if k == 0 else 2) * x, lambda k: -1.0)


@in_numpy(np.polynomial.legendre.legval)
def legval(x: Any, c: Any, tensor: Any = True) -> Any:
    return _clenshaw(x, c, tensor, lambda k, x: (2 * k + 1) / (k + 1) * x, lambda k: -k / (k + 1))


@in_numpy(np.polynomial.hermite.hermval)
def hermval(x: Any, c: Any, tensor: Any = True) -> Any:
    return _clenshaw(x, c, tensor, lambda k, x: 2 * x, lambda k: -2.0 * k)


@in_numpy(np.polynomial.hermite_e.hermeval)
def hermeval(x: Any, c: Any, tensor: Any = True) -> Any:
    return _clenshaw(x, c, tensor, lambda k, x: 1.0 * x, lambda k: -1.0 * k)


@in_numpy(np.polynomial.laguerre.lagval)
def lagval(x: Any, c: Any, tensor: Any = True) -> Any:
    return _clenshaw(x, c, tensor, lambda k, x: (2 * k + 1 - x) / (k + 1), lambda k: -k / (k + 1))


def _clenshaw(x: Any, c: Any, tensor: Any, factor: Any, other: Any) -> Any:
    """Clenshaw's recurrence, of polynomials p[k + 1] = factor(k, x) p[k] + other(k) p[k - 1]."""
    x = array_like(x)
    c = _coefficients(x, c, tensor)
    before = last = np.zeros_like(1.0 * x + c[0])
    for k in range(fixed_int(c.shape[0]) - 1, 0, -1):
        before, last = last, c[k] + factor(k, x) * last + other(k + 1) * before
    return c[0] + factor(0, x) * last + other(1) * before


@in_numpy(np.polynomial.polyutils.getdomain)
def getdomain(x: Any) -> Any:
    x = array_like(x)
    return np.array([np.min(x), np.max(x)])


@in_numpy(np.polynomial.polyutils.mapparms)
def mapparms(old: Any, new: Any) -> Any:
    width = old[1] - old[0]
    return (old[1] * new[0] - old[0] * new[1]) / width, (new[1] - new[0]) / width


@in_numpy(np.polynomial.polyutils.mapdomain)
def mapdomain(x: Any, old: Any, new: Any) -> Any:
    width = old[1] - old[0]
    return (old[1] * new[0] - old[0] * new[1]) / width + (new[1] - new[0]) / width * array_like(x)
