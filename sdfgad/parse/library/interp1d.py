"""scipy.interpolate.interp1d: steps, lines and splines between points."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int
from sdfgad.parse.library.bsplines import called, make_interp_spline
from sdfgad.parse.library.splines import cubic_spline
from sdfgad.parse.registry import optional

KINDS = ("linear", "slinear", "nearest", "nearest-up", "previous", "next", "cubic")
# Of those that are splines of another order.
ORDERS = {"zero": 0, "quadratic": 2}


class Interpolator:
    """A function between points of the program, as scipy.interpolate.interp1d makes it."""

    def __init__(self, x: Any, y: Any, kind: Any, ends: Any, axis: Any) -> None:
        self.x, self.y, self.kind, self.axis = x, y, kind, axis
        self.bounds_error, self.fill_value = ends

    def __call__(self, x: Any) -> Any:
        y = np.moveaxis(self.y, self.axis, 0)
        values = _between(self.x, y, self.kind, self.bounds_error, self.fill_value, x)
        return _along(self.axis, values, x)


@optional("scipy.interpolate", "interp1d", is_definition=True)
def interp1d(
    x: Any,
    y: Any,
    kind: Any = "linear",
    axis: Any = -1,
    copy: Any = True,
    bounds_error: Any = None,
    fill_value: Any = np.nan,
    assume_sorted: Any = False,
) -> Any:
    x, y = (array_like(x).astype(np.float64), np.copy(y) if copy else array_like(y))
    axis = axis_of(axis, y.ndim)
    if not assume_sorted:
        order = np.argsort(x, kind="stable")
        x, y = (x[order], np.take(y, order, axis=axis))
    if kind not in KINDS:
        if kind not in ORDERS and not isinstance(kind, int):
            raise NotImplementedError("there is no such kind of interp1d: use 'linear' or 'cubic'")
        kind = make_interp_spline(x, np.moveaxis(y, axis, 0), ORDERS.get(kind, kind))
    fails = True if bounds_error is None else bounds_error
    return Interpolator(x, y, kind, (fails and not isinstance(fill_value, str), fill_value), axis)


@optional("scipy.interpolate._polyint", "_Interpolator1D.__call__", is_definition=True)
def of_object(self: Any, x: Any) -> Any:
    """The call of an interpolator that was made before: of the points that it has."""
    kind = self._spline if self._kind == "spline" else self._kind
    y, axis = np.moveaxis(array_like(self.y), self.axis, 0), self.axis
    if self._extrapolate:
        return _along(axis, _between(self.x, y, kind, False, "extrapolate", x), x)
    # SciPy keeps one number as an array of one.
    ends = tuple(
        np.reshape(one, y.shape[1:] if np.size(one) > 1 else ())
        for one in (self._fill_value_below, self._fill_value_above)
    )
    return _along(axis, _between(self.x, y, kind, self.bounds_error, ends, x), x)


def _along(axis: Any, values: Any, x: Any) -> Any:
    """Values whose first axes are those of the points, with these where the axis was that was interpolated along."""
    count = np.ndim(x)
    return np.moveaxis(values, tuple(range(count)), tuple(range(axis, axis + count)))


def _between(knots: Any, values: Any, kind: Any, bounds_error: Any, fill_value: Any, x: Any) -> Any:
    """The values between points; `kind` is a name, or the spline through the points."""
    knots, values, x = (array_like(knots), array_like(values), array_like(x).astype(np.float64))
    if bounds_error and np.any(np.logical_or(x < knots[0], x > knots[-1])):
        raise ValueError("a point is outside of the range of interp1d")
    name = kind if isinstance(kind, str) else "spline"
    if name == "spline":
        inner = _spline(kind, values, x)
    elif name in ("linear", "slinear"):
        inner = _line(knots, values, x)
    elif name == "cubic":
        inner = cubic_spline(knots, values)(x)
    else:
        inner = _step(knots, values, name, x)
    # One number of `x` goes with all rows of values.
    x = np.reshape(x, x.shape + (1,) * (values.ndim - 1))
    if isinstance(fill_value, str):
        # Before the first point there is no previous one, and after the last there is no next one.
        is_without = x < knots[0] if name == "previous" else x > knots[-1]
        return np.where(is_without, np.nan, inner) if name in ("previous", "next") else inner
    below, above = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
    return np.where(x < knots[0], below, np.where(x > knots[-1], above, inner))


def _line(knots: Any, values: Any, x: Any) -> Any:
    """At a knot, the line on its left."""
    n, columns = fixed_int(knots.shape[0]), x.shape + (1,) * (values.ndim - 1)
    right = np.clip(np.searchsorted(knots, x), 1, n - 1)
    x0, y0 = (np.take(knots, right - 1), np.take(values, right - 1, axis=0))
    slope = (np.take(values, right, axis=0) - y0) / np.reshape(np.take(knots, right) - x0, columns)
    return slope * np.reshape(x - x0, columns) + y0


def _spline(spline: Any, values: Any, x: Any) -> Any:
    """The spline through values; if one of these is NaN, all is."""
    rows = np.reshape(called(spline, x), x.shape + values.shape[1:])
    return np.where(np.any(np.isnan(values)), np.nan, rows)


def _step(knots: Any, values: Any, kind: Any, x: Any) -> Any:
    n = fixed_int(knots.shape[0])
    if kind == "previous":
        place = np.searchsorted(knots, x, side="right") - 1
    elif kind == "next":
        place = np.searchsorted(knots, x, side="left")
    else:
        place = np.searchsorted((knots[1:] + knots[:-1]) / 2.0, x, side="left" if kind == "nearest" else "right")
    return np.take(values, np.clip(place, 0, n - 1), axis=0) + 0.0 * np.reshape(x, x.shape + (1,) * (values.ndim - 1))
