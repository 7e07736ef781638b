"""Filters of images, as in scipy.ndimage: correlations of a padded array with weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int, is_known, is_sequence, part_of
from sdfgad.parse.registry import optional

# SciPy's names of what is beyond the edges, and those of np.pad.
PADDING = {
    **{"reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge"},
    **{"wrap": "wrap", "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant"},
}


def image(name: str) -> Any:
    return optional("scipy.ndimage", name, is_definition=True)


def _padded(x: Any, widths: Any, mode: Any, cval: Any) -> Any:
    if x.dtype.kind not in "fc":
        raise ValueError("filters of integers are not supported: convert the array, x.astype(float)")
    if mode not in PADDING:
        raise ValueError(
            "this mode of a filter is not supported: use 'reflect', 'constant', 'nearest', 'mirror' or 'wrap'"
        )
    kind: Any = PADDING[mode]
    return np.pad(x, widths, kind, constant_values=cval) if kind == "constant" else np.pad(x, widths, kind)


def _sum_of_shifts(padded: Any, weights: Any, shape: Any) -> Any:
    """The sum of ``weights[k] * padded[i + k]``, axis by axis; a loop over all weights, which may be many."""
    result = np.zeros(shape, padded.dtype)
    if weights.ndim == 1:
        for i in range(weights.shape[0]):
            result += weights[i] * padded[i : i + shape[0]]
    elif weights.ndim == 2:
        for i in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                result += weights[i, j] * padded[i : i + shape[0], j : j + shape[1]]
    elif weights.ndim == 3:
        for i in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                for k in range(weights.shape[2]):
                    part = padded[i : i + shape[0], j : j + shape[1], k : k + shape[2]]
                    result += weights[i, j, k] * part
    else:
        raise ValueError("filters of more than three dimensions are not supported: filter along one axis at a time")
    return result


def _filtered(x: Any, weights: Any, mode: Any, cval: Any, is_convolution: Any) -> Any:
    """The weight in the middle, or right of it, is that of the element; a convolution flips the weights first."""
    x, weights = (array_like(x), array_like(weights))
    weights = np.flip(weights) if is_convolution else weights
    widths = []
    for n in weights.shape:
        before = (fixed_int(n) - 1) // 2 if is_convolution else fixed_int(n) // 2
        widths.append((before, fixed_int(n) - 1 - before))
    return _sum_of_shifts(_padded(x, widths, mode, cval), weights, x.shape)


@image("correlate")
def correlate(input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    require_no_output(output)
    return _filtered(input, weights, mode, cval, False)


@image("convolve")
def convolve(input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    require_no_output(output)
    return _filtered(input, weights, mode, cval, True)


def require_no_output(output: Any) -> None:
    if output is not None:
        raise ValueError("a filter into an output array is not supported: assign its result")


# --- along one axis


def _along(x: Any, weights: Any, axis: Any, mode: Any, cval: Any, before: Any) -> Any:
    """The weighted sum of shifts along an axis, by a loop over the weights."""
    x, weights = (array_like(x), array_like(weights))
    axis = axis_of(axis, x.ndim)
    n, size = x.shape[axis], fixed_int(weights.shape[0])
    widths = {axis: (before, size - 1 - before)}
    padded = _padded(x, [widths.get(k, (0, 0)) for k in range(x.ndim)], mode, cval)
    result = np.zeros(x.shape, x.dtype)
    for i in range(weights.shape[0]):
        result += weights[i] * part_of(padded, axis, i, i + n)
    return result


@image("correlate1d")
def correlate1d(
    input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    require_no_output(output)
    return _along(input, weights, axis, mode, cval, np.size(weights) // 2)


@image("convolve1d")
def convolve1d(
    input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    require_no_output(output)
    return _along(input, np.flip(array_like(weights)), axis, mode, cval, (np.size(weights) - 1) // 2)


@image("uniform_filter1d")
def uniform_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    require_no_output(output)
    return _along(input, np.full(size, 1 / size), axis, mode, cval, size // 2)


@image("uniform_filter")
def uniform_filter(input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    require_no_output(output)
    for k in range(np.ndim(input)):
        input = uniform_filter1d(input, size[k] if is_sequence(size) else size, k, None, mode, cval)
    return input


@image("gaussian_filter1d")
def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: Any = -1,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
) -> Any:
    """Weights that are a normal density, normalised to a sum of 1, or its first or second derivative."""
    require_no_output(output)
    if not is_known(sigma) or order not in (0, 1, 2):
        raise ValueError(
            "a Gaussian filter needs a constant sigma, and the order 0, 1 or 2: write numbers, gaussian_filter(x, 1.5)"
        )
    reach = int(truncate * float(sigma) + 0.5) if radius is None else radius
    places = np.arange(-reach, reach + 1).astype(np.float64)
    weights = np.exp(-0.5 / (sigma * sigma) * places * places)
    weights = weights / np.sum(weights)
    if order == 1:
        weights = places / (sigma * sigma) * weights
    if order == 2:
        weights = (places * places / (sigma * sigma) - 1) / (sigma * sigma) * weights
    return _along(input, weights, axis, mode, cval, reach)


@image("gaussian_filter")
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
) -> Any:
    require_no_output(output)
    for k in range(np.ndim(input)):
        width, slope = (sigma[k] if is_sequence(sigma) else sigma, order[k] if is_sequence(order) else order)
        if width > 1e-15:
            input = gaussian_filter1d(input, width, k, slope, None, mode, cval, truncate, radius=radius)
    return input


@image("laplace")
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    require_no_output(output)
    return sum([_along(input, np.array([1.0, -2.0, 1.0]), k, mode, cval, 1) for k in range(np.ndim(input))])


def _edges(x: Any, axis: Any, mode: Any, cval: Any, smooth: Any) -> Any:
    """A difference along one axis, and weights along the others."""
    x = array_like(x)
    result = _along(x, np.array([-1.0, 0.0, 1.0]), axis, mode, cval, 1)
    for k in range(x.ndim):
        if k != axis_of(axis, x.ndim):
            result = _along(result, np.array([1.0, smooth, 1.0]), k, mode, cval, 1)
    return result


@image("sobel")
def sobel(input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    require_no_output(output)
    return _edges(input, axis, mode, cval, 2.0)


@image("prewitt")
def prewitt(input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    require_no_output(output)
    return _edges(input, axis, mode, cval, 1.0)
