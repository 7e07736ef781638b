"""Conditions of branches, and of statements that run only where nothing has jumped."""

from __future__ import annotations

from collections.abc import Set

from sdfgad.errors import Location
from sdfgad.ir.expr import Expr
from sdfgad.ir.program import Access, Block, Branch, Compute, written
from sdfgad.sdfg.scope import Scope


def kept(value: Expr, changed: Set[str], scope: Scope) -> tuple[Block, Expr]:
    """A condition, in a scalar of its own where the branch changes what it reads."""
    if not any(read.buffer in changed for read in value.reads) or not scope.buffers.is_foreign:
        return (), value
    buffer = scope.buffers.make(scope.buffers.names.fresh("taken"), (), value.dtype)
    target = Access(buffer.name)
    return (Compute((), target, value),), target.read(value.dtype)


def branch(value: Expr, then: Block, orelse: Block, scope: Scope, where: Location | None = None) -> Block:
    """A branch by a condition as it is before."""
    first, value = kept(value, written((*then, *orelse)), scope)
    return (*first, Branch(value, then, orelse, where=where))
