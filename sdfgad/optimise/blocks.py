"""Traversal of nested blocks: applies a function to each block of statements, innermost first."""

from __future__ import annotations

from collections.abc import Callable

from sdfgad.ir.program import Block, Branch, Loop, Statement, changed


def everywhere(block: Block, each: Callable[[Block], Block]) -> Block:
    """A block with `each` applied to all nested blocks, inner before outer, and then to itself."""
    return each(tuple(with_blocks(statement, each) for statement in block))


def with_blocks(statement: Statement, each: Callable[[Block], Block]) -> Statement:
    """A statement with `each` applied to all blocks in it, inner before outer."""
    if isinstance(statement, Loop):
        return changed(statement, body=everywhere(statement.body, each))
    if isinstance(statement, Branch):
        then, orelse = everywhere(statement.then, each), everywhere(statement.orelse, each)
        return changed(statement, then=then, orelse=orelse)
    return statement
