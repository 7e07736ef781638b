"""Rolled appends: a list to which trips of loops append an array, as the rows of an array that the loops fill: all
trips, or those that the counters tell (``if k % 10 == 0``, ``if k in shown``, ``for j in range(i + 1, n)``). A dict to
which they give items by keys that the counters tell, likewise.

The list belongs to the outermost of these loops, after which it has its items. Where several statements append to it,
the places of their items in one array are known when the body has been parsed, and it is parsed again with them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import dict_keys, list_items, trajectories, trees
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Body, Fills, Row
from sdfgad.parse.iteration_domains import points_here
from sdfgad.parse.texts import is_plain

STORED = "a dict is filled in a loop that runs at run time, by keys that are not known at each of its trips"


def append(b: Builder, values: Any, value: Any, is_front: bool = False, key: Any = None) -> bool:
    """Append to rows of an array if `values` is a list or dict that a loop around fills; else False.

    Args:
        is_front: whether the value becomes the first item, ``values.insert(0, value)``.
        key: that of the value in a dict, ``values[key] = value``.

    Raises:
        Fills: the loop may fill it, once its body is parsed as one that does.
        NeedsConstant: the value is none that a row may stand for.
    """
    filling, body = b.filling.get(id(values)), filler(b, values)
    depth = body.depth if filling is None and body is not None else 0 if filling is None else filling.depth
    points = points_here(b, depth - 1) if depth else None
    if points is None or (filling is not None and filling.storing is not None):
        return False
    keys = dict_keys.keys_at(b, key, points) if type(values) is dict else []
    if keys is None or (filling is None and key is not None and len(set(keys)) < 2):
        return False
    if filling is None:
        assert body is not None
        if (id(body.node), id(values)) in b.only_read:
            return False
        raise Fills(body.node, values)
    if filling.array is None:
        row, filling = list_items.row(b, filling, value, points)
    else:
        row = Row(trajectories.put(b, filling, value), points)
    filling = replace(filling, rows=(*filling.rows, replace(row, is_front=is_front, keys=tuple(keys))))
    b.filling = b.filling | {id(values): filling}
    b.contents.count_change(values, b.loops)
    b.has_rolled = True
    return True


def store(b: Builder, values: Any, key: Any, value: Any) -> bool:
    """``values[key] = value`` of a dict that a loop around fills; else False.

    Raises:
        Fills, NeedsConstant: as `append`; or it is not known which key each trip gives an item.
    """
    filling = b.filling.get(id(values))
    if type(values) is not dict or (filling is None and is_plain(key)):
        return False
    if append(b, values, value, key=key):
        return True
    if filling is not None:
        raise NeedsConstant({filling.var}, b.where, STORED)
    return False


def expect(b: Builder, values: Any) -> None:
    """Where an item is chosen at run time from a list that a loop around may fill, before it appends to it.

    Raises:
        Fills: it may.
    """
    body = None if id(values) in b.filling else filler(b, values)
    if body is not None and (id(body.node), id(values)) not in b.only_read:
        trajectories.expect(b, body.node, values)
        raise Fills(body.node, values)


def filler(b: Builder, values: Any) -> Body | None:
    """The loop that may fill a list or dict of the program: it is in the block that makes it, and nothing is a copy."""
    contents = b.contents
    is_one = type(values) in (list, dict) and contents.has(values)
    if not is_one or id(values) in b.taken or id(values) in b.outside:
        return None
    depth = contents.depth(values) + 1
    body = next((one for one in b.fillers if one.depth == depth), None)
    if body is None:
        return None
    copies = [one for copy, others in contents.copies for one in (copy, *others)]
    return None if trees.holds_any(copies, {id(values)}) else body
