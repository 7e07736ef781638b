"""Lists of alike arrays as one array: a list whose items are the rows of an array, in order, is that array.

A comprehension whose items are alike is a loop that fills such an array, and what joins the items again, or iterates
over them, takes the array: the program has as many statements for a thousand items as for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import Expr, IntLike, Lin, Read, reads
from sdfgad.ir.program import reads_of, walk
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Rolling
from sdfgad.parse.known_tables import integers
from sdfgad.parse.values import Tensor, view_of

# Fewer statements are not worth a loop that fills an array: one by one, they are merged with others, and their indices
# are constants.
MANY_STATEMENTS = 32
# Items are gathered where each part that they come from gives so many of them in the mean.
FEWEST_OF_A_PART = 6
MANY_PARTS = 8
# The numbers of a shorter vector are taken one by one.
FEW_ELEMENTS = 16
ALIKE = "Append numbers, arrays of one shape and type, or tuples of such; copies of arrays that are updated in place."


def row_of(x: Tensor, position: Lin) -> Tensor:
    """A view of a row; of a vector's, the value."""
    row = x.reindexed(x.shape[1:], lambda p: (position, *p))
    return row.result


def elements_of(b: Builder, x: Any) -> list[Tensor] | None:
    """The numbers of a long vector, as in ``list(x)``: rows of a copy, so that a loop over them is a loop.

    None for integers, which may have to be known, and for what is no vector of known length.
    """
    is_vector = isinstance(x, Tensor) and x.ndim == 1 and x.dtype.kind in "fc" and x.shape[0].is_const
    if not is_vector or x.shape[0].const < FEW_ELEMENTS:
        return None
    copy = b.stored(x)
    return [row_of(copy, Lin(number)) for number in range(x.shape[0].const)]


def is_of_data(b: Builder, value: Expr) -> bool:
    """Whether data decides an integer or truth value, which loops cannot know when they are written out either."""
    found = {read.buffer for read in reads(value)}
    statements = [one for block in b.blocks for one in walk(tuple(block))]
    for statement in reversed(statements):
        if not statement.written.isdisjoint(found):
            found |= {read.buffer for read in reads_of(statement)}
    counted = {column.buffer for column in b.objects.all} | b.objects.masks
    return any(b.buffers[name].dtype.kind in "fc" or name in counted for name in found)


def rows_of(x: Tensor, first: IntLike, count: int) -> Tensor:
    """A view of rows that follow each other."""
    return x.reindexed((Lin(count), *x.shape[1:]), lambda p: (p[0] + first, *p[1:]))


def put_row(b: Builder, x: Tensor, position: Lin, value: Tensor) -> None:
    """Let a row be a value; of a vector, an element."""
    b.refer(x.reindexed(value.shape, lambda p: (position, *p)), value, is_row=True)


def copy_of_row(b: Builder, row: Tensor) -> Tensor:
    """A row as it is now: a copy of an array, which stands for a reference of it, or a number that does not change."""
    if not row.ndim:
        return b.materialise(row)
    copy = b.new_view("", row.shape, row.dtype, row.weak)
    b.refer(copy, row, is_row=True)
    return copy


def put_item(b: Builder, x: Tensor, position: Lin, value: Tensor) -> None:
    """Let a row be an item of a list whose length is data.

    Raises:
        UnsupportedProgram: the item is an array that is updated in place, which the row would not see.
    """
    if value.is_shared and b.rolling is Rolling.VALUES:
        raise b.unsupported("an array that is in a list whose length is data is updated in place", ALIKE)
    put_row(b, x, position, value)


def whole_of(b: Builder, values: Any) -> Tensor | None:
    """The array whose rows are the items of a list or tuple, all of them and in order; None if there is none."""
    if not isinstance(values, (list, tuple)) or len(values) < 2:
        return None
    if any(isinstance(value, Tensor) and value.held is not None for value in values):
        # The rows of the array may be others when they are read.
        return None
    rows = [_row(b, value) for value in values]
    if rows[0] is None or rows != [(rows[0][0], number) for number in range(len(values))]:
        return None
    if any(value.weak != values[0].weak for value in values):
        return None
    buffer = b.buffers[rows[0][0]]
    return view_of(buffer, values[0].weak) if buffer.shape[0] == Lin(len(values)) else None


