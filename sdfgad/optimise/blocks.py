"""Traversals of nested blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sdfgad.ir.program import Block, Statement, with_blocks


def everywhere(block: Block, each: Callable[[Block], Block]) -> Block:
    """A block with `each` applied to all nested blocks, inner before outer, and then to itself."""
    return each(tuple(with_blocks(statement, partial(everywhere, each=each)) for statement in block))


def flat_map(block: Block, each: Callable[[Statement], Block]) -> Block:
    """A block with each of its statements replaced by those that `each` makes of it."""
    return tuple(part for statement in block for part in each(statement))


def flat_map_inside(statement: Statement, each: Callable[[Statement], Block]) -> Statement:
    """A statement with the statements of its blocks replaced by those that `each` makes of them."""
    return with_blocks(statement, partial(flat_map, each=each))
