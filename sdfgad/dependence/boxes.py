"""Boxes of integers: products of half-open intervals, one for each axis."""

from __future__ import annotations

import math
from collections.abc import Iterable

Box = tuple[tuple[int, int], ...]


def intersection(a: Box, b: Box) -> Box:
    return tuple((max(x[0], y[0]), min(x[1], y[1])) for x, y in zip(a, b, strict=True))


def volume(box: Box) -> int:
    return math.prod(max(0, high - low) for low, high in box)


def without(box: Box, core: Box) -> list[Box]:
    """Disjoint boxes that cover `box` except for `core`, which lies in it."""
    result: list[Box] = []
    rest = list(box)
    for axis, ((low, high), (first, last)) in enumerate(zip(box, core, strict=True)):
        for piece in ((low, first), (last, high)):
            if piece[0] < piece[1]:
                result.append((*rest[:axis], piece, *rest[axis + 1 :]))
        rest[axis] = (first, last)
    return result


def is_covered(box: Box, boxes: Iterable[Box]) -> bool:
    """Whether each element of a box is in one of some boxes."""
    rest = [box]
    for one in boxes:
        rest = [piece for left in rest for piece in _outside(left, one)]
    return not any(map(volume, rest))


def _outside(box: Box, other: Box) -> list[Box]:
    common = intersection(box, other)
    return without(box, common) if volume(common) else [box]
