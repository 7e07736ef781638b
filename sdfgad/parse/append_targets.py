"""Escape analysis of lists: those to which a loop appends, and that nothing else can reach meanwhile."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.parse import trees
from sdfgad.parse.contents import Filling, Rolling
from sdfgad.parse.frame import Frame
from sdfgad.parse.ranges import MANY_ITEMS


def fillings(frame: Frame, node: ast.For, trips: Lin) -> dict[int, Filling]:
    """The lists, by their ids, that a loop does nothing with but append to them."""
    if node.orelse or not trips.is_const or trips.const < MANY_ITEMS or frame.b.rolling is Rolling.NONE:
        return {}
    calls = [one.value for one in node.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    found = {}
    for call in calls:
        name = _appended_to(call)
        values = frame.env.get(name) if name else None
        if isinstance(values, list) and name and _is_alone(frame, node, name, values):
            found[id(values)] = Filling(values, len(frame.b.blocks) + 1)
    return found


def _appended_to(call: ast.Call) -> str | None:
    """`x` in ``x.append(y)``."""
    function = call.func
    is_append = isinstance(function, ast.Attribute) and function.attr == "append" and len(call.args) == 1
    if not is_append or call.keywords or isinstance(call.args[0], ast.Starred):
        return None
    owner = function.value  # type: ignore[attr-defined]
    return owner.id if isinstance(owner, ast.Name) else None


def _is_alone(frame: Frame, node: ast.For, name: str, values: list[Any]) -> bool:
    """Whether nothing but a local name can have reached a list by the end of a loop in its block."""
    function = frame.source.node
    until = [one for one in ast.walk(function) if getattr(one, "lineno", 0) <= (node.end_lineno or node.lineno)]
    known = {id(one) for statement in until for one in _plain_mentions(statement)}
    mentions = [one for one in until if isinstance(one, ast.Name) and one.id == name]
    inside = sum(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))
    parameters = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    holders = sum(one is values for value in frame.env.values() for one in trees.sequences(value))
    is_local = name not in parameters and name not in frame.source.captured and holders == 1
    is_plain = inside == 1 and all(id(one) in known for one in mentions)
    return is_local and is_plain and frame.b.contents.depth(values) == len(frame.b.blocks)


def _plain_mentions(statement: ast.AST) -> Iterator[ast.Name]:
    """The names that a statement binds to new lists, and those of lists to which it appends."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _appended_to(statement.value):
        yield statement.value.func.value  # type: ignore[attr-defined]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    yield from (one for one, of in pairs if isinstance(one, ast.Name) and isinstance(of, ast.List))
