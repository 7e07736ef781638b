"""Roll, padding, insertion, deletion and resizing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import (
    array_like,
    axes_of,
    axis_of,
    fixed_int,
    is_fixable,
    is_sequence,
    known_integers,
    part_of,
    positions_of,
)
from sdfgad.parse.registry import in_numpy


@in_numpy(np.roll, static=False)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    a = array_like(a)
    if axis is None:
        return np.reshape(_rolled(np.ravel(a), shift, 0), a.shape)
    axes = axis if is_sequence(axis) else (axis,)
    shifts = tuple(shift) if is_sequence(shift) or np.ndim(shift) else (shift,)
    for k in range(max(len(axes), len(shifts))):
        a = _rolled(a, shifts[min(k, len(shifts) - 1)], axis_of(axes[min(k, len(axes) - 1)], a.ndim))
    return a if len(axes) > 0 else np.copy(a)


def _rolled(a: Any, shift: Any, axis: Any) -> Any:
    n = a.shape[axis]
    if n == 0:
        return a
    if not is_fixable(shift):
        return np.take(a, np.remainder(np.arange(n) - shift, n), axis=axis)
    shift = fixed_int(shift) % n
    return np.concatenate((part_of(a, axis, n - shift), part_of(a, axis, None, n - shift)), axis)


@in_numpy(np.append, static=False)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    return np.concatenate((array_like(arr), array_like(values)), axis)


@in_numpy(np.delete, static=False)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr = array_like(arr)
    if axis is None:
        arr = np.ravel(arr)
        axis = 0
    axis = axis_of(axis, arr.ndim)
    n = fixed_int(arr.shape[axis])
    edges = [-1] + sorted(positions_of(obj, n)) + [n]  # noqa: RUF005
    parts = [part_of(arr, axis, edges[k] + 1, max(edges[k + 1], edges[k] + 1)) for k in range(len(edges) - 1)]
    return np.concatenate(parts, axis)


@in_numpy(np.insert, static=False)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Insert values before one position, or one value before each of several positions."""
    arr = array_like(arr)
    values = array_like(values)
    if axis is None:
        arr = np.ravel(arr)
        axis = 0
    axis = axis_of(axis, arr.ndim)
    n = fixed_int(arr.shape[axis])
    if is_sequence(obj):
        return _inserted(arr, [_place(k, n) for k in obj], values, axis, n)
    place = _place(obj, n)
    if values.ndim == 0:
        values = np.reshape(values, (1,))
    values = np.moveaxis(values, 0, axis) if values.ndim == arr.ndim and arr.ndim > 1 else values
    if values.ndim < arr.ndim:
        values = values[(None,) * (arr.ndim - values.ndim)]
        values = np.moveaxis(values, 0, axis) if arr.ndim > 1 else values
    added = values.shape[axis]
    whole = np.broadcast_to(values, arr.shape[:axis] + (added,) + arr.shape[axis + 1 :]).astype(arr.dtype)  # noqa: RUF005
    return np.concatenate((part_of(arr, axis, None, place), whole, part_of(arr, axis, place)), axis)


def _place(k: Any, n: Any) -> Any:
    k = fixed_int(k)
    if not -n <= k <= n:
        raise ValueError("an index is out of range")
    return k + n if k < 0 else k


def _inserted(arr: Any, places: Any, values: Any, axis: Any, n: Any) -> Any:
    if arr.ndim > 1:
        raise ValueError(
            "np.insert at several places of an array of several dimensions is not supported: call it for each place"
        )
    values = np.broadcast_to(values, (len(places),)).astype(arr.dtype)
    order = sorted([(places[k], k) for k in range(len(places))])
    edges = [0] + [place for place, _ in order] + [n]
    parts = [arr[edges[0] : edges[1]]]
    for k in range(len(order)):
        parts.append(values[order[k][1] : order[k][1] + 1])
        parts.append(arr[edges[k + 1] : edges[k + 2]])
    return np.concatenate(parts)


