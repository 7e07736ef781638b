"""Integrals of samples, as in scipy.integrate."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int
from sdfgad.parse.registry import optional


@optional("scipy.integrate", "trapezoid", is_definition=True)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    return np.trapezoid(y, x, dx, axis)


@optional("scipy.integrate", "fixed_quad", is_definition=True, static=False)
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    """Gauss's rule of fixed order for a function of vectors."""
    nodes, weights = np.polynomial.legendre.leggauss(fixed_int(n))
    values = array_like(func((b - a) * (nodes + 1.0) / 2.0 + a, *args))
    return (b - a) / 2.0 * np.sum(weights * values, axis=-1), None


@optional("scipy.integrate", "cumulative_trapezoid", is_definition=True)
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> Any:
    rows, widths = _rows(y, x, dx, axis)
    total = np.cumsum(widths * (rows[..., 1:] + rows[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        total = np.concatenate((np.full(total.shape[:-1] + (1,), initial, total.dtype), total), -1)  # noqa: RUF005
    return np.moveaxis(total, -1, axis)


def _rows(y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """The samples with the axis last, and the distances between them."""
    y = array_like(y)
    rows = np.moveaxis(y, axis_of(axis, y.ndim), -1)
    if x is None:
        return rows, np.full(rows.shape[-1] - 1, dx)
    x = array_like(x)
    places = x if x.ndim == 1 else np.moveaxis(x, axis_of(axis, x.ndim), -1)
    return rows, places[..., 1:] - places[..., :-1]


@optional("scipy.integrate", "simpson", is_definition=True)
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Simpson's rule over pairs of intervals; of an even number of samples, the last interval by the parabola through
    the last three (Cartwright, Journal of Mathematical Sciences and Mathematics Education 12 (2017), 1)."""
    rows, h = _rows(y, x, dx, axis)
    h = h if x is None else h.astype(np.float64)
    n = fixed_int(rows.shape[-1])
    if n < 3:
        return np.sum(h * (rows[..., 1:] + rows[..., :-1]) / 2.0, axis=-1)
    pairs = n if n % 2 == 1 else n - 1
    left, right = h[..., 0 : pairs - 1 : 2], h[..., 1 : pairs - 1 : 2]
    width = left + right
    terms = (
        (2 - right / left) * rows[..., 0 : pairs - 2 : 2]
        + width * width / (left * right) * rows[..., 1 : pairs - 1 : 2]
        + (2 - left / right) * rows[..., 2:pairs:2]
    )
    total = np.sum(width / 6.0 * terms, axis=-1)
    if n % 2 == 1:
        return total
    last, before = h[..., -1], h[..., -2]
    alpha = (2 * last * last + 3 * last * before) / (6 * (before + last))
    beta = (last * last + 3 * last * before) / (6 * before)
    eta = last * last * last / (6 * before * (before + last))
    return total + alpha * rows[..., -1] + beta * rows[..., -2] - eta * rows[..., -3]
