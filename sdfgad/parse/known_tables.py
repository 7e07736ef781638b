"""Arrays of numbers that are known while parsing, such as the edges of a graph, of which loops read elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.ir.expr import Lin
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Tensor, view_of


def integers(b: Builder, numbers: np.ndarray[Any, Any]) -> Callable[[Lin], Lin]:
    """What gives the integer at a place of an array that is known, and its bounds to the builder."""
    known, low, high = table(b, numbers), int(numbers.min()), int(numbers.max())

    def element(place: Lin) -> Lin:
        b.table_symbols |= place.symbols
        found = Lin.symbol(known.at(place))
        b.learn(found - low, Lin(high) - found)
        return found

    return element


def known_tables(b: Builder) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of such numbers, by buffer."""
    tables = {id(array) for array in b.tables.values()}
    return {name: array for name, array in b.captured.items() if id(array) in tables}


def table(b: Builder, numbers: np.ndarray[Any, Any]) -> Tensor:
    """A captured array of these numbers, the same one for each loop over them."""
    key = numbers.dtype.str, numbers.tobytes()
    known = b.tables.get(key)
    for name, array in b.captured.items():
        if array is known:
            return view_of(b.buffers[name]).as_value(settled=True)
    made = b.constant_array(numbers)
    b.tables[key] = list(b.captured.values())[-1]
    return made
