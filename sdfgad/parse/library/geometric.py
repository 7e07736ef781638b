"""Geometric transformations of images, as in scipy.ndimage: the values of a spline at other places."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, axis_of, fixed_int, is_known, is_sequence
from sdfgad.parse.library.degrees import cosdg, sindg
from sdfgad.parse.library.image_splines import CONTINUED, ImageSpline, coefficients, require_known
from sdfgad.parse.library.images import image, require_no_output


def _of_each(value: Any, count: Any) -> Any:
    """One number for each axis, as a list."""
    if not is_sequence(value) and np.ndim(value) == 0:
        return [value] * count
    if len(value) != count:
        raise ValueError("a transformation of an image takes one number, or one for each axis")
    return [value[k] for k in range(count)]


@image("map_coordinates")
def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    require_no_output(output)
    values, at = array_like(input), array_like(coordinates).astype(np.float64)
    spline = ImageSpline(values, order, mode, cval, prefilter)
    return spline.at_points([at[axis] for axis in range(values.ndim)])


@image("shift")
def shift(
    input: Any,
    shift: Any,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    require_no_output(output)
    values = array_like(input)
    steps = _of_each(shift, values.ndim)
    spline = ImageSpline(values, order, mode, cval, prefilter)
    return spline.along_axes([np.arange(0.0, n) - step for n, step in zip(spline.shape, steps, strict=True)])


@image("zoom")
def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
    *,
    grid_mode: Any = False,
) -> Any:
    """The first and last elements stay where they are; in the mode of a grid, the edges of the first and last one."""
    require_no_output(output)
    if not is_known(zoom):
        raise ValueError("scipy.ndimage.zoom needs constant factors: write numbers, zoom(x, 2.0)")
    values = array_like(input)
    factors = _of_each(zoom, values.ndim)
    spline = ImageSpline(values, order, mode, cval, prefilter)
    counts = [round(n * float(factor)) for n, factor in zip(spline.shape, factors, strict=True)]
    if prefilter and all(factor == 1 for factor in factors):
        return np.copy(values)
    # SciPy hands this on for real images alone.
    grid_mode = grid_mode and not np.iscomplexobj(values)
    less, places = 0 if grid_mode else 1, []
    for n, count in zip(spline.shape, counts, strict=True):
        step = (n - less) / (count - less) if count != less else 1.0
        k = np.arange(0.0, count)
        places.append((k + 0.5) * step - 0.5 if grid_mode else k * step)
    return spline.along_axes(places)


@image("affine_transform")
def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    """The element at `k` is the value at ``matrix @ k + offset``."""
    require_no_output(output)
    values, matrix = array_like(input), array_like(matrix).astype(np.float64)
    d = values.ndim
    if matrix.ndim == 2 and fixed_int(matrix.shape[1]) == d + 1:
        matrix, offset = matrix[:d, :d], matrix[:d, d]
    if matrix.ndim not in (1, 2) or fixed_int(matrix.shape[0]) != d:
        raise ValueError("the matrix of an affine transformation has a row for each axis of the image")
    spline = ImageSpline(values, order, mode, cval, prefilter)
    shape = spline.shape if output_shape is None else [fixed_int(n) for n in output_shape]
    offsets = _of_each(offset, d)
    if matrix.ndim == 1:
        return spline.along_axes([matrix[k] * np.arange(0.0, shape[k]) + offsets[k] for k in range(d)])
    grid: Any = np.indices(shape).astype(np.float64)
    parts = []
    for k in range(d):
        place = 0.0
        for j in range(len(shape)):
            place = place + grid[j] * matrix[k, j]
        parts.append(place + offsets[k])
    return spline.at_points(parts)


@image("rotate")
def rotate(
    input: Any,
    angle: Any,
    axes: Any = (1, 0),
    reshape: Any = True,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    """In the plane of two axes around the middle, by an angle in degrees."""
    require_no_output(output)
    if reshape and not is_known(angle):
        raise ValueError("scipy.ndimage.rotate to a shape that fits needs a constant angle: pass reshape=False")
    x = array_like(input)
    first, second = axis_of(axes[0], x.ndim), axis_of(axes[1], x.ndim)
    if first > second:
        first, second = second, first
    planes = np.moveaxis(x, (first, second), (0, 1))
    sides = [fixed_int(planes.shape[0]), fixed_int(planes.shape[1])]
    c, s = cosdg(angle), sindg(angle)
    shape = _fitting(sides, float(c), float(s)) if reshape else sides
    half = [(n - 1) / 2 for n in shape]
    offset = [(sides[0] - 1) / 2 - (c * half[0] + s * half[1]), (sides[1] - 1) / 2 - (c * half[1] - s * half[0])]
    matrix = np.stack([np.stack([c, s]), np.stack([-s, c])])
    if x.ndim == 2:
        return affine_transform(x, matrix, offset, shape, None, order, mode, cval, prefilter)
    rows = np.reshape(planes, (*sides, -1))
    turned = [
        affine_transform(rows[:, :, k], matrix, offset, shape, None, order, mode, cval, prefilter)
        for k in range(fixed_int(rows.shape[2]))
    ]
    result = np.reshape(np.stack(turned, axis=2), (*shape, *planes.shape[2:]))
    return np.moveaxis(result, (0, 1), (first, second))


def _fitting(sides: Any, c: Any, s: Any) -> Any:
    """The sides of the rectangle around one that is turned."""
    a, b = sides
    return [int(abs(c * a) + abs(s * b) + 0.5), int(abs(s * a) + abs(c * b) + 0.5)]


@image("spline_filter1d")
def spline_filter1d(input: Any, order: Any = 3, axis: Any = -1, output: Any = np.float64, mode: Any = "mirror") -> Any:
    """The coefficients of a spline along one axis."""
    require_known(order, mode)
    if output is not np.float64 and output is not float:
        raise ValueError("spline_filter1d with output is not supported: convert its result by astype")
    x = array_like(input)
    x = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    return coefficients(x, order, axis_of(axis, x.ndim), CONTINUED[mode]) if order > 1 else np.copy(x)


@image("spline_filter")
def spline_filter(input: Any, order: Any = 3, output: Any = np.float64, mode: Any = "mirror") -> Any:
    if not is_known(order) or order not in (2, 3, 4, 5):
        raise ValueError("the order of spline_filter is 2, 3, 4 or 5")
    for axis in range(np.ndim(input)):
        input = spline_filter1d(input, order, axis, output, mode)
    return input
