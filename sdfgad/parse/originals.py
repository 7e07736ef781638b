"""Reads arrays instead of copies of them: ``rows = all_rows[mask]``, while nothing writes `all_rows`.

The reverse sweep then has no copy to keep for each trip of a loop, and no cotangent of a copy to carry over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sdfgad.ir.accesses import commute, is_whole, mentioned_by
from sdfgad.ir.expr import Lin, Read, Rewriter, rewrite
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    blocks_of,
    buffers_of,
    transform,
    walk,
    writes_of,
    written,
)
from sdfgad.ir.rename import renamed
from sdfgad.parse.copy_elimination import is_idle


@dataclass(frozen=True)
class _Write:
    """A statement that writes a buffer, and the loops around it."""

    statement: Statement
    position: int
    loops: frozenset[int]


def without_copies(program: Program) -> Program:
    """The program with fewer copies, or copies in other places."""
    return join_copies(read_through(read_originals(program)))


def read_originals(program: Program) -> Program:
    """The program without copies of whole arrays that are never written again."""
    while True:
        writes = _writes(program.body)
        own = [name for name in writes if name not in program.interface]
        names = {name: source for name in own for source in _originals(program, writes, name)}
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
    copy, *others = writes[name]
    found = None if others else _copied(copy.statement, program.buffers)
    if found and all(w.position < copy.position and w.loops.isdisjoint(copy.loops) for w in writes.get(found[1], ())):
        yield found[1]


# --- copies that a trip makes and reads


def read_through(program: Program) -> Program:
    """The program without copies that are made in each trip of a loop and read before their originals change.

    Outside of loops the reverse sweep may have the copy, and would have to keep the original.
    """
    kept = program.interface
    uses = Counter(name for s in walk(program.body) for name in buffers_of(s))

    def each(statement: Statement) -> Block:
        if not isinstance(statement, Loop):
            return (statement,)
        return (replace(statement, body=_read_through(statement.body, program.buffers, kept, uses)),)

    return program.with_body(transform(program.body, each))


def _read_through(block: Block, buffers: Mapping[str, Buffer], kept: frozenset[str], uses: Counter[str]) -> Block:
    """A block of a trip, and what its branches run, without such copies."""
    position = 0
    while position < len(block):
        statement, later = block[position], block[position + 1 :]
        if isinstance(statement, Branch):
            then, orelse = (_read_through(b, buffers, kept, uses) for b in blocks_of(statement))
            block = (*block[:position], replace(statement, then=then, orelse=orelse), *later)
        copy = _copied(statement, buffers)
        until = _until_last(later, copy[0]) if copy and copy[0] not in kept else None
        if copy is None or until is None or not _is_here(copy, until, uses):
            position += 1
            continue
        block = (*block[:position], *renamed(until, {copy[0]: copy[1]}), *later[len(until) :])
        # What was the copy's are uses of the original.
        uses[copy[1]] += uses.pop(copy[0])
    return block


def _until_last(block: Block, name: str) -> Block:
    """The statements of a block up to the last one that mentions a buffer."""
    last = max((k for k, statement in enumerate(block) if mentioned_by(statement, name)), default=-1)
    return block[: last + 1]


def _is_here(copy: tuple[str, str], until: Block, uses: Counter[str]) -> bool:
    """Whether nothing but these statements uses a copy, which stays what it is a copy of for as long."""
    found = sum(copy[0] in buffers_of(statement) for statement in walk(until))
    return 1 + found == uses[copy[0]] and written(until).isdisjoint(copy)


def _copied(statement: Statement, buffers: Mapping[str, Buffer]) -> tuple[str, str] | None:
    """The buffer that a statement fills, and the one that is then the same."""
    if not isinstance(statement, Compute) or statement.accumulate or not isinstance(statement.value, Read):
        return None
    source, target = statement.value, statement.target
    old, new = buffers[source.buffer], buffers[target.buffer]
    is_all = source.index == target.index and is_whole(buffers, statement) and old is not new
    return (new.name, old.name) if is_all and (old.shape, old.dtype) == (new.shape, new.dtype) else None


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
    target = Access(other.target.buffer, Rewriter(names).index(other.target.index))
    return target == one.target and rewrite(other.value, names) is one.value
