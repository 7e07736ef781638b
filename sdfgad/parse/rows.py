"""Lists of alike arrays as one array: a list whose items are the rows of an array, in order, is that array.

A comprehension whose items are alike is a loop that fills such an array, and what joins the items again, or iterates
over them, takes the array: the program has as many statements for a thousand items as for one.
"""

from __future__ import annotations

from typing import Any

from sdfgad.ir.expr import Lin, Read
from sdfgad.parse.builder import Builder
from sdfgad.parse.values import Tensor, view_of


def row_of(x: Tensor, position: Lin) -> Tensor:
    """A view of a row; of a vector's, the value."""
    row = x.reindexed(x.shape[1:], lambda p: (position, *p))
    return row if row.ndim else row.as_value(settled=True)


def whole_of(b: Builder, values: Any) -> Tensor | None:
    """The array whose rows are the items of a list or tuple, all of them and in order; None if there is none."""
    if not isinstance(values, (list, tuple)) or len(values) < 2 or not isinstance(values[0], Tensor):
        return None
    first = values[0]
    symbols = tuple(Lin.symbol(b.fresh("p")) for _ in first.shape)
    for number, value in enumerate(values):
        if not isinstance(value, Tensor) or value.ndim != first.ndim or value.is_copy:
            return None
        element = value.element(symbols)
        if not isinstance(element, Read) or element.index != (Lin(number), *symbols):
            return None
        if element.buffer != first.element(symbols).buffer:  # type: ignore[attr-defined]
            return None
    buffer = b.buffers[first.element(symbols).buffer]  # type: ignore[attr-defined]
    return view_of(buffer) if buffer.shape == (Lin(len(values)), *first.shape) else None
