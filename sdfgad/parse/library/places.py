"""Iterators over the places of arrays, their numbers, indirect sorts, and views by strides."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from sdfgad.parse.functions.facts import array_like, fixed_int, is_sequence
from sdfgad.parse.registry import in_numpy


@in_numpy(np.ndenumerate, static=False)
def ndenumerate(arr: Any) -> Any:
    """Places and elements, as they are when the loop comes to them."""
    arr = array_like(arr)
    return map(lambda *place: (place, arr[place]), *[np.ravel(one) for one in np.indices(arr.shape)])


# A loop over so many places is unrolled, so that its body may decide by them.
FEW_PLACES = 256


@in_numpy(np.ndindex, static=False)
def ndindex(*shape: Any) -> Any:
    """Places; many of them as elements of arrays, over which a loop runs at run time."""
    if len(shape) == 1 and isinstance(shape[0], tuple):
        shape = shape[0]
    sizes = [fixed_int(n) for n in shape]
    if math.prod(sizes) <= FEW_PLACES:
        return list(itertools.product(*[range(n) for n in sizes]))
    return zip(*[np.ravel(one) for one in np.indices(shape)])  # noqa: B905


@in_numpy(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> Any:
    """Places of which the numbers are given, as what `argmax` finds."""
    sizes = list(shape) if is_sequence(shape) else [shape]
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    rest = array_like(indices) if np.ndim(indices) else indices
    if not np.all(np.logical_and(rest >= 0, rest < math.prod(sizes))):
        raise ValueError("a number is out of bounds for an array of this shape")
    places = []
    for size in sizes if order == "F" else sizes[::-1]:
        places.append(rest % size)
        rest = rest // size
    return tuple(places if order == "F" else places[::-1])


@in_numpy(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    """Numbers of places, row by row or, in order "F", column by column."""
    sizes = list(dims) if is_sequence(dims) else [dims]
    if order not in ("C", "F") or len(multi_index) != len(sizes):
        raise ValueError("the order is neither 'C' nor 'F', or there are not as many coordinates as dimensions")
    modes = mode if is_sequence(mode) else [mode] * len(sizes)
    number, stride = 0, 1
    for k in range(len(sizes)) if order == "F" else range(len(sizes))[::-1]:
        place = multi_index[k]
        number = number + stride * _within(array_like(place) if np.ndim(place) else place, sizes[k], modes[k])
        stride = stride * sizes[k]
    return number


def _within(place: Any, size: Any, mode: Any) -> Any:
    """Coordinates brought into range as `mode` says."""
    if mode == "wrap":
        return place % size
    if mode == "clip":
        return np.clip(place, 0, size - 1)
    if not np.all(np.logical_and(place >= 0, place < size)):
        raise ValueError("invalid entry in coordinates array")
    return place


@in_numpy(np.lexsort)
def lexsort(keys: Any, axis: Any = -1) -> Any:
    """An indirect stable sort by several keys, of which the last one is the first criterion."""
    if axis not in (-1, 0) or max([np.ndim(key) for key in keys]) != 1:
        raise ValueError("np.lexsort is only supported of vectors: pass a tuple of vectors")
    order = np.argsort(array_like(keys[0]), kind="stable")
    for k in range(1, len(keys)):
        order = order[np.argsort(array_like(keys[k])[order], kind="stable")]
    return order


@in_numpy(np.lib.stride_tricks.as_strided, static=False)
def as_strided(x: Any, shape: Any = None, strides: Any = None, *options: Any, **more: Any) -> Any:
    """Refused: what strides in bytes mean depends on how the array lies in memory."""
    raise ValueError(
        "np.lib.stride_tricks.as_strided is not supported: write np.lib.stride_tricks.sliding_window_view(x, n)[::step]"
    )


def masked(*arrays: Any, **options: Any) -> Any:
    """Refused: a masked array is an object of another class."""
    raise ValueError(
        "masked arrays of np.ma are not supported: write np.where(mask, 0.0, x), or select elements by x[~mask]"
    )


for _name in ("array", "masked_where", "masked_invalid", "masked_less", "masked_greater", "masked_equal"):
    in_numpy(getattr(np.ma, _name), static=False)(masked)
in_numpy(np.ma.MaskedArray, static=False)(masked)
