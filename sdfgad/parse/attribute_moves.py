"""Statements that assign to attributes of objects in lists: parsed again with these attributes as columns."""

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


def _may_begin(b: Builder, node: ast.stmt) -> bool:
    """Whether attributes may have to be columns before a statement."""
    if _has_loops(node) or (b.objects.by_place and isinstance(node, ast.If)):
        return True
    return len(b.blocks) in b.objects.depths and _may_change_parts(node)


@lru_cache(maxsize=1 << 14)
def _has_loops(node: ast.stmt) -> bool:
    """Whether it is a loop, or a branch with loops or calls in it."""
    if isinstance(node, ast.If):
        return any(isinstance(one, ast.For | ast.While) or _is_step(one) for one in ast.walk(node))
    return isinstance(node, ast.For | ast.While)


@lru_cache(maxsize=1 << 14)
def _may_change_parts(node: ast.stmt) -> bool:
    """Whether it assigns to attributes or items, or calls what may update an array."""
    if isinstance(node, ast.If):
        return any(map(_may_change_parts, [*node.body, *node.orelse]))
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return _is_step(node)
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = (part for target in targets for part in ast.walk(target) if isinstance(part, ast.Attribute | ast.Subscript))
    return any(isinstance(part.ctx, ast.Store) for part in parts)


def _is_step(node: ast.AST) -> bool:
    """Whether a statement is a call that changes something, as ``world.step(dt)`` is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def parsed(frame: Frame, node: ast.stmt, attempt: Callable[[], Result]) -> Result:
    """Parse a statement by `attempt`, again for all that it shows of attributes that must be columns before it."""
    if not _may_begin(frame.b, node):
        return attempt()
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
