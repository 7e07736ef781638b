"""Structure of arrays: alike arrays or numbers that are items of a list, or parts of its items, as rows of one array.

So a loop that goes over such a list, or chooses its items by a counter, stays a loop. Items that are rows of one array
already are read where they are. Others are copied into a new array, before the loops in which they do not change. An
item is a reference in Python: programs that update such arrays in place are parsed again without copies (`references`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from sdfgad.ir.expr import Expr, Lin, Read, reads
from sdfgad.ir.program import Access, written
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Rolling
from sdfgad.parse.rows import row_of, rows_of, segments
from sdfgad.parse.values import Index, Tensor

# From places to others, which may be known only at run time.
Places = Callable[[Lin], Lin]


def column(
    b: Builder, items: Sequence[Tensor], looked_up: Callable[[np.ndarray[Any, Any]], Places]
) -> Callable[[Lin], Tensor] | None:
    """What gives the item at a place; None where the items may be neither read where they are nor copied.

    Args:
        looked_up: what gives the integers at places of an array that is known.
    """
    found = _along_an_axis(items)
    if found is not None:
        axis, numbers = found
        places = in_steps(numbers, looked_up)
        return lambda place: _moved(items[0], axis, places(place))
    if b.rolling is Rolling.VALUES and any(item.is_shared for item in items):
        return None
    array, weak = _gathered(b, items), items[0].weak
    return lambda place: replace(row_of(array, place), weak=weak, read_only=array.ndim > 1, settled=True)


def _along_an_axis(items: Sequence[Tensor]) -> tuple[int, list[int]] | None:
    """The axis of a buffer along which items are those of one array, as its rows and columns are, and their places."""
    first = _read_of(items[0])
    others = [_read_of(item) for item in items]
    if first is None or any(one is None or one.buffer != first.buffer for one in others) or items[0].copy is not None:
        return None
    indices = list(zip(*(one.index for one in others if one is not None), strict=True))
    axes = [axis for axis, places in enumerate(indices) if any(place != places[0] for place in places)]
    if len(axes) != 1 or not all(place.is_const for place in indices[axes[0]]):
        return None
    return axes[0], [place.const for place in indices[axes[0]]]


def _read_of(item: Tensor) -> Read | None:
    element = item.element(tuple(Lin.symbol(f"r{axis}_") for axis in range(item.ndim)))
    is_as_it_was = item.part or item.copy is not None or item.held is not None
    return element if isinstance(element, Read) and not is_as_it_was else None


def _moved(item: Tensor, axis: int, place: Lin) -> Tensor:
    """A view, or number, with another place along an axis of its buffer."""
    element, at = item.element, item.place

    def moved(index: tuple[Lin, ...]) -> tuple[Lin, ...]:
        return (*index[:axis], place, *index[axis + 1 :])

    def read(index: Index) -> Expr:
        old = element(index)
        assert isinstance(old, Read)
        return Read(old.buffer, moved(old.index), old.dtype)

    def placed(index: Index) -> Access:
        assert at is not None
        old = at(index)
        return replace(old, index=moved(old.index))

    return replace(item, element=read, place=None if at is None else placed)


def in_steps(places: list[int], looked_up: Callable[[np.ndarray[Any, Any]], Places]) -> Places:
    """Places as a linear form where they are one, as those of each second row or of rows in reverse order are."""
    step = places[1] - places[0]
    if all(y - x == step for x, y in pairwise(places)):
        return lambda place: place.scaled(step) + places[0]
    return looked_up(np.array(places))


def _gathered(b: Builder, items: Sequence[Tensor]) -> Tensor:
    """A new array with the items as rows, made before the loops and branches in which they stay what they are."""
    elements = [item.element(tuple(Lin.symbol(f"r{axis}_") for axis in range(item.ndim))) for item in items]
    depth = _depth_of(b, elements)

    def made() -> Tensor:
        with b.at_depth(depth):
            array = b.new_view("", (Lin(len(items)), *items[0].shape), items[0].dtype, items[0].weak)
            first = 0
            for rows in segments(b, items):
                b.refer(rows_of(array, first, rows.shape[0].const), rows, is_row=True)
                first += rows.shape[0].const
        return array

    found: Tensor = b.memoised(("items", items[0].weak), tuple(elements), made, depth)
    return found


def _depth_of(b: Builder, elements: Sequence[Expr]) -> int:
    """How deep in the blocks around all that expressions read has been computed, and does not change any more."""
    sources = {read.buffer for element in elements for read in reads(element)}
    if not sources.isdisjoint(column.buffer for column in b.objects.all):
        # Later statements of the loops around may assign to attributes.
        return len(b.blocks)
    symbols = set[str]().union(*(element.symbols for element in elements))
    writes = [depth for depth, block in enumerate(b.blocks, 1) if not sources.isdisjoint(written(tuple(block)))]
    counted = [depth for depth, var, _ in b.loops if var in symbols]
    carried = [depth for depth, buffers in b.carriers if not sources.isdisjoint(buffers)]
    return max([1, *writes, *counted, *carried])
