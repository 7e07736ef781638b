"""Differences, integrals, interpolation and polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axes_of, axis_of, fixed_int, inexact, is_sequence, part_of
from sdfgad.parse.registry import in_numpy


@in_numpy(np.diff)
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    a = array_like(a)
    axis = axis_of(axis, a.ndim)
    if fixed_int(n) == 0:
        return a
    if fixed_int(n) < 0:
        raise ValueError("np.diff needs an order that is not negative")
    if prepend is not None or append is not None:
        ends = [None if end is None else _end(end, a, axis) for end in (prepend, append)]
        a = np.concatenate([part for part in (ends[0], a, ends[1]) if part is not None], axis)
    for _ in range(fixed_int(n)):
        left, right = part_of(a, axis, None, -1), part_of(a, axis, 1)
        a = np.not_equal(right, left) if a.dtype.kind == "b" else right - left
    return a


def _end(end: Any, a: Any, axis: Any) -> Any:
    end = array_like(end)
    return np.broadcast_to(end, a.shape[:axis] + (1,) + a.shape[axis + 1 :]) if end.ndim == 0 else end  # noqa: RUF005


@in_numpy(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat = np.ravel(array_like(ary))
    parts = [flat[1:] - flat[:-1]]
    if to_begin is not None:
        parts = [np.ravel(array_like(to_begin)).astype(flat.dtype), parts[0]]
    if to_end is not None:
        parts = parts + [np.ravel(array_like(to_end)).astype(flat.dtype)]  # noqa: RUF005
    return np.concatenate(parts)


@in_numpy(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    f = array_like(f)
    if axis is None:
        axes = axes_of(None, f.ndim)
    else:
        axes = [axis_of(k, f.ndim) for k in (axis if is_sequence(axis) else (axis,))]
    spacings: Any = varargs if len(varargs) > 0 else (1.0,)
    if len(spacings) == 1 and len(axes) > 1:
        spacings = [spacings[0] for _ in axes]
    if len(spacings) != len(axes):
        raise ValueError("np.gradient needs one spacing, or one for each axis")
    f = f.astype(inexact(f.dtype)) if f.dtype.kind not in "fc" else f
    slopes = [_slope(f, spacings[k], axes[k], edge_order) for k in range(len(axes))]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _slope(f: Any, spacing: Any, axis: Any, edge_order: Any) -> Any:
    values = np.moveaxis(f, axis, 0)
    n = fixed_int(values.shape[0])
    if edge_order not in (1, 2) or n < edge_order + 1:
        raise ValueError("np.gradient needs edge_order 1 or 2, and more elements than that")
    out = np.empty_like(f)
    slopes = np.moveaxis(out, axis, 0)
    if np.ndim(spacing) == 0:
        _even(slopes, values, spacing, edge_order)
    else:
        steps = np.diff(array_like(spacing))
        if fixed_int(steps.shape[0]) != n - 1:
            raise ValueError("the coordinates of np.gradient do not fit the axis")
        _uneven(slopes, values, steps, edge_order)
    return out


def _even(slopes: Any, f: Any, h: Any, edge_order: Any) -> Any:
    slopes[1:-1] = (f[2:] - f[:-2]) / (2.0 * h)
    if edge_order == 1:
        slopes[0] = (f[1] - f[0]) / h
        slopes[-1] = (f[-1] - f[-2]) / h
    else:
        slopes[0] = -1.5 / h * f[0] + 2.0 / h * f[1] - 0.5 / h * f[2]
        slopes[-1] = 0.5 / h * f[-3] - 2.0 / h * f[-2] + 1.5 / h * f[-1]


def _uneven(slopes: Any, f: Any, steps: Any, edge_order: Any) -> Any:
    """The slopes of the parabolas through three neighbours; at the ends, of the chord where the order is 1."""
    shape = (-1,) + (1,) * (f.ndim - 1)
    h, k = np.reshape(steps[:-1], shape), np.reshape(steps[1:], shape)
    slopes[1:-1] = -k / (h * (h + k)) * f[:-2] + (k - h) / (h * k) * f[1:-1] + h / (k * (h + k)) * f[2:]
    if edge_order == 1:
        slopes[0] = (f[1] - f[0]) / steps[0]
        slopes[-1] = (f[-1] - f[-2]) / steps[-1]
    else:
        a, b, c = _at_end(steps[0], steps[1])
        slopes[0] = a * f[0] + b * f[1] + c * f[2]
        a, b, c = _at_end(steps[-1], steps[-2])
        slopes[-1] = -c * f[-3] - b * f[-2] - a * f[-1]


def _at_end(h: Any, k: Any) -> Any:
    return -(2.0 * h + k) / (h * (h + k)), (h + k) / (h * k), -h / (k * (h + k))


@in_numpy(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    y = array_like(y)
    axis = axis_of(axis, y.ndim)
    if x is None:
        width = dx
    else:
        x = array_like(x)
        width = np.diff(x, axis=axis if x.ndim > 1 else 0)
        if x.ndim == 1:
            width = np.reshape(width, (width.shape[0],) + (1,) * (y.ndim - 1 - axis))
    return np.sum(width * (part_of(y, axis, 1) + part_of(y, axis, None, -1)) / 2.0, axis=axis)


@in_numpy(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Piecewise linear interpolation; it is differentiated as the line on the right of a point in `xp`."""
    if period is not None:
        return _periodic_interp(x, xp, fp, period)
    if np.iscomplexobj(x) or np.iscomplexobj(xp):
        raise TypeError("points of np.interp are complex; NumPy raises here, too: write x.real")
    x = array_like(x)
    x = x.astype(np.float64)
    xp = np.asarray(xp, dtype=np.float64)
    fp = array_like(fp)
    fp = fp.astype(np.result_type(fp.dtype, np.float64))
    n = fixed_int(xp.shape[0])
    if n != fixed_int(fp.shape[0]) or n == 0:
        raise ValueError("xp and fp of np.interp are not of the same length")
    left = fp[0] if left is None else left
    right = fp[-1] if right is None else right
    if n == 1:
        return np.where(x < xp[0], left, np.where(x > xp[0], right, fp[0]))
    slopes = (fp[1:] - fp[:-1]) / (xp[1:] - xp[:-1])
    place = np.searchsorted(xp, x, side="right") - 1
    inside = np.clip(place, 0, n - 2)
    line = np.take(slopes, inside, mode="clip") * (x - np.take(xp, inside, mode="clip"))
    line = line + np.take(fp, inside, mode="clip")
    within = np.where(x == xp[-1], fp[-1], np.where(x > xp[-1], right, line))
    return np.where(x < xp[0], left, np.where(np.isnan(x), x, within))


