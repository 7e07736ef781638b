"""Columns: a list of alike tuples as arrays, one for each part, as of ``caches.append((x, h, z))`` in a loop.

Each part must have one array whose rows are the items in order, or be one object in all tuples, or a number that is
known. So a loop over the list, or over its items by a counter, is a loop over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.parse import trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Rolling
from sdfgad.parse.indexing import getitem
from sdfgad.parse.item_tables import table_of
from sdfgad.parse.rows import whole_of
from sdfgad.parse.tree_nodes import rebuilt_tuple
from sdfgad.parse.values import Tensor

# From a place that may be known only at run time to the item there.
Column = Callable[[Lin], Any]


def columns_of(b: Builder, values: Any, few: int) -> Column | None:
    """What gives the items of a list or tuple of at least `few` alike tuples of rows; None for others."""
    is_long = isinstance(values, (list, tuple)) and len(values) >= few
    if not is_long or b.rolling is Rolling.NONE or not isinstance(values[0], tuple):
        return None
    if not any(isinstance(leaf, Tensor) for leaf in trees.leaves(values[0])):
        return None
    state = b.snapshot()
    parts = _parts(b, values, few)
    if parts is None or not any(map(_has_rows, parts)):
        b.restore(state)
        return None
    b.has_rolled = True
    item = _item(values, parts)
    return lambda place: values[place.const] if place.is_const else item(place)


class _Rows:
    """A column that is an array."""

    def __init__(self, at: Column) -> None:
        self.at = at


def _has_rows(part: Any) -> bool:
    return isinstance(part, _Rows)


def _item(values: Sequence[Any], parts: Sequence[Any]) -> Column:
    like = values[0]
    return lambda place: rebuilt_tuple(like, [(one.at if _has_rows(one) else one)(place) for one in parts])


def _parts(b: Builder, values: Sequence[Any], few: int) -> list[Any] | None:
    like = values[0]
    if any(type(one) is not type(like) or len(one) != len(like) for one in values) or not like:
        return None
    found = [_column(b, [one[k] for one in values], few) for k in range(len(like))]
    return None if any(one is None for one in found) else found


def _column(b: Builder, values: list[Any], few: int) -> Any:
    whole = whole_of(b, values)
    if whole is not None:
        return _Rows(lambda place: getitem(b, whole, place))
    if all(one is values[0] for one in values):
        return lambda place: values[0]
    if isinstance(values[0], tuple):
        parts = _parts(b, values, few)
        if parts is None:
            return None
        return _Rows(_item(values, parts)) if any(map(_has_rows, parts)) else _item(values, parts)
    return table_of(b, values, few, is_known=True)
