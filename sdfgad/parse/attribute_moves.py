"""Statements that assign to attributes of objects in lists: parsed again with these attributes as columns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from sdfgad.errors import AmbiguousArray, Rebound, SdfgadError
from sdfgad.ir.program import Block, Compute, walk
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse import attributes
from sdfgad.parse.backtracking import ChoicePoint
from sdfgad.parse.builder import Builder
from sdfgad.parse.frame import Frame
from sdfgad.parse.object_columns import Again, Around, Column, Copies, Moves, Stays

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
    b = frame.b
    around = Around(len(b.blocks), b.versions.now[1], b.contents.count)
    b.objects.around.append(around)
    try:
        return _settled(frame, attempt, around)
    finally:
        b.objects.around.pop()


def _settled(frame: Frame, attempt: Callable[[], Result], around: Around) -> Result:
    b, moves, point = frame.b, dict[tuple[str, tuple[int, ...]], Moves](), ChoicePoint.of(frame)
    while True:
        needed = [need for need in moves.values() if not b.objects.is_refused(need.objects, need.name)]
        columns = [column for need in needed if (column := attributes.move(b, need)) is not None]
        first = len(b.blocks[-1])
        try:
            result = attempt()
        except Again as found:
            if not found.is_for(around):
                raise
            _prepare(b, found, moves)
        except (SdfgadError, NeedsConstant) as error:
            # What is known decides more than what is not.
            if _asks_for_places(b, error) or not _refused(b, [one for one in columns if one.kind.is_discrete]):
                raise
        else:
            if not _refused(b, [one for one in columns if _is_in_vain(b, one, tuple(b.blocks[-1][first:]))]):
                attributes.complete(b)
                return result
        point.backtrack(frame)


def _prepare(b: Builder, need: Again, moves: dict[tuple[str, tuple[int, ...]], Moves]) -> None:
    if isinstance(need, Copies):
        b.objects.copying.add(need.where)
    elif isinstance(need, Stays):
        _refused(b, need.columns)
    elif isinstance(need, Moves):
        moves[need.name, tuple(id(one.fields) for one in need.objects)] = need


def _refused(b: Builder, columns: Sequence[Column]) -> bool:
    """Note that attributes are not to be columns in the next attempt; returns whether there are some."""
    for column in columns:
        b.objects.refuse(column.objects, column.name)
    return len(columns) > 0


def _asks_for_places(b: Builder, error: Exception) -> bool:
    """Whether the whole program is parsed again, with all objects told by their places."""
    return isinstance(error, (AmbiguousArray, Rebound)) and error.is_of_object and not b.objects.by_place


def _is_in_vain(b: Builder, column: Column, statements: Block) -> bool:
    """Whether the loops over objects were written out, so that what they assign may as well be known."""
    now = b.objects.of(column.objects[0], column.name)
    if not column.kind.is_discrete or now is None or now[0] is not column:
        return False
    computed = (one.target for one in walk(statements) if isinstance(one, Compute))
    return all(place.index[0].is_const for place in computed if place.buffer == column.buffer)