def _periodic_interp(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The points within one period, sorted, with one more on either side."""
    xp, fp = (np.remainder(np.asarray(xp, dtype=np.float64), period), array_like(fp))
    order = np.argsort(xp)
    xp, fp = (xp[order], fp[order])
    places = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
    return np.interp(np.remainder(x, period), places, np.concatenate((fp[-1:], fp, fp[:1])))


@in_numpy(np.polyder)
def polyder(p: Any, m: Any = 1) -> Any:
    p = array_like(p)
    for _ in range(fixed_int(m)):
        n = fixed_int(p.shape[0]) - 1
        p = p[:-1] * np.arange(n, 0, -1)
    return p


@in_numpy(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    a1, a2 = (np.atleast_1d(array_like(a1)), np.atleast_1d(array_like(a2)))
    n = max(fixed_int(a1.shape[0]), fixed_int(a2.shape[0]))
    left = np.concatenate((np.zeros(n - a1.shape[0], a1.dtype), a1))
    return left + np.concatenate((np.zeros(n - a2.shape[0], a2.dtype), a2))


@in_numpy(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    return np.convolve(a1, a2)


@in_numpy(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Horner's scheme, from the highest coefficient on."""
    p, x = (array_like(p), array_like(x))
    # Also a Python number has the dtype of an array here.
    x = x.astype(x.dtype)
    y = np.zeros_like(x)
    for k in range(p.shape[0]):
        y = y * x + p[k]
    return y
