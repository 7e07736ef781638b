"""Arrays that constant propagation follows: which, and what is known of their elements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Lin
from sdfgad.ir.program import Access, Buffer, Params

Array = np.ndarray[Any, Any]
KINDS = "ib"
# Larger arrays, and arrays that are filled in more parts than these unless they are small, are not followed.
MOST_ELEMENTS = 2**20
MOST_PARTS = 64
SMALL = 2**12


@dataclass(frozen=True)
class Partial:
    """The elements of an array, which of them are not known yet, and the number of statements that have filled it."""

    array: Array
    missing: Array
    parts: int

    @staticmethod
    def of(buffer: Buffer, array: Array | None) -> Partial:
        shape = tuple(extent.const for extent in buffer.shape)
        known = np.zeros(shape, buffer.dtype) if array is None else array
        return Partial(known, np.full(shape, array is None), 0)

    def assigned(self, index: tuple[Any, ...], values: Array, accumulate: str | None) -> Partial:
        # Snapshots share arrays: each part is written to a copy.
        array, missing = self.array.copy(), self.missing.copy()
        if accumulate is None:
            array[index], missing[index] = values, False
        else:
            flat = np.ravel_multi_index(index, array.shape) if index else 0
            getattr(np, accumulate).at(array.reshape(-1), *np.broadcast_arrays(flat, values))
        return Partial(array, missing, self.parts + 1)


def can_follow(buffer: Buffer) -> bool:
    sizes = [extent.const for extent in buffer.shape if extent.is_const]
    return buffer.dtype.kind in KINDS and len(sizes) == len(buffer.shape) and math.prod(sizes) <= MOST_ELEMENTS


def is_of_floats(buffer: Buffer) -> bool:
    """Whether these may be floats of which integers are made."""
    are_known = all(extent.is_const for extent in buffer.shape)
    return buffer.dtype.kind == "f" and are_known and math.prod(e.const for e in buffer.shape) <= SMALL


def is_whole(buffer: Buffer, params: Params, place: Access) -> bool:
    """Whether a statement writes each element of a buffer, in order."""
    sizes = tuple(extent for _, extent in params)
    return sizes == tuple(buffer.shape) and place.index == tuple(Lin.symbol(name) for name, _ in params)


def points(params: Params, most: int = MOST_ELEMENTS) -> dict[str, Array] | None:
    """The values of the parameters of a box, which broadcast to its shape; None if it is large, or not known."""
    extents = [extent.const for _, extent in params]
    if not all(extent.is_const for _, extent in params) or math.prod(extents) > most:
        return None
    grids = np.ogrid[tuple(slice(0, extent) for extent in extents)] if extents else ()
    return {name: grid.astype(INT) for (name, _), grid in zip(params, grids, strict=True)}
