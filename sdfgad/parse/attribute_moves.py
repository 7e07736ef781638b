"""Loops and branches that assign to attributes of objects in lists: parsed again with these attributes as columns."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from sdfgad.parse import attributes
from sdfgad.parse.builder import Builder
from sdfgad.parse.control import ChoicePoint
from sdfgad.parse.frame import Frame
from sdfgad.parse.object_columns import Again, Copies, Moves

Result = TypeVar("Result")


@lru_cache(maxsize=1 << 14)
def may_begin(node: ast.stmt) -> bool:
    """Whether attributes may have to be columns before a statement: a loop, or a branch with loops or calls in it."""
    if isinstance(node, ast.If):
        return any(isinstance(one, ast.For | ast.While) or _is_step(one) for one in ast.walk(node))
    return isinstance(node, ast.For | ast.While)


def _is_step(node: ast.AST) -> bool:
    """Whether a statement is a call that changes something, as ``world.step(dt)`` is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def parsed(frame: Frame, attempt: Callable[[], Result]) -> Result:
    """Parse a loop or branch by `attempt`, again for all that it shows of attributes that must be columns before it."""
    b, around = frame.b, (len(frame.b.blocks), frame.b.versions.now[1])
    b.objects.around.append(around)
    try:
        while True:
            point = ChoicePoint.of(frame)
            try:
                result = attempt()
            except Again as found:
                if found.depth != around[0] or found.number < around[1]:
                    raise
                need = found
            else:
                attributes.complete(b)
                return result
            point.backtrack(frame)
            _prepare(b, need)
    finally:
        b.objects.around.pop()


def _prepare(b: Builder, need: Again) -> None:
    if isinstance(need, Copies):
        b.objects.copying.add(need.where)
    elif isinstance(need, Moves):
        attributes.move(b, need)
