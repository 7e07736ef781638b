"""Matrices of derivatives that programs compute, of products that are mapped over the unit vectors.

What makes these products comes from `sdfgad.api`, as arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def columns(jvp: Any, vmap: Any, f: Any, args: Any, position: Any) -> Any:
    """The derivatives of what a function returns by the elements of one argument, along a first axis."""
    x = args[position]

    def along(t: Any) -> Any:
        return jvp(f, args, [t if k == position else None for k in range(len(args))])[1]

    return vmap(along)(units(np.shape(x)))


def rows(pullback: Any, vmap: Any, args: Any, shape: Any) -> Any:
    """The gradients of the elements of an output of a shape by one argument, along a first axis."""
    return vmap(lambda c: pullback(*args, cotangent=c))(units(shape))


def units(shape: Any) -> Any:
    """For each element of an array the array that is 1 there and else 0, along a first axis."""
    size = 1
    for extent in shape:
        size = size * extent
    return np.reshape(np.eye(size), (size, *shape))


def with_axes(found: Any, shape: Any, is_last: Any) -> Any:
    """An array with the axes of a shape in place of its first axis; they come last if `is_last`."""
    rest = np.shape(found)[1:]
    if is_last:
        return np.reshape(np.moveaxis(found, 0, -1), (*rest, *shape))
    return np.reshape(found, (*shape, *rest))
