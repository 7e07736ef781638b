"""Rolled appends: a list to which each trip of a loop appends an array, as the rows of an array that the loop fills.

In Python an item and the appended array are one object, but a row is a copy. That makes no difference for a value that
has no name, and for others only if the program updates that array in place: then it is parsed again (see `references`).
"""

from __future__ import annotations

from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, walk
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Rolling
from sdfgad.parse.rows import MANY_STATEMENTS, row_of
from sdfgad.parse.values import Tensor


def begin(b: Builder, var: str) -> None:
    """Forget what an earlier attempt to parse a loop with this counter has appended."""
    for filling in b.filling.values():
        filling.rows.pop(var, None)


def append(b: Builder, values: list[Any], value: Any) -> bool:
    """Append to a row of an array if `values` is a list that the present loop fills; else False."""
    filling = b.filling.get(id(values))
    if filling is None or filling.depth != len(b.blocks) or not b.loops or b.loops[-1][0] != filling.depth:
        return False
    _, var, trips = b.loops[-1]
    is_alike = isinstance(value, Tensor) and all(extent.is_const for extent in value.shape)
    is_kept = is_alike and not (value.is_shared and b.rolling is Rolling.VALUES)
    if not is_kept or not (value.ndim or value.dtype.kind in "fc"):
        raise NeedsConstant({var}, b.where, "a list is filled in a loop that runs at run time")
    array = b.new_view("", (trips, *value.shape), value.dtype, value.weak)
    b.refer(array.reindexed(value.shape, lambda p: (Lin.symbol(var), *p)), value, is_row=True)
    filling.rows.setdefault(var, []).append(array)
    b.has_rolled = True
    return True


def finish(b: Builder, var: str, trips: Lin, body: Block, are_alike: bool) -> None:
    """After a loop: its lists have its rows as items.

    Args:
        are_alike: whether the first trip computes with the same dtypes as the others.

    Raises:
        NeedsConstant: the first trip's item differs, or the loop is too small to be worth one.
    """
    filled = [one for one in b.filling.values() if var in one.rows and one.depth == len(b.blocks) + 1]
    if filled and (not are_alike or trips.const * sum(1 for _ in walk(body)) < MANY_STATEMENTS):
        raise NeedsConstant({var}, b.where, "a list is filled in a loop that is better unrolled")
    for filling in filled:
        arrays = filling.rows.pop(var)
        filling.values.extend(row_of(array, Lin(k)) for k in range(trips.const) for array in arrays)