def segments(b: Builder, values: Sequence[Tensor]) -> list[Tensor]:
    """Arrays with a further axis in front, whose rows are the items in order: rows of one array that follow each other,
    forwards or backwards, are a part of that array, and items that are equal throughout are one."""
    found: list[_Run | _Repeated] = []
    for value in values:
        row, last = _row(b, value), found[-1] if found else None
        one = _Repeated(value) if row is None else _Run(*row)
        longer = None if last is None else last.followed_by(one)
        found[len(found) - (longer is not None) :] = [one if longer is None else longer]
    return [one.of(b) for one in found]


def few_segments(b: Builder, values: Sequence[Tensor], dtype: np.dtype[Any]) -> list[Tensor]:
    """The same arrays for copies of the items; one alone, if that takes far fewer statements."""
    found = segments(b, values)
    whole = _gathered(b, values, dtype) if len(found) > MANY_PARTS else None
    return found if whole is None else [whole]


def _gathered(b: Builder, values: Sequence[Tensor], dtype: np.dtype[Any]) -> Tensor | None:
    """All items, by known places in an array with each of them once; None if that has not far fewer parts.

    So a list to which the branches of a loop append in turn takes a statement for each branch, not for each item.
    """
    keys = [_key(b, value, number) for number, value in enumerate(values)]
    different = dict(zip(keys, values, strict=True))
    order = sorted(different, key=lambda key: key if isinstance(key[0], str) else ("", 0))
    parts = segments(b, [different[key] for key in order])
    if len(parts) * FEWEST_OF_A_PART > len(values):
        return None
    whole, first = b.new_view("", (Lin(len(order)), *values[0].shape), dtype), 0
    for part in parts:
        b.assign(rows_of(whole, first, part.shape[0].const), part)
        first += part.shape[0].const
    numbers = {key: number for number, key in enumerate(order)}
    place = integers(b, np.array([numbers[key] for key in keys]))
    return whole.reindexed((Lin(len(values)), *whole.shape[1:]), lambda p: (place(p[0]), *p[1:]))


def _key(b: Builder, value: Tensor, number: int) -> tuple[Any, int]:
    """What equal items have in common: the row of an array that they are, or, of numbers, the expression."""
    row = _row(b, value)
    return row or ((value.at(), 0) if not value.ndim else (None, number))


@dataclass(frozen=True)
class _Repeated:
    """An item, and others whose elements are the same expressions."""

    value: Tensor
    count: int = 1

    def followed_by(self, other: _Run | _Repeated) -> _Repeated | None:
        if not isinstance(other, _Repeated) or other.value.ndim or self.value.at() != other.value.at():
            return None
        return replace(self, count=self.count + 1)

    def of(self, b: Builder) -> Tensor:
        return self.value.reindexed((Lin(self.count), *self.value.shape), lambda p: p[1:])


@dataclass(frozen=True)
class _Run:
    """Rows of a buffer that follow each other."""

    buffer: str
    first: int
    count: int = 1
    step: int = 1

    def followed_by(self, other: _Run | _Repeated) -> _Run | None:
        """The run with one more row, if that is the next one."""
        if not isinstance(other, _Run) or other.buffer != self.buffer:
            return None
        step = other.first - self.first if self.count == 1 else self.step
        is_next = abs(step) == 1 and other.first == self.first + self.count * step
        return replace(self, count=self.count + 1, step=step) if is_next else None

    def of(self, b: Builder) -> Tensor:
        whole, first, step = view_of(b.buffers[self.buffer]), self.first, self.step
        return whole.reindexed((Lin(self.count), *whole.shape[1:]), lambda p: (p[0].scaled(step) + first, *p[1:]))


def _row(b: Builder, value: Any) -> tuple[str, int] | None:
    """The buffer and the number of the row that a value is, all of it; None if it is none."""
    if not isinstance(value, Tensor) or value.copy is not None:
        return None
    symbols = tuple(Lin.symbol(f"r{axis}_") for axis in range(value.ndim))
    element = value.element(symbols)
    if not isinstance(element, Read) or len(element.index) != value.ndim + 1 or element.index[1:] != symbols:
        return None
    is_row = element.index[0].is_const and b.buffers[element.buffer].shape[1:] == value.shape
    return (element.buffer, element.index[0].const) if is_row else None
