"""Norms and vector products."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axes_of, axis_of, inexact, is_sequence
from sdfgad.parse.functions.special import root_of_squares
from sdfgad.parse.registry import in_numpy


@in_numpy(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    x = array_like(x)
    x = x.astype(inexact(x.dtype)) if x.dtype.kind not in "fc" else x
    if axis is None and (ord is None or (x.ndim == 1 and ord == 2) or (x.ndim == 2 and ord == "fro")):
        flat = np.ravel(x)
        result = root_of_squares(_dot(flat))
        return np.reshape(result, (1,) * x.ndim) if keepdims else result
    axes = [axis_of(k, x.ndim) for k in _listed(axis, x.ndim)]
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError("np.linalg.norm needs one axis or two")


def _listed(axis: Any, ndim: Any) -> Any:
    if axis is None:
        return [k for k in range(ndim)]  # noqa: C416
    return axis if is_sequence(axis) else [axis]


def _dot(x: Any) -> Any:
    return np.dot(x.real, x.real) + np.dot(x.imag, x.imag) if np.iscomplexobj(x) else np.dot(x, x)


def _squares(x: Any) -> Any:
    return x.real * x.real + x.imag * x.imag if np.iscomplexobj(x) else x * x


def _vector_norm(x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    if ord is None or ord == 2:
        return root_of_squares(np.sum(_squares(x), axis=axis, keepdims=keepdims))
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims, initial=0.0)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(np.abs(x).dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError("this ord of np.linalg.norm does not exist for vectors")
    total = np.sum(np.power(np.abs(x), ord), axis=axis, keepdims=keepdims)
    if ord > 0:
        # The power has an infinite derivative at 0; the norm's shall be 0.
        is_zero = total == 0
        return np.where(is_zero, 0.0, np.power(np.where(is_zero, 1.0, total), 1 / ord))
    return np.power(total, 1 / ord)


def _matrix_norm(x: Any, ord: Any, axes: Any, keepdims: Any) -> Any:
    rows, columns = axes
    if ord is None or ord == "fro":
        result = root_of_squares(np.sum(_squares(x), axis=(rows, columns)))
    elif ord in (1, -1):
        sums = np.sum(np.abs(x), axis=rows)
        rest = columns - 1 if columns > rows else columns
        result = np.max(sums, axis=rest, initial=0.0) if ord == 1 else np.min(sums, axis=rest)
    elif ord in (np.inf, -np.inf):
        sums = np.sum(np.abs(x), axis=columns)
        rest = rows - 1 if rows > columns else rows
        result = np.max(sums, axis=rest, initial=0.0) if ord == np.inf else np.min(sums, axis=rest)
    elif ord in (2, -2, "nuc"):
        # The derivative of abs at 0 is 0, and so is that of a singular value.
        values = np.abs(np.linalg.svd(np.moveaxis(x, (rows, columns), (-2, -1)), compute_uv=False))
        result = (
            np.sum(values, axis=-1)
            if ord == "nuc"
            else np.max(values, axis=-1)
            if ord == 2
            else np.min(values, axis=-1)
        )
    else:
        raise ValueError("this ord of np.linalg.norm does not exist for matrices")
    return np.expand_dims(result, (rows, columns)) if keepdims else result


@in_numpy(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    x = array_like(x)
    axes = axes_of(axis, x.ndim)
    if len(axes) == 1:
        return np.linalg.norm(x, ord, axes[0], keepdims)
    others = [k for k in range(x.ndim) if k not in axes]
    flat = np.reshape(np.transpose(x, axes + tuple(others)), (-1,) + tuple([x.shape[k] for k in others]))  # noqa: RUF005
    result = np.linalg.norm(flat, ord, 0)
    return np.expand_dims(result, axes) if keepdims else result


@in_numpy(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


@in_numpy(np.cross)
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Any:
    a, b = (array_like(a), array_like(b))
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    u, v = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if u.shape[-1] not in (2, 3) or v.shape[-1] not in (2, 3):
        raise ValueError("np.cross needs vectors of 2 or 3 components")
    if u.shape[-1] == 2 and v.shape[-1] == 2:
        return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    if u.shape[-1] == 2:
        u = np.concatenate((u, np.zeros_like(u[..., :1])), -1)
    if v.shape[-1] == 2:
        v = np.concatenate((v, np.zeros_like(v[..., :1])), -1)
    parts = [u[..., (k + 1) % 3] * v[..., (k + 2) % 3] - u[..., (k + 2) % 3] * v[..., (k + 1) % 3] for k in range(3)]
    return np.moveaxis(np.stack(parts, -1), -1, axisc)


@in_numpy(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    return np.cross(x1, x2, axis=axis)
