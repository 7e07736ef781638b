"""Functions of the user over pieces of arrays: slices, windows, and elements that conditions choose."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int, is_sequence
from sdfgad.parse.registry import in_numpy


@in_numpy(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Each function is evaluated everywhere; what a condition does not choose contributes nothing."""
    x = array_like(x)
    conditions = condlist if is_sequence(condlist) else [condlist]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError("np.piecewise takes a function for each condition, and one more for the others")
    result = np.zeros_like(x)
    if len(funclist) > len(conditions):
        result = _piece(x, funclist[-1], args, kw)
    for k in range(len(conditions)):
        result = np.where(conditions[k], _piece(x, funclist[k], args, kw), result)
    return result.astype(x.dtype)


def _piece(x: Any, function: Any, args: Any, kw: Any) -> Any:
    return function(x, *args, **kw) if callable(function) else np.full_like(x, function)


@in_numpy(np.vectorize.__call__, static=False)
def vectorized(self: Any, *args: Any, **kwargs: Any) -> Any:
    """A loop over the elements of the broadcast arguments; without `otypes`, the first result has the dtype of all."""
    if self.signature is not None or self.excluded:
        raise ValueError(
            "np.vectorize with signature or excluded is not supported: write np.vectorize(lambda x: f(x, a))"
        )
    arrays = [array_like(one) for one in args]
    shape = np.broadcast_shapes(*[one.shape for one in arrays])
    flat = [np.ravel(np.broadcast_to(one, shape)) for one in arrays]
    if fixed_int(flat[0].shape[0]) == 0:
        raise ValueError("np.vectorize of empty arrays is not supported: pass at least one element")
    first = self.pyfunc(*[one[0] for one in flat], **kwargs)
    if self.otypes is None:
        dtype = _dtype_of_first(first)
    elif len(self.otypes) > 1:
        raise ValueError("np.vectorize of several results is not supported: write it for each of them")
    else:
        dtype = np.dtype(self.otypes[0])
    result = np.empty(flat[0].shape[0], dtype)
    for k in range(flat[0].shape[0]):
        result[k] = self.pyfunc(*[one[k] for one in flat], **kwargs)
    return np.reshape(result, shape)


def _dtype_of_first(result: Any) -> Any:
    """That of all results: an integer cuts off the others, so that data must not decide whether the first is one."""
    is_integer = isinstance(result, int) and not isinstance(result, bool)
    return np.dtype(int) if is_integer else array_like(result).dtype


@in_numpy(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """The function is inlined for each slice."""
    arr = array_like(arr)
    axis = axis_of(axis, arr.ndim)
    rows = np.moveaxis(arr, axis, -1)
    outer = rows.shape[:-1]
    flat = np.reshape(rows, (-1, rows.shape[-1]))
    first = func1d(flat[0], *args, **kwargs)
    others = [func1d(flat[k], *args, **kwargs) for k in range(1, fixed_int(flat.shape[0]))]
    dtype = _dtype_of_first(first)
    results = np.stack([array_like(one).astype(dtype) for one in [first, *others]])
    inner = results.shape[1:]
    shaped = np.reshape(results, outer + inner)
    for k in range(len(inner)):
        shaped = np.moveaxis(shaped, len(outer) + k, axis + k)
    return shaped


@in_numpy(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Any:
    indices = array_like(indices)
    if axis is None:
        raise ValueError("np.put_along_axis without an axis is not supported: pass axis=0, say")
    axis = axis_of(axis, arr.ndim)
    places = [
        indices
        if k == axis
        else np.reshape(np.arange(arr.shape[k]), tuple([arr.shape[k] if j == k else 1 for j in range(arr.ndim)]))
        for k in range(arr.ndim)
    ]
    arr[tuple(places)] = values


@in_numpy(np.put)
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> Any:
    """Elements of an array of one dimension."""
    if a.ndim != 1 or mode != "raise":
        raise ValueError("np.put of a matrix, or with a mode, is not supported: write x[i, j] = values")
    places = array_like(ind)
    values = np.ravel(array_like(v))
    if np.size(values) not in (1, np.size(places)):
        raise ValueError(
            "np.put with fewer values than indices is not supported: pass one value, or one for each index"
        )
    a[np.ravel(places)] = values


@in_numpy(np.place)
def place(arr: Any, mask: Any, vals: Any) -> Any:
    """One value for all chosen elements."""
    values = np.ravel(array_like(vals))
    if np.size(values) != 1:
        raise ValueError("np.place with several values is not supported: write x[...] = np.where(mask, values, x)")
    arr[...] = np.where(mask, values[0], arr)


@in_numpy(np.real_if_close)
def real_if_close(a: Any, tol: Any = 100) -> Any:
    if np.iscomplexobj(a):
        raise ValueError("whether np.real_if_close of complex numbers is real depends on the data: write z.real")
    return array_like(a)


@in_numpy(np.linalg.matmul)
def matmul(x1: Any, x2: Any, /) -> Any:
    return np.matmul(x1, x2)


@in_numpy(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    if axes is not None:
        raise ValueError("np.linalg.tensorsolve with axes is not supported: move them before, by np.moveaxis")
    shape = a.shape[b.ndim :]
    n = np.size(b)
    return np.reshape(np.linalg.solve(np.reshape(a, (n, n)), np.ravel(b)), shape)


@in_numpy(np.linalg.tensorinv)
def tensorinv(a: Any, ind: Any = 2) -> Any:
    n = np.size(a, tuple(range(ind)))
    return np.reshape(np.linalg.inv(np.reshape(a, (n, n))), a.shape[ind:] + a.shape[:ind])
