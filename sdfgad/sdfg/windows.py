"""Aliases: an array that is a part of another one, or its elements in another order, as a map of indices.

Views see an array from some element of it on with strides of their own, as pointers in C do. An axis of what is seen is
an axis of the array with the same stride; where there is none, the position in memory decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin, Rewriter
from sdfgad.ir.folding import folded
from sdfgad.ir.program import Access
from sdfgad.parse.strides import ravelled, unravelled
from sdfgad.sdfg.forms import Symbols, form_of

ONE = Lin(1)
Index = tuple[Lin, ...]
TODO = "Copy the part to an array of its own before, or give the view the strides of what it sees."


@dataclass(frozen=True)
class Window:
    """What an array sees of a buffer: `places` are the indices of its element (`axis(0)`, `axis(1)`, …)."""

    buffer: str
    shape: Index
    places: Index

    def at(self, index: Index) -> Access:
        """The element of the buffer."""
        symbols = {axis(k): form for k, form in enumerate(index)}
        return Access(self.buffer, Rewriter(symbols).index(self.places))


@dataclass(frozen=True)
class Layout:
    """The extents and the strides of an array, in elements."""

    shape: Index
    strides: Index

    @staticmethod
    def of(descriptor: Any, symbols: Symbols) -> Layout:
        if not hasattr(descriptor, "strides"):
            return Layout((ONE,), (ONE,))
        forms = [tuple(form_of(value, symbols) for value in part) for part in (descriptor.shape, descriptor.strides)]
        return Layout(*forms)

    @property
    def is_row_major(self) -> bool:
        """Whether each element follows on the one before it, so that all sizes are known."""
        stride = 1
        for extent, given in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if not extent.is_const or (extent != ONE and given != Lin(stride)):
                return False
            stride *= extent.const
        return True


def axis(k: int) -> str:
    """The symbol that stands for an index of a window; no other symbol has such a name."""
    return f"@{k}"


@dataclass(frozen=True)
class Part:
    """The part of an array that a memlet names: along each axis the first index, the number of elements, the step."""

    starts: Index
    sizes: Index
    steps: Index


def seen(inner: Layout, outer: Layout, part: Part, what: str) -> Index:
    """The indices in an array of element (`axis(0)`, …) of what is seen from some element of it on.

    Raises:
        UnsupportedGraph: strides do not tell them.
    """
    if inner == outer and all(start == Lin(0) for start in part.starts):
        return tuple(Lin.symbol(axis(k)) for k in range(len(inner.shape)))
    matched = _by_strides(inner, outer, part) or _by_position(inner, outer, part.starts)
    if matched is None:
        raise UnsupportedGraph(f"{what} has other strides than what it sees, or more elements", todo=TODO)
    return matched


def _by_strides(inner: Layout, outer: Layout, part: Part) -> Index | None:
    places, free = list(part.starts), [k for k, extent in enumerate(outer.shape) if extent != ONE]
    for k, (extent, stride) in enumerate(zip(inner.shape, inner.strides, strict=True)):
        if extent == ONE:
            continue
        pairs = ((d, width) for d in free for width in (1, part.steps[d].const) if _fits(extent, d, outer, part))
        same = next(((d, width) for d, width in pairs if outer.strides[d].scaled(width) == stride), None)
        if same is None:
            return None
        places[same[0]] = places[same[0]] + Lin.symbol(axis(k)).scaled(same[1])
        free.remove(same[0])
    return tuple(places)


def _fits(extent: Lin, d: int, outer: Layout, part: Part) -> bool:
    """Whether so many elements lie along an axis: as many as the part has there, or a number that is no larger."""
    if extent == part.sizes[d]:
        return True
    start, whole = part.starts[d], outer.shape[d]
    are_numbers = extent.is_const and whole.is_const
    return are_numbers and extent.const <= whole.const - (start.const if start.is_const else 0)


def _by_position(inner: Layout, outer: Layout, starts: Sequence[Lin]) -> Index | None:
    """As numbers, from the position in memory; only where the array has no gaps."""
    if not outer.is_row_major or not all(e.is_const and s.is_const for e, s in _axes(inner)):
        return None
    sizes = [extent.const for extent in outer.shape]
    flat = ravelled(tuple(starts), sizes)
    for k, (extent, stride) in enumerate(_axes(inner)):
        flat = flat + (Lin.symbol(axis(k)).scaled(stride.const) if extent != ONE else 0)
    reach = sum((e.const - 1) * s.const for e, s in _axes(inner))
    start = ravelled(tuple(starts), sizes)
    if not start.is_const or start.const + reach >= math.prod(sizes):
        return None
    ranges = {axis(k): (0, extent.const - 1) for k, extent in enumerate(inner.shape)}
    return tuple(folded(form, ranges) for form in unravelled(flat, sizes))


def _axes(layout: Layout) -> list[tuple[Lin, Lin]]:
    return list(zip(layout.shape, layout.strides, strict=True))
