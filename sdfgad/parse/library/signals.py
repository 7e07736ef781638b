"""Convolutions and linear filters, as in scipy.signal."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int
from sdfgad.parse.registry import optional


def _signal(*names: str) -> Any:
    return optional("scipy.signal", *names, is_definition=True)


def _full(x: Any, y: Any) -> Any:
    """The full convolution, by a loop over the elements of the second array, or of the two of least dimension 1."""
    if x.ndim != y.ndim or x.ndim not in (1, 2):
        raise ValueError(
            "scipy.signal convolves only two vectors or two matrices here: loop over the rows, or the parts"
        )
    if x.ndim == 1:
        return np.convolve(x, y)
    (m, n), (p, q) = x.shape, y.shape
    result = np.zeros((m + p - 1, n + q - 1), np.result_type(x.dtype, y.dtype))
    for i in range(p):
        for j in range(q):
            result[i : i + m, j : j + n] += y[i, j] * x
    return result


def _cut(whole: Any, x: Any, y: Any, mode: Any) -> Any:
    """The part of a full convolution for a mode: the middle in the first array's shape, or where both overlap."""
    if mode == "full":
        return whole
    if mode not in ("same", "valid"):
        raise ValueError("the mode of a convolution is 'full', 'same' or 'valid'")
    sizes = [fixed_int(n) for n in x.shape]
    if mode == "valid":
        others = [fixed_int(n) for n in y.shape]
        if min([a - b for a, b in zip(sizes, others)]) < 0 < max([a - b for a, b in zip(sizes, others)]):  # noqa: B905
            raise ValueError("one array must be at least as large as the other along every axis")
        sizes = [max(a, b) - min(a, b) + 1 for a, b in zip(sizes, others)]  # noqa: B905
    starts = [(fixed_int(whole.shape[k]) - sizes[k]) // 2 for k in range(whole.ndim)]
    return whole[tuple([slice(starts[k], starts[k] + sizes[k]) for k in range(whole.ndim)])]


@_signal("convolve", "fftconvolve", "oaconvolve")
def convolve(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto", axes: Any = None) -> Any:
    """Computed directly, whatever the method."""
    if axes is not None:
        raise ValueError("a convolution along some axes is not supported: loop over the rows")
    in1, in2 = (array_like(in1), array_like(in2))
    return _cut(_full(in1, in2), in1, in2, mode)


@_signal("correlate")
def correlate(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    in1, in2 = (array_like(in1), array_like(in2))
    return _cut(_full(in1, np.conjugate(np.flip(in2))), in1, in2, mode)


@_signal("convolve2d")
def convolve2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    in1, in2 = (array_like(in1), array_like(in2))
    return _cut(_with_boundary(in1, in2, boundary, fillvalue), in1, in2, mode)


@_signal("correlate2d")
def correlate2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    in1, in2 = (array_like(in1), np.conjugate(np.flip(array_like(in2))))
    whole = _with_boundary(in1, in2, boundary, fillvalue)
    # Of an even number of weights, the right one of those in the middle is that of the element.
    return np.flip(_cut(np.flip(whole), in1, in2, mode)) if mode == "same" else _cut(whole, in1, in2, mode)


def _with_boundary(x: Any, y: Any, boundary: Any, fillvalue: Any) -> Any:
    """The full convolution, with what is beyond the edges of the first array."""
    if boundary == "fill" and fillvalue == 0:
        return _full(x, y)
    kinds: Any = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}
    widths = [(fixed_int(n) - 1, fixed_int(n) - 1) for n in y.shape]
    if boundary == "fill":
        wide = np.pad(x, widths, "constant", constant_values=fillvalue)
    else:
        wide = np.pad(x, widths, kinds[boundary])
    return _cut(_full(wide, y), wide, y, "valid")


@_signal("lfilter")
def lfilter(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """The difference equation ``a[0] y[n] = b[0] x[n] + … - a[1] y[n - 1] - …``, from rest, or from a state `zi`."""
    b, a, x = (np.atleast_1d(array_like(b)), np.atleast_1d(array_like(a)), array_like(x))
    axis = axis_of(axis, x.ndim)
    rows = np.moveaxis(x, axis, 0)
    if zi is None:
        return np.moveaxis(filtered(b, a, rows, None), 0, axis)
    start = np.moveaxis(array_like(zi), axis, 0)
    y = filtered(b, a, rows, start)
    return np.moveaxis(y, 0, axis), np.moveaxis(_state(b, a, rows, y), 0, axis)


def filtered(b: Any, a: Any, rows: Any, start: Any) -> Any:
    """The filter along the first axis; the state of the transposed direct form II adds to what drives the recursion."""
    n, order = rows.shape[0], fixed_int(a.shape[0]) - 1
    kind = np.result_type(b.dtype, a.dtype, rows.dtype)
    driven = np.zeros(rows.shape, kind)
    for k in range(min(fixed_int(b.shape[0]), fixed_int(n))):
        driven[k:] += b[k] / a[0] * rows[: n - k]
    if start is not None:
        driven[: start.shape[0]] += start[: fixed_int(n)]
    if order == 0:
        return driven
    state = np.zeros((n + order,) + rows.shape[1:], kind)  # noqa: RUF005
    for i in range(n):
        state[i + order] = driven[i]
        for k in range(1, order + 1):
            state[i + order] -= a[k] / a[0] * state[i + order - k]
    return state[order:]


def _state(b: Any, a: Any, x: Any, y: Any) -> Any:
    """The state after the last element."""
    n, order = fixed_int(x.shape[0]), max(fixed_int(b.shape[0]), fixed_int(a.shape[0])) - 1
    if n < order:
        raise ValueError("scipy.signal.lfilter with zi takes as many elements as the filter has delays, or more")
    b, a = (
        np.concatenate((b, np.zeros(order + 1 - b.shape[0]))),
        np.concatenate((a, np.zeros(order + 1 - a.shape[0]))),
    )
    state = np.zeros((order, *y.shape[1:]), y.dtype)
    for k in range(order):
        for m in range(k + 1, order + 1):
            state[k] += b[m] / a[0] * x[n - m + k] - a[m] / a[0] * y[n - m + k]
    return state
