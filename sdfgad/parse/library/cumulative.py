"""Products over axes, and prefix sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axes_of, axis_of, sum_dtype
from sdfgad.parse.registry import in_numpy


@in_numpy(np.prod, method="prod")
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    a = array_like(a)
    axes = axes_of(axis, a.ndim)
    result = a if where is None else np.where(where, a, 1)
    result = result.astype(sum_dtype(a.dtype) if dtype is None else dtype)
    for k in reversed(axes):
        result = _prod(result, k)
    if initial is not None:
        result = result * array_like(initial).astype(result.dtype)
    if keepdims:
        result = np.expand_dims(result, axes)
    if out is None:
        return result
    out[...] = result
    return out


def _prod(a: Any, axis: Any) -> Any:
    factors = np.moveaxis(a, axis, 0)
    if factors.shape[0] == 0:
        return np.ones(factors.shape[1:], a.dtype)
    result = (1 * factors[0]).astype(a.dtype)
    for k in range(1, factors.shape[0]):
        result = result * factors[k]
    return result


@in_numpy(np.cumsum, method="cumsum")
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    result, totals, terms = _running(a, axis, dtype, out)
    totals[:1] = terms[:1]
    for k in range(1, terms.shape[0]):
        totals[k] = totals[k - 1] + terms[k]
    return result


@in_numpy(np.cumprod, method="cumprod")
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    result, products, factors = _running(a, axis, dtype, out)
    products[:1] = factors[:1]
    for k in range(1, factors.shape[0]):
        products[k] = products[k - 1] * factors[k]
    return result


def _running(a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """Storage for a prefix sum or product, a view of it with the axis first, and such a view of the array."""
    a = array_like(a)
    if axis is None:
        a = np.ravel(a)
        axis = 0
    axis = axis_of(axis, a.ndim)
    if out is None:
        out = np.empty_like(a, dtype=sum_dtype(a.dtype) if dtype is None else dtype)
    if a.dtype != out.dtype:
        # NumPy converts each term, not the sum.
        a = a.astype(out.dtype)
    return out, np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0)


@in_numpy(np.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> Any:
    if not include_initial:
        return np.cumsum(_with_axis(x, axis), axis=axis, dtype=dtype, out=out)
    return _with_first(np.cumsum(_with_axis(x, axis), axis=axis, dtype=dtype), axis, 0, out)


@in_numpy(np.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> Any:
    if not include_initial:
        return np.cumprod(_with_axis(x, axis), axis=axis, dtype=dtype, out=out)
    return _with_first(np.cumprod(_with_axis(x, axis), axis=axis, dtype=dtype), axis, 1, out)


def _with_axis(x: Any, axis: Any) -> Any:
    if axis is None and np.ndim(x) > 1:
        raise ValueError("an axis must be given for arrays of several dimensions: pass axis=0, say")
    return x


def _with_first(running: Any, axis: Any, first: Any, out: Any) -> Any:
    """Running sums or products behind the first of them, that of no elements."""
    axis = 0 if axis is None else axis_of(axis, running.ndim)
    shape = running.shape[:axis] + (1,) + running.shape[axis + 1 :]  # noqa: RUF005 - our parser has no starred tuples
    result = np.concatenate((np.full(shape, first, running.dtype), running), axis)
    if out is None:
        return result
    out[...] = result
    return out


@in_numpy(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return np.cumsum(np.where(np.isnan(a), 0, a), axis=axis, dtype=dtype, out=out)


@in_numpy(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return np.cumprod(np.where(np.isnan(a), 1, a), axis=axis, dtype=dtype, out=out)


@in_numpy(np.nanprod)
def nanprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return np.prod(np.where(np.isnan(a), 1, a), axis=axis, dtype=dtype, out=out, keepdims=keepdims)
