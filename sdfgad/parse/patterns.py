"""Closed forms of index arrays: integer functions of positions that arrays such as ``(np.arange(n) + 1) % n`` hide.

An index array of known elements is taken apart into a sum of functions of one axis each, as in im2col. Such a function
is a number in mixed radix, each digit of which counts with a step of its own (what np.arange, np.repeat and np.tile
give), or a few of them one after another, as of a periodic neighbour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from typing import Any

import numpy as np

from sdfgad.ir.expr import Lin
from sdfgad.parse.strides import unravelled
from sdfgad.parse.values import Index

Array = np.ndarray[Any, Any]
# More digits cost more divisions than a look-up costs.
MOST_DIGITS = 3
# More parts of an array are more statements than a gather is worth.
MOST_PARTS = 3
MOST_PIECES = 9


@dataclass(frozen=True)
class _Digits:
    """The function ``first + sum(step * digit)`` of a position in mixed radix, least digit last."""

    first: int
    radices: tuple[int, ...]
    steps: tuple[int, ...]

    def at(self, position: Lin) -> Lin:
        digits = unravelled(position, list(self.radices))
        return sum((d.scaled(step) for d, step in zip(digits, self.steps, strict=True)), Lin(self.first))


@dataclass(frozen=True)
class Piece:
    """A box of positions, and in it the elements of some arrays as functions of the position relative to its start."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    _forms: tuple[tuple[_Digits, ...], ...]

    def element(self, number: int, position: Index) -> Lin:
        """The element of array `number`."""
        along = (form.at(p) for form, p in zip(self._forms[number], position, strict=True))
        return reduce(lambda x, y: x + y, along, Lin(0))


def pieces(arrays: Sequence[Array]) -> list[Piece] | None:
    """Boxes that cover all positions of some arrays of one shape, and closed forms of them; None if there are none.

    Example:
        ``(np.arange(8) + 1) % 8`` has two pieces, ``p + 1`` for the first 7 positions and 0 for the last one.
    """
    separate = [_separated(array) for array in arrays]
    if not all(separate) or not arrays[0].size:
        return None
    axes = [_parts([functions[axis] for functions in separate]) for axis in range(arrays[0].ndim)]
    boxes = list(product(*axes))
    if not boxes or len(boxes) > MOST_PIECES:
        return None
    numbers = range(len(arrays))
    return [
        Piece(
            tuple(part.start for part in box),
            tuple(part.size for part in box),
            tuple(tuple(part.forms[number] for part in box) for number in numbers),
        )
        for box in boxes
    ]


def _separated(array: Array) -> list[Array]:
    """Functions of one axis each whose sum at a position is the array's element there; empty if there are none."""
    if not array.size:
        return []
    lines = [np.moveaxis(array, axis, -1).reshape(-1, extent)[0] for axis, extent in enumerate(array.shape)]
    lines[1:] = [line - line[0] for line in lines[1:]]
    total: Any = sum(line.reshape(-1, *(1,) * (array.ndim - 1 - axis)) for axis, line in enumerate(lines))
    return lines if np.array_equal(np.broadcast_to(total, array.shape), array) else []


@dataclass(frozen=True)
class _Part:
    """A part of an axis, and the forms of some functions of the axis in it."""

    start: int
    size: int
    forms: tuple[_Digits, ...]


def _parts(functions: Sequence[Array]) -> list[_Part]:
    """The least number of parts of an axis in which all functions have closed forms; empty if they are too many."""
    size = len(functions[0])
    ends = {0, size}
    for function in functions:
        if _digits(function) is None:
            ends |= _breaks(function)
    if len(ends) - 1 > MOST_PARTS:
        return []
    found = []
    for start, end in pairwise(sorted(ends)):
        forms = [_digits(function[start:end]) for function in functions]
        if None in forms:
            return []
        found.append(_Part(start, end - start, tuple(form for form in forms if form)))
    return found


def _breaks(function: Array) -> set[int]:
    """Where arithmetic progressions begin that make up a function, each of them as long as possible."""
    found, start = {0}, 0
    while start < len(function) and len(found) <= MOST_PARTS + 1:
        start += _progression(function[start:])
        found.add(start)
    return found


def _progression(function: Array) -> int:
    """The length of the arithmetic progression with which a function begins."""
    changes = np.flatnonzero(np.diff(function, n=2))
    return int(changes[0]) + 2 if len(changes) else len(function)


def _digits(function: Array) -> _Digits | None:
    """A function as a number in mixed radix, if it is one with few digits."""
    radices: list[int] = []
    steps: list[int] = []
    rest = function
    while len(rest) > 1:
        length = _progression(rest)
        radix = next(n for n in range(length, 0, -1) if len(rest) % n == 0)
        outer, inner = rest[::radix], rest[:radix] - rest[0]
        if radix == 1 or len(radices) == MOST_DIGITS or not np.array_equal(np.add.outer(outer, inner).ravel(), rest):
            return None
        radices.insert(0, radix)
        steps.insert(0, int(rest[1] - rest[0]))
        rest = outer
    return _Digits(int(function[0]), tuple(radices), tuple(steps))
