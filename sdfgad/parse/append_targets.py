"""Escape analysis of lists: those to which a loop appends, and that nothing else can reach meanwhile."""

from __future__ import annotations

import ast
from typing import Any

from sdfgad.ir.expr import Lin
from sdfgad.parse import trees
from sdfgad.parse.contents import Filling
from sdfgad.parse.frame import Frame
from sdfgad.parse.ranges import MANY_ITEMS


def fillings(frame: Frame, node: ast.For, trips: Lin) -> dict[int, Filling]:
    """The lists, by their ids, that a loop does nothing with but append to them."""
    if node.orelse or not trips.is_const or trips.const < MANY_ITEMS or not frame.b.may_roll:
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
    """Whether a list of this block can be reached by one name only, which the loop mentions once."""
    mentions = sum(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))
    arguments = frame.source.node.args
    parameters = {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)}
    holders = sum(one is values for value in frame.env.values() for one in trees.sequences(value))
    is_local = name not in parameters and name not in frame.source.captured
    return mentions == 1 and holders == 1 and is_local and frame.b.contents.depth(values) == len(frame.b.blocks)
