"""Array-likes: converts nested sequences, numbers and arrays to tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdfgad.errors import ShapeMismatch
from sdfgad.ir.expr import Const, Lin
from sdfgad.parse.builder import Builder
from sdfgad.parse.dense_matrices import Sums
from sdfgad.parse.rows import segments
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
    parts = [stacked(b, part) for part in x]
    if not parts:
        return Tensor((Lin(0),), FLOAT, lambda _: Const(0, FLOAT))
    if any(part.ndim != parts[0].ndim for part in parts):
        raise ShapeMismatch(
            "the parts of a list differ in their numbers of dimensions",
            b.where,
            "Give all parts the same shape: np.array([x[0], s]) of numbers, or np.concatenate((x, [s])) of arrays.",
        )
    require_known(b, parts, "so is the dtype of an array")
    dtype = np.result_type(*(part.dtype for part in parts))
    result = b.new_view("", (Lin(len(parts)), *parts[0].shape), dtype)
    first = 0
    for rows in segments(b, parts):
        b.assign(_from(result, first, rows.shape[0]), rows)
        first += b.constant(rows.shape[0])
    return result


def _from(x: Tensor, first: int, count: Lin) -> Tensor:
    return x.reindexed((count, *x.shape[1:]), lambda p: (p[0] + first, *p[1:]))
