"""Trajectories by keys: dicts to which each trip of a loop gives an item, and of which the loop reads others.

``V[t] = f(V[t + 1])``: the items are those of a list to which the trips append (`trajectories`), at the places that the
keys have in the order of the dict. A read comes before the statement that says which key a trip gives an item. So the
key is taken from the text of the loop, and compared when its body has been parsed.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from sdfgad.errors import SdfgadError
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import dict_keys, trajectories, trajectory_items
from sdfgad.parse.appending import filler
from sdfgad.parse.builder import Builder
from sdfgad.parse.contents import Filling, Fills
from sdfgad.parse.frame import Frame
from sdfgad.parse.iteration_domains import Points, form_of, points_around
from sdfgad.parse.trajectories import READ
from sdfgad.parse.values import Record

# What keys consist of that are evaluated before the statement which they are in.
NUMBERS = (ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
PLAIN = (*NUMBERS, ast.JoinedStr, ast.FormattedValue)


def expect(frame: Frame, values: dict[Any, Any], key: Any) -> None:
    """Where an item that a dict does not have yet is chosen by a counter, in a loop which gives it items.

    Raises:
        Fills: it does.
    """
    b, body = frame.b, filler(frame.b, values)
    if body is None or id(values) in b.filling or (id(body.node), id(values)) in b.only_read:
        return
    inside = {var for depth, var, _ in b.loops if depth >= body.depth}
    if inside.isdisjoint(dict_keys.symbols_of(key)):
        return
    if _key_of_trip(frame, body.node, values) is not None:
        trajectories.expect(b, body.node, values)
        raise Fills(body.node, values)


def item(frame: Frame, values: dict[Any, Any], key: Any) -> Any:
    """``values[key]`` in the loop that fills the dict.

    Raises:
        NeedsConstant: it is not known that the dict has this item by then, or its items are not alike.
    """
    b, filling = frame.b, frame.b.filling[id(values)]
    expected = filling.rows[0].keys if filling.rows else filling.expected or _expected(frame, filling)
    order = {one: place for place, one in enumerate((*values, *expected))}
    points = points_around(b, {filling.var} | dict_keys.symbols_of(key))
    keys = None if points is None or not len(points) else dict_keys.keys_at(b, key, points)
    if keys is None or points is None or len(order) < len(values) + len(expected):
        raise NeedsConstant({filling.var}, b.where, READ)
    places = np.array([order.get(one, len(order)) for one in keys])
    if (places >= len(values) + len(filling.rows) + points.columns[filling.var]).any():
        raise NeedsConstant({filling.var}, b.where, READ)
    b.filling = b.filling | {id(values): replace(filling, expected=tuple(expected))}
    return trajectory_items.item_at(b, values, form_of(b, points, places))


def require_as_expected(b: Builder, filling: Filling) -> None:
    """At the loop's end: require that it gives the dict the keys with which items were read, each a new one.

    Raises:
        NeedsConstant: it gives it others.
    """
    given = tuple(key for row in filling.rows for key in row.keys)
    keys = [*filling.values, *given]
    is_read = (id(filling.node), id(filling.values)) in b.to_read
    if is_read and (len({*keys}) < len(keys) or filling.expected not in ((), given)):
        raise NeedsConstant({filling.var}, b.where, READ)


def _expected(frame: Frame, filling: Filling) -> tuple[Any, ...]:
    """The keys of all trips."""
    b, key = frame.b, _key_of_trip(frame, filling.node, filling.values)
    trips = next(trips for _, var, trips in b.loops if var == filling.var)
    points = Points((filling.var,), np.arange(trips.const).reshape(-1, 1))
    try:
        keys = None if key is None else dict_keys.keys_at(b, frame.eval(key), points)
    except SdfgadError:
        keys = None
    if keys is None:
        raise NeedsConstant({filling.var}, b.where, READ)
    return tuple(keys)


def _key_of_trip(frame: Frame, node: ast.AST, values: Any) -> ast.expr | None:
    """The key of the one statement of a loop that gives a dict items by a name of the dict, or an attribute."""
    keys = [one.slice for one in _stored(node) if _named(frame, one.value) is values]
    return keys[0] if len(keys) == 1 and all(isinstance(part, PLAIN) for part in ast.walk(keys[0])) else None


@lru_cache(maxsize=1 << 10)
def _stored(node: ast.AST) -> tuple[ast.Subscript, ...]:
    return tuple(one for one in ast.walk(node) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store))


def _named(frame: Frame, node: ast.expr) -> Any:
    """What a local name stands for, or an attribute that an object has; else None."""
    if isinstance(node, ast.Name):
        return frame.env.get(node.id)
    owner = _named(frame, node.value) if isinstance(node, ast.Attribute) else None
    return owner.fields.get(node.attr) if isinstance(owner, Record) and isinstance(node, ast.Attribute) else None
