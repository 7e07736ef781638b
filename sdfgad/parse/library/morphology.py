"""Filters of scipy.ndimage by order statistics or derivatives, and images at other places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int, is_sequence, part_of
from sdfgad.parse.functions.special import root_of_squares
from sdfgad.parse.library.images import _padded, gaussian_filter, image, require_no_output

# --- the derivatives of a Gaussian


def _second_or_first(input: Any, sigma: Any, mode: Any, cval: Any, order: Any, options: Any) -> Any:
    """The derivatives of this order along each axis."""
    n = np.ndim(input)
    orders = [[order if k == axis else 0 for k in range(n)] for axis in range(n)]
    return [gaussian_filter(input, sigma, orders[axis], None, mode, cval, **options) for axis in range(n)]


@image("gaussian_laplace")
def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, **options: Any
) -> Any:
    require_no_output(output)
    return sum(_second_or_first(input, sigma, mode, cval, 2, options))


@image("gaussian_gradient_magnitude")
def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, **options: Any
) -> Any:
    require_no_output(output)
    return root_of_squares(sum([one * one for one in _second_or_first(input, sigma, mode, cval, 1, options)]))


# --- order statistics of windows


def _windows(x: Any, size: Any, axis: Any, mode: Any, cval: Any) -> Any:
    """The array shifted along an axis by all places of a window, stacked along a new first axis."""
    before, axis = size // 2, fixed_int(axis)
    widths = {axis: (before, size - 1 - before)}
    padded = _padded(x, [widths.get(k, (0, 0)) for k in range(x.ndim)], mode, cval)
    return np.stack([part_of(padded, axis, k, k + x.shape[axis]) for k in range(size)], axis=0)


def _sizes(size: Any, ndim: Any) -> Any:
    if size is None:
        raise ValueError("a filter of a window with footprint is not supported: pass size=")
    return [fixed_int(one) for one in size] if is_sequence(size) else [fixed_int(size) for _ in range(ndim)]


def _extreme(x: Any, size: Any, mode: Any, cval: Any, is_largest: Any) -> Any:
    """The largest or least number of a box, axis by axis."""
    x = array_like(x)
    sizes = _sizes(size, x.ndim)
    for axis in range(x.ndim):
        if sizes[axis] > 1:
            parts = _windows(x, sizes[axis], axis, mode, cval)
            x = np.max(parts, axis=0) if is_largest else np.min(parts, axis=0)
    return x


@image("maximum_filter")
def maximum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    require_no_output(output)
    return _extreme(input, size if footprint is None else None, mode, cval, True)


@image("minimum_filter")
def minimum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    require_no_output(output)
    return _extreme(input, size if footprint is None else None, mode, cval, False)


@image("maximum_filter1d")
def maximum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    require_no_output(output)
    x = array_like(input)
    return np.max(_windows(x, fixed_int(size), axis_of(axis, x.ndim), mode, cval), axis=0)


@image("minimum_filter1d")
def minimum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    require_no_output(output)
    x = array_like(input)
    return np.min(_windows(x, fixed_int(size), axis_of(axis, x.ndim), mode, cval), axis=0)


@image("median_filter")
def median_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    """The middle of the sorted numbers of a window, or the upper one of two."""
    require_no_output(output)
    x = array_like(input)
    sizes, parts = _sizes(size if footprint is None else None, x.ndim), x[None]
    for axis in range(x.ndim):
        # With a new axis for each axis of the window.
        parts = _windows(parts, sizes[axis], axis + 1, mode, cval)
        parts = np.reshape(parts, (-1, *x.shape))
    return np.sort(parts, axis=0)[math.prod(sizes) // 2]


@image("center_of_mass")
def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    if labels is not None:
        raise ValueError("center_of_mass with labels is not supported: multiply by a mask, x * (labels == k)")
    x = array_like(input)
    total, places = np.sum(x), np.indices(x.shape)
    return tuple([np.sum(x * places[k]) / total for k in range(x.ndim)])
