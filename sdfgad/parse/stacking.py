"""Array-likes: converts nested sequences, numbers and arrays to tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import Const, Lin
from sdfgad.parse.builder import Builder
from sdfgad.parse.dense_matrices import Sums
from sdfgad.parse.rows import few_segments
from sdfgad.parse.truth_values import require_known
from sdfgad.parse.values import Record, Tensor, as_tensor, is_static

FLOAT = np.dtype(np.float64)
# A longer list of numbers becomes an input array of the program instead of an assignment for each element.
MANY = 8


def stacked(b: Builder, x: Any) -> Tensor:
    """Nested sequences of equal shape as a new array; a number or an array as a tensor."""
    if isinstance(x, np.ndarray):
        return b.constant_array(x)
    if isinstance(x, range):
        return b.constant_array(np.array(x))
    if not isinstance(x, (list, tuple)):
        b.versions.require_current(x, "an item")
        return as_tensor(x.fields["A"] if isinstance(x, Record) and x.cls is Sums else x)
    if is_static(x) and len(x) > MANY:
        return stacked(b, b.python(np.array, x))
    if len(x) > MANY and _are_tuples(x):
        return _joined([stacked(b, list(column)) for column in zip(*x, strict=True)], b)
    parts = [stacked(b, part) for part in x]
    if not parts:
        return Tensor((Lin(0),), FLOAT, lambda _: Const(0, FLOAT))
    _require_alike(b, parts)
    result = b.new_view("", (Lin(len(parts)), *parts[0].shape), _dtype_of(b, parts))
    first = 0
    for rows in few_segments(b, parts, result.dtype):
        b.assign(_from(result, first, rows.shape[0]), rows)
        first += b.constant(rows.shape[0])
    return result


def _are_tuples(x: Sequence[Any]) -> bool:
    """Whether all items of a list are lists or tuples of a few parts each."""
    lengths = {len(one) if isinstance(one, (list, tuple)) else 0 for one in x}
    return len(lengths) == 1 and 0 < max(lengths) <= MANY


def _joined(columns: list[Tensor], b: Builder) -> Tensor:
    """Arrays as the columns of a new one: fewer statements than one for each part of each row."""
    _require_alike(b, columns)
    first = columns[0]
    result = b.new_view("", (first.shape[0], Lin(len(columns)), *first.shape[1:]), _dtype_of(b, columns))
    for number, column in enumerate(columns):
        place = partial(_in_column, number)
        b.assign(result.reindexed(column.shape, place), column)
    return result


def _in_column(number: int, place: tuple[Lin, ...]) -> tuple[Lin, ...]:
    return (place[0], Lin(number), *place[1:])


def _require_alike(b: Builder, parts: Sequence[Tensor]) -> None:
    if any(part.ndim != parts[0].ndim for part in parts):
        raise ShapeMismatch(
            "the parts of a list differ in their numbers of dimensions",
            b.where,
            "Give all parts the same shape: np.array([x[0], s]) of numbers, or np.concatenate((x, [s])) of arrays.",
        )


def _dtype_of(b: Builder, parts: list[Tensor]) -> np.dtype[Any]:
    require_known(b, parts, "so is the dtype of an array")
    return np.result_type(*(part.dtype for part in parts))


def _from(x: Tensor, first: int, count: Lin) -> Tensor:
    return x.reindexed((count, *x.shape[1:]), lambda p: (p[0] + first, *p[1:]))
