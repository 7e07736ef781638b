"""Reads arrays instead of copies of them that stay equal: ``rows = all_rows[mask]``, while nothing writes `all_rows`.

The reverse sweep then has no copy to keep for each trip of a loop, and no cotangent of a copy to carry over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sdfgad.analysis.accesses import commute
from sdfgad.frontend.coalesce import is_idle
from sdfgad.ir.expr import Read, rewrite
from sdfgad.ir.linear import Lin
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Compute,
    Loop,
    Program,
    Statement,
    blocks_of,
    transform,
    writes_of,
)
from sdfgad.ir.rename import renamed
from sdfgad.optimize.dead_code import is_whole


@dataclass(frozen=True)
class _Write:
    """A statement that writes a buffer, and the loops around it."""

    statement: Statement
    position: int
    loops: frozenset[int]


def read_originals(program: Program) -> Program:
    """The program without copies of whole arrays that are never written again."""
    kept = {*program.inputs, *program.outputs.values(), "status"}
    while True:
        writes = _writes(program.body)
        names = {name: source for name in writes if name not in kept for source in _originals(program, writes, name)}
        # One after the other: the original of one may be the copy of another.
        names = {name: source for name, source in names.items() if source not in names}
        if not names:
            return program
        body = transform(renamed(program.body, names), lambda s: () if is_idle(s) else (s,))
        program = replace(program, body=body, buffers={n: b for n, b in program.buffers.items() if n not in names})


def _writes(block: Block) -> dict[str, list[_Write]]:
    found: dict[str, list[_Write]] = {}
    for position, (statement, loops) in enumerate(_within(block, frozenset())):
        for access, _ in writes_of(statement):
            found.setdefault(access.buffer, []).append(_Write(statement, position, loops))
    return found


def _within(block: Block, loops: frozenset[int]) -> Iterator[tuple[Statement, frozenset[int]]]:
    for statement in block:
        yield statement, loops
        inside = loops | {id(statement)} if isinstance(statement, Loop) else loops
        for nested in blocks_of(statement):
            yield from _within(nested, inside)


def _originals(program: Program, writes: dict[str, list[_Write]], name: str) -> Iterator[str]:
    """What a buffer is always equal to wherever it may be read."""
    (copy, *others), buffers = writes[name], program.buffers
    if others or not isinstance(copy.statement, Compute) or not isinstance(copy.statement.value, Read):
        return
    source, target = copy.statement.value, copy.statement.target
    if copy.statement.accumulate or source.index != target.index or not is_whole(buffers, copy.statement):
        return
    old, new = buffers[source.buffer], buffers[name]
    is_final = all(w.position < copy.position and w.loops.isdisjoint(copy.loops) for w in writes.get(old.name, ()))
    if is_final and (old.shape, old.dtype) == (new.shape, new.dtype):
        yield old.name


# --- copies on both sides of a branch


def join_copies(program: Program) -> Program:
    """The program with a copy that both sides of a branch end with done after it."""
    return program.with_body(transform(program.body, _joined))


def _joined(statement: Statement) -> Block:
    if not isinstance(statement, Branch):
        return (statement,)
    for one in filter(_is_copy, statement.then):
        for other in filter(_is_copy, statement.orelse):
            then, orelse = _without(statement.then, one), _without(statement.orelse, other)
            if then is not None and orelse is not None and _is_same(one, other):
                return (*_joined(replace(statement, then=then, orelse=orelse)), one)
    return (statement,)


def _is_copy(statement: Statement) -> bool:
    return isinstance(statement, Compute) and not statement.accumulate and isinstance(statement.value, Read)


def _without(block: Block, statement: Statement) -> Block | None:
    """A block without a statement that may as well run at its end."""
    position = block.index(statement)
    later = block[position + 1 :]
    return block[:position] + later if all(commute(statement, other) for other in later) else None


def _is_same(one: Statement, other: Statement) -> bool:
    """Whether two statements do the same, whatever their parameters are called."""
    assert isinstance(one, Compute)
    assert isinstance(other, Compute)
    if [extent for _, extent in one.params] != [extent for _, extent in other.params]:
        return False
    names = {old: Lin.symbol(new) for (new, _), (old, _) in zip(one.params, other.params, strict=True)}
    target = Access(other.target.buffer, tuple(lin.substitute(names) for lin in other.target.index))
    return target == one.target and rewrite(other.value, names) is one.value
