"""Geometric progressions, Vandermonde matrices, and arrays computed from indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int
from sdfgad.parse.registry import in_numpy


@in_numpy(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Any:
    if np.ndim(base) > 0:
        raise ValueError(
            "np.logspace with an array as its base is not supported: write base ** np.linspace(start, stop, n)[:, None]"
        )
    values = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return values if dtype is None else values.astype(dtype)


@in_numpy(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> Any:
    """A geometric progression between numbers or arrays of the same sign."""
    start, stop = (array_like(start), array_like(stop))
    if fixed_int(num) == 0:
        return np.linspace(start, stop, 0, dtype=dtype, axis=axis)
    sign = np.where(start < 0, -1.0, 1.0)
    ends = (np.log10(sign * start), np.log10(sign * stop))
    values = np.power(10.0, np.linspace(ends[0], ends[1], num, endpoint))
    values[0] = sign * start
    if endpoint and fixed_int(num) > 1:
        values[-1] = sign * stop
    result = np.moveaxis(sign * values, 0, axis)
    return result if dtype is None else result.astype(dtype)


@in_numpy(np.fromfunction, static=False)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float) -> Any:
    return function(*list(np.indices(shape, dtype=dtype)))


@in_numpy(np.vander)
def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    x = array_like(x)
    columns = fixed_int(x.shape[0] if N is None else N)
    result = np.empty((x.shape[0], columns), np.result_type(x.dtype, np.int64))
    powers = result if increasing else np.fliplr(result)
    powers[:, :1] = 1
    for k in range(1, columns):
        powers[:, k] = powers[:, k - 1] * x
    return result


@in_numpy(np.asarray_chkfinite, static=False)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    a = np.asarray(a, dtype=dtype, order=order)
    if a.dtype.kind in "fc" and not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a


@in_numpy(np.fromiter, static=False)
def fromiter(iter: Any, dtype: Any, count: Any = -1) -> Any:
    """A vector of the items that an iterable gives, all of them or the first `count`."""
    items = list(iter) if count < 0 else [item for _, item in zip(range(count), iter, strict=False)]
    if len(items) < count:
        raise ValueError("iterator too short: fewer items than count")
    values = np.array(items, dtype=dtype)
    if values.ndim != 1:
        raise ValueError("np.fromiter needs numbers as items: write np.array(list(items))")
    return values
