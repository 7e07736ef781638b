"""Search: positions of extrema, bins, quantiles, and extrema at index arrays."""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of
from sdfgad.parse.registry import in_numpy


@in_numpy(np.argmax, method="argmax")
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    a = array_like(a)
    rows, axis = _rows(a, axis, a.ndim)
    found = _first(rows == np.max(rows, axis=axis, keepdims=True), rows, axis)
    return _shaped(found, a, axis, out, keepdims)


@in_numpy(np.argmin, method="argmin")
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    a = array_like(a)
    rows, axis = _rows(a, axis, a.ndim)
    found = _first(rows == np.min(rows, axis=axis, keepdims=True), rows, axis)
    return _shaped(found, a, axis, out, keepdims)


@in_numpy(np.nanargmax)
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return np.argmax(np.where(np.isnan(a), -np.inf, a), axis=axis, out=out, keepdims=keepdims)


@in_numpy(np.nanargmin)
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return np.argmin(np.where(np.isnan(a), np.inf, a), axis=axis, out=out, keepdims=keepdims)


@in_numpy(bisect.bisect_left)
def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> Any:
    """Insertion point in a sorted list, before items that are equal."""
    return lo + np.searchsorted(array_like(a[lo:hi]), x)


@in_numpy(bisect.bisect_right)
def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> Any:
    """Insertion point in a sorted list, after items that are equal; also called `bisect`."""
    return lo + np.searchsorted(array_like(a[lo:hi]), x, side="right")


def _rows(a: Any, axis: Any, ndim: Any) -> Any:
    """The array and the axis to search; the flattened array if there is no axis."""
    return (np.ravel(a), 0) if axis is None or ndim == 0 else (a, axis_of(axis, ndim))


def _first(is_wanted: Any, a: Any, axis: Any) -> Any:
    """The first position along an axis where `is_wanted` holds or, as in NumPy, the element is NaN."""
    n = a.shape[axis]
    if a.dtype.kind == "f":
        is_wanted = np.logical_or(is_wanted, np.isnan(a))
    place = np.reshape(np.arange(n), (n,) + (1,) * (a.ndim - 1 - axis))
    return np.min(np.where(is_wanted, place, n), axis=axis)


def _shaped(found: Any, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    if keepdims:
        found = np.reshape(found, (1,) * a.ndim) if np.ndim(found) == 0 else np.expand_dims(found, axis)
    if out is None:
        return found
    out[...] = found
    return out


@in_numpy(np.digitize)
def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    bins = array_like(bins)
    count = _before(bins, array_like(x)[..., None], right)
    return np.where(bins[0] > bins[-1], bins.shape[0] - count, count)


@in_numpy(np.isin)
def isin(element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None) -> Any:
    found = np.any(array_like(element)[..., None] == np.ravel(array_like(test_elements)), axis=-1)
    return np.logical_not(found) if invert else found


def _before(a: Any, v: Any, is_strict: Any) -> Any:
    """How many of `a` are before `v`, where NaN comes after all numbers."""
    before = a < v if is_strict else a <= v
    if v.dtype.kind == "f":
        is_last = np.isnan(v)
        before = np.logical_or(before, np.logical_and(is_last, a == a) if is_strict else is_last)
    return np.sum(before, axis=-1)


@in_numpy(method="compress")
def compress_method(a: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return np.compress(condition, a, axis=axis, out=out)


@in_numpy(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """The elements for which a condition holds; along another axis than the first it must be known while parsing."""
    if not isinstance(condition, (list, tuple)) and out is None and (axis is None or axis == 0):
        array = np.ravel(a) if axis is None else array_like(a)
        return array[: len(condition)][condition != 0]
    chosen = [k for k in range(len(condition)) if condition[k]]
    return np.take(a, chosen, axis=axis, out=out)


@in_numpy(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    a1, a2 = (array_like(a1), array_like(a2))
    if np.shape(a1) != np.shape(a2):
        return False
    same = np.equal(a1, a2)
    return bool(np.all(np.logical_or(same, np.logical_and(np.isnan(a1), np.isnan(a2))) if equal_nan else same))


@in_numpy(np.diag_indices_from)
def diag_indices_from(arr: Any) -> Any:
    return np.diag_indices(arr.shape[0], arr.ndim)
