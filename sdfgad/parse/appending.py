"""Rolled appends: a list to which each trip of a loop appends an array, as the rows of an array that the loop fills.

In Python an item and the appended array are one object, but a row is a copy. That makes no difference for a value that
has no name, and for others only if the program updates that array in place: then it is parsed again (see `references`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, walk
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Body, Filling, Fills, Rolling, Row
from sdfgad.parse.rows import MANY_STATEMENTS, row_of
from sdfgad.parse.values import Tensor, is_integer


@contextmanager
def body_of(b: Builder, node: Any, var: str) -> Iterator[list[Filling]]:
    """The body of a loop; yields the lists that it fills, which are there at its end."""
    before, filled, depth = (b.filling, b.filler), list[Filling](), len(b.blocks)
    lists = b.to_fill.get(id(node))
    b.filling = b.filling | {id(values): Filling(values, depth, var) for values in lists or ()}
    b.filler = b.filler if lists is None else Body(node, depth, var)
    try:
        yield filled
        filled += [b.filling[id(values)] for values in lists or ()]
    finally:
        b.filling, b.filler = before


def append(b: Builder, values: list[Any], value: Any) -> bool:
    """Append to a row of an array if `values` is a list that the present loop fills; else False.

    Raises:
        Fills: the loop may fill it, once its body is parsed as one that does.
        NeedsConstant: the value is none that a row may stand for.
    """
    body, depth = b.filler, len(b.blocks)
    if body is None or depth != body.depth or b.loops[-1][0] != depth:
        return False
    filling = b.filling.get(id(values))
    if filling is None and _may_fill(b, values, depth):
        raise Fills(body.node, values)
    if filling is None or filling.depth != depth:
        return False
    row = _row(b, value)
    b.filling = b.filling | {id(values): replace(filling, rows=(*filling.rows, row))}
    b.contents.count_change(values)
    b.has_rolled = True
    return True


def _row(b: Builder, value: Any) -> Row:
    """What gives the item of each trip: a row of an array that the trip writes, or an integer as a form of the trip.

    Raises:
        NeedsConstant: the value is none of those.
    """
    _, var, trips = b.loops[-1]
    if is_integer(value) and Lin.of(value).symbols <= {var, *b.integers} and Lin.of(value).is_affine:
        return lambda trip: Lin.of(value).substitute({var: trip}).plain
    if isinstance(value, (float, complex, np.inexact)):
        # A name that the loop carries is a constant until it is known to be carried.
        return lambda trip: value
    is_alike = isinstance(value, Tensor) and all(extent.is_const for extent in value.shape)
    is_kept = is_alike and not (value.is_shared and b.rolling is Rolling.VALUES)
    if not is_kept or not (value.ndim or value.dtype.kind in "fc"):
        raise NeedsConstant({var}, b.where, "a list is filled in a loop that runs at run time")
    array = b.new_view("", (trips, *value.shape), value.dtype, value.weak)
    b.refer(array.reindexed(value.shape, lambda p: (Lin.symbol(var), *p)), value, is_row=True)
    return lambda trip: row_of(array, trip)


def _may_fill(b: Builder, values: list[Any], depth: int) -> bool:
    """Whether a list is one list of the program, made in the block that the loop is in, and nothing is its copy."""
    contents = b.contents
    is_own = type(values) is list and contents.has(values) and contents.depth(values) == depth - 1
    if not is_own or id(values) in b.taken or id(values) in b.outside:
        return False
    copies = [one for copy, others in contents.copies for one in (copy, *others)]
    return not trees.holds_any(copies, {id(values)})


def finish(b: Builder, var: str, trips: Lin, body: Block, fillings: list[Filling], are_alike: bool) -> None:
    """After a loop: its lists have its rows as items.

    Args:
        are_alike: whether the first trip computes with the same dtypes as the others.

    Raises:
        NeedsConstant: the first trip's item differs, or the loop is too small to be worth one.
    """
    filled = [one for one in fillings if one.rows]
    if filled and (not are_alike or trips.const * sum(1 for _ in walk(body)) < MANY_STATEMENTS):
        raise NeedsConstant({var}, b.where, "a list is filled in a loop that is better unrolled")
    for filling in filled:
        filling.values.extend(row(Lin(k)) for k in range(trips.const) for row in filling.rows)
