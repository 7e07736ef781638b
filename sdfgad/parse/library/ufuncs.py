"""``reduce`` and ``accumulate`` of ufuncs: over the first axis, unless another is named."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, is_sequence
from sdfgad.parse.registry import in_numpy


@in_numpy(np.add.reduce)
def add_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = 0,
    where: Any = True,
) -> Any:
    return np.sum(array, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


@in_numpy(np.multiply.reduce)
def multiply_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    return np.prod(array, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


@in_numpy(np.maximum.reduce)
def maximum_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    return np.max(_as(array, dtype), axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)


@in_numpy(np.minimum.reduce)
def minimum_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    return np.min(_as(array, dtype), axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)


@in_numpy(np.logical_or.reduce)
def logical_or_reduce(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    _require_truth(dtype)
    return np.any(array, axis=axis, out=out, keepdims=keepdims)


@in_numpy(np.logical_and.reduce)
def logical_and_reduce(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    _require_truth(dtype)
    return np.all(array, axis=axis, out=out, keepdims=keepdims)


def _as(array: Any, dtype: Any) -> Any:
    """The operand in the dtype in which it is reduced."""
    array = array_like(array)
    return array if dtype is None else array.astype(dtype)


def _require_truth(dtype: Any) -> None:
    if dtype is not None and np.dtype(dtype).kind != "b":
        raise ValueError("a logical operation has no other dtype than bool: leave dtype out")


@in_numpy(np.add.accumulate)
def add_accumulate(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    return np.cumsum(array, axis=axis, dtype=dtype, out=out)


@in_numpy(np.multiply.accumulate)
def multiply_accumulate(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    return np.cumprod(array, axis=axis, dtype=dtype, out=out)


@in_numpy(np.maximum.accumulate)
def maximum_accumulate(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    rows = np.moveaxis(_as(array, dtype), axis, 0)
    result = np.copy(rows)
    for k in range(1, rows.shape[0]):
        result[k] = np.maximum(result[k - 1], rows[k])
    return _stored(np.moveaxis(result, 0, axis), out)


@in_numpy(np.minimum.accumulate)
def minimum_accumulate(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    rows = np.moveaxis(_as(array, dtype), axis, 0)
    result = np.copy(rows)
    for k in range(1, rows.shape[0]):
        result[k] = np.minimum(result[k - 1], rows[k])
    return _stored(np.moveaxis(result, 0, axis), out)


def _stored(result: Any, out: Any) -> Any:
    if out is None:
        return result
    out[...] = result
    return out


# --- other ufuncs of two operands, element by element


def _reduce(ufunc: Any) -> Any:
    identity = ufunc.identity

    def reduce(
        array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None
    ) -> Any:
        a = _as(array, dtype)
        if axis is None or is_sequence(axis):
            if ufunc in (np.subtract, np.divide):
                raise ValueError("this ufunc is not reorderable, so that it reduces one axis at most")
            axis = tuple(range(np.ndim(a)) if axis is None else axis)
            rows = _joined(a, axis)
        else:
            rows = np.moveaxis(a, axis, 0)
        if rows.shape[0] == 0 and (identity is not None or initial is not None):
            nothing = np.full(rows.shape[1:], identity if initial is None else initial).astype(a.dtype)
            # Two of them give one, in the dtype of results.
            result = ufunc(nothing, nothing) if initial is None else nothing
        else:
            result = np.copy(rows[0]) if initial is None else ufunc(initial, rows[0])
        for k in range(1, rows.shape[0]):
            result = ufunc(result, rows[k])
        return _stored(np.expand_dims(result, axis) if keepdims else result, out)

    return reduce


def _joined(a: Any, axes: Any) -> Any:
    """An array with several axes joined to one, the first."""
    first = np.moveaxis(a, axes, tuple(range(len(axes))))
    return np.reshape(first, (-1, *first.shape[len(axes) :]))


def _accumulate(ufunc: Any) -> Any:
    def accumulate(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        rows = np.moveaxis(_as(array, dtype), axis, 0)
        result = np.copy(rows)
        for k in range(1, rows.shape[0]):
            result[k] = ufunc(result[k - 1], rows[k])
        return _stored(np.moveaxis(result, 0, axis), out)

    return accumulate


def _reduceat(ufunc: Any) -> Any:
    def reduceat(array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        rows, starts = np.moveaxis(_as(array, dtype), axis, 0), np.asarray(indices)
        for k in range(starts.shape[0]):
            if starts[k] < 0 or starts[k] >= rows.shape[0]:
                raise IndexError("an index of reduceat is not inside the axis")
        result = np.zeros((starts.shape[0], *rows.shape[1:]), ufunc.reduce(rows[:1]).dtype)
        for k in range(starts.shape[0]):
            result[k] = rows[starts[k]]
            end = starts[k + 1] if k + 1 < starts.shape[0] else rows.shape[0]
            for j in range(starts[k] + 1, end):
                result[k] = ufunc(result[k], rows[j])
        return _stored(np.moveaxis(result, 0, axis), out)

    return reduceat


_OTHERS = (np.subtract, np.divide, np.hypot, np.logaddexp, np.logaddexp2, np.fmax, np.fmin, np.logical_xor)
for _ufunc in (*_OTHERS, np.bitwise_and, np.bitwise_or, np.bitwise_xor):
    in_numpy(_ufunc.reduce)(_reduce(_ufunc))
    if _ufunc is not np.logical_xor:
        in_numpy(_ufunc.accumulate)(_accumulate(_ufunc))
for _other in (np.add, np.multiply, np.maximum, np.minimum, *_OTHERS):
    in_numpy(_other.reduceat)(_reduceat(_other))
