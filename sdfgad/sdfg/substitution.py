"""Forward substitution: scalars that the writer declares for bounds and conditions give way to their values.

DaCe takes no functions of ours in a loop's head or on an edge, so the writer assigns such a value to a scalar before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sdfgad.ir.expr import Expr, Read
from sdfgad.ir.program import (
    Block,
    Branch,
    Call,
    Compute,
    Loop,
    Statement,
    changed,
    reads_of,
    rewrite_statement,
    transform,
    walk,
)

Values = Mapping[str, Expr]


def substituted(block: Block, names: Collection[str]) -> Block:
    """A block with such scalars replaced where they still have the value that was computed; others remain.

    Args:
        names: the scalars, which nothing outside of the block uses.
    """
    if not names:
        return block
    block = _block(block, frozenset(names))
    gone = set(names) - {read.buffer for statement in walk(block) for read in reads_of(statement)}
    return transform(block, lambda s: () if isinstance(s, Compute) and s.target.buffer in gone else (s,))


def _block(block: Block, names: frozenset[str]) -> Block:
    found: list[Statement] = []
    values: dict[str, Expr] = {}
    for statement in block:
        found.append(_nested(_head(statement, values), names))
        values = {name: value for name, value in values.items() if not _is_changed(name, value, statement)}
        if isinstance(statement, Compute) and statement.target.buffer in names and _is_value(statement):
            values[statement.target.buffer] = statement.value
    return tuple(found)


def _nested(statement: Statement, names: frozenset[str]) -> Statement:
    if isinstance(statement, Loop):
        return changed(statement, body=_block(statement.body, names))
    if isinstance(statement, Branch):
        return changed(statement, then=_block(statement.then, names), orelse=_block(statement.orelse, names))
    return statement


def _head(statement: Statement, values: Values) -> Statement:
    """A statement with values in its bounds or its condition, which it reads before it writes anything."""
    used = {read.buffer for read in reads_of(statement)} & values.keys()
    is_late = isinstance(statement, Compute) and any(_is_changed(n, values[n], statement) for n in used)
    if not used or is_late or isinstance(statement, Call) or (isinstance(statement, Loop) and statement.is_open):
        return statement
    return rewrite_statement(statement, {}, lambda n: values.get(n.buffer) if isinstance(n, Read) else None)


def _is_changed(name: str, value: Expr, statement: Statement) -> bool:
    """Whether a statement writes a scalar, or what its value was computed from."""
    return name in statement.written or any(read.buffer in statement.written for read in value.reads)


def _is_value(statement: Compute) -> bool:
    """Whether a scalar has the value of an expression after a statement, which does not read the scalar."""
    reads_itself = any(read.buffer == statement.target.buffer for read in statement.value.reads)
    return statement.assigns and not statement.params and not reads_itself