@in_numpy(np.resize, static=False)
def resize(a: Any, new_shape: Any) -> Any:
    flat = np.ravel(array_like(a))
    total = np.size(np.empty(new_shape))
    if total == 0 or flat.shape[0] == 0:
        return np.zeros(new_shape, flat.dtype)
    return np.reshape(np.tile(flat, -(-total // flat.shape[0]))[:total], new_shape)


# --- padding


@in_numpy(np.pad, static=False)
def pad(
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    constant_values: Any = None,
    end_values: Any = None,
    reflect_type: Any = "even",
    stat_length: Any = None,
) -> Any:
    """Pad axis by axis; corners are padded from the padding of earlier axes."""
    array = array_like(array)
    pad_width = known_integers(pad_width)
    if reflect_type != "even" or stat_length is not None:
        raise ValueError(
            "np.pad with reflect_type='odd' or stat_length is not supported: join the parts by np.concatenate"
        )
    if (constant_values is not None and mode != "constant") or (end_values is not None and mode != "linear_ramp"):
        raise ValueError("this mode of np.pad does not take these values")
    values = end_values if mode == "linear_ramp" else constant_values
    is_new = False
    for axis in axes_of(None, array.ndim):
        before, after = _pair(pad_width, axis, array.ndim)
        ends = _pair(0 if values is None else values, axis, array.ndim)
        array = _padded(array, axis, fixed_int(before), fixed_int(after), mode, ends)
        is_new = is_new or fixed_int(before) > 0 or fixed_int(after) > 0
    return array if is_new else np.copy(array)


def _pair(values: Any, axis: Any, ndim: Any) -> Any:
    """The numbers before and after an axis, from one number, one pair, or a pair for each axis."""
    if isinstance(values, dict):
        found = values.get(axis, values.get(axis - ndim, 0))
        return found if is_sequence(found) else (found, found)
    if not is_sequence(values):
        return values, values
    if len(values) == 1:
        values = values[0]
        return values if is_sequence(values) else (values, values)
    if not is_sequence(values[0]):
        return values
    return values[axis] if len(values[axis]) == 2 else (values[axis][0], values[axis][0])


def _padded(a: Any, axis: Any, before: Any, after: Any, mode: Any, ends: Any) -> Any:
    if before < 0 or after < 0:
        raise ValueError("a negative number of elements to pad")
    if before == 0 and after == 0:
        return a
    if mode == "constant":
        left, right = (_block(a, axis, before, ends[0]), _block(a, axis, after, ends[1]))
    elif mode == "edge":
        left = np.repeat(part_of(a, axis, None, 1), before, axis)
        right = np.repeat(part_of(a, axis, -1), after, axis)
    elif mode == "linear_ramp":
        left = _ramp(part_of(a, axis, None, 1), axis, before, ends[0])
        right = np.flip(_ramp(part_of(a, axis, -1), axis, after, ends[1]), axis)
    elif mode in ("maximum", "minimum", "mean"):
        function = np.max if mode == "maximum" else np.min if mode == "minimum" else np.mean
        value = function(a, axis=axis, keepdims=True).astype(a.dtype)
        left, right = (np.repeat(value, before, axis), np.repeat(value, after, axis))
    elif mode in ("reflect", "symmetric", "wrap"):
        places = _reflected(fixed_int(a.shape[axis]), before, after, mode)
        return np.concatenate([part_of(a, axis, i, j, step) for i, j, step in places], axis)
    else:
        raise ValueError(
            "this mode of np.pad is not supported: use 'constant', 'edge', 'reflect', 'symmetric' or 'wrap'"
        )
    return np.concatenate((left, a, right), axis, dtype=a.dtype)


def _block(a: Any, axis: Any, width: Any, value: Any) -> Any:
    return np.full(a.shape[:axis] + (width,) + a.shape[axis + 1 :], value, a.dtype)  # noqa: RUF005


def _ramp(edge: Any, axis: Any, width: Any, end: Any) -> Any:
    steps = np.linspace(end, np.squeeze(edge, axis), width, endpoint=False, axis=axis)
    return (np.floor(steps) if edge.dtype.kind in "iu" else steps).astype(edge.dtype)


def _reflected(n: Any, before: Any, after: Any, mode: Any) -> Any:
    """The slices (start, stop, step) of the original axis whose concatenation is the padded axis."""
    if n == 0 or (n == 1 and mode == "reflect"):
        runs: Any = [(0, 1, 1)] * (before + n + after)
        return runs
    period = {"reflect": 2 * n - 2, "symmetric": 2 * n, "wrap": n}[mode]
    runs = []
    k = -before
    while k < n + after:
        inside = k % period
        if inside < n:
            length = min(n - inside, n + after - k)
            runs.append((inside, inside + length, 1))
        else:
            first = period - inside if mode == "reflect" else period - 1 - inside
            last = 1 if mode == "reflect" else 0
            length = min(first - last + 1, n + after - k)
            stop = first - length
            runs.append((first, stop if stop >= 0 else -n - 1, -1))
        k += length
    return runs


@in_numpy(np.broadcast)
def broadcast(*args: Any) -> Any:
    """The shape that arrays have together; the iterator over their elements that NumPy's is besides is refused."""
    shape = np.broadcast_shapes(*[np.shape(one) for one in args])
    return SimpleNamespace(shape=shape, size=int(np.prod(shape)), nd=len(shape), ndim=len(shape))
