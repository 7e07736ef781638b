"""Copy propagation: reads the original of a copied array, such as ``rows = all_rows[mask]``, while nothing writes it.

The reverse sweep then needs neither the copy of each trip of a loop nor a cotangent of the copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sdfgad.dependence.order import commute
from sdfgad.dependence.regions import is_whole
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
from sdfgad.parse.copy_elimination import is_self_assignment


@dataclass(frozen=True)
class _Write:
    """A statement that writes a buffer, and the loops around it."""

    statement: Statement
    position: int
    loops: frozenset[int]


def propagate_copies(program: Program) -> Program:
    """The program with copies propagated, and copies at the end of both sides of a branch sunk below it."""
    return sink_common_copies(propagate_trip_copies(propagate_final_copies(program)))


def propagate_final_copies(program: Program) -> Program:
    """The program without copies of whole arrays that are not written after the copy."""
    while True:
        writes = _writes(program.body)
        own = [name for name in writes if name not in program.interface]
        names = {name: source for name in own for source in _originals(program, writes, name)}
        # The original of one copy may itself be a copy: such chains take several rounds.
        names = {name: source for name, source in names.items() if source not in names}
        if not names:
            return program
        body = transform(renamed(program.body, names), lambda s: () if is_self_assignment(s) else (s,))
        program = replace(program, body=body, buffers={n: b for n, b in program.buffers.items() if n not in names})


def _writes(block: Block) -> dict[str, list[_Write]]:
    found: dict[str, list[_Write]] = {}
    for position, (statement, loops) in enumerate(_with_loops(block, frozenset())):
        for access, _ in writes_of(statement):
            found.setdefault(access.buffer, []).append(_Write(statement, position, loops))
    return found


def _with_loops(block: Block, loops: frozenset[int]) -> Iterator[tuple[Statement, frozenset[int]]]:
    for statement in block:
        yield statement, loops
        inside = loops | {id(statement)} if isinstance(statement, Loop) else loops
        for nested in blocks_of(statement):
            yield from _with_loops(nested, inside)


def _originals(program: Program, writes: dict[str, list[_Write]], name: str) -> Iterator[str]:
    """The buffer, if any, that a copied buffer equals wherever the latter may be read."""
    copy, *others = writes[name]
    found = None if others else _copied(copy.statement, program.buffers)
    if found and all(w.position < copy.position and w.loops.isdisjoint(copy.loops) for w in writes.get(found[1], ())):
        yield found[1]


# --- copies that are written and read within one trip


def propagate_trip_copies(program: Program) -> Program:
    """The program without copies in loops that are read, in the same trip, only before their originals are written.

    Copies outside of loops stay: the reverse sweep may use one in place of a saved original.
    """
    observable = program.interface
    uses = Counter(name for s in walk(program.body) for name in buffers_of(s))

    def each(statement: Statement) -> Block:
        if not isinstance(statement, Loop):
            return (statement,)
        return (replace(statement, body=_propagate_in_block(statement.body, program.buffers, observable, uses)),)

    return program.with_body(transform(program.body, each))


def _propagate_in_block(
    block: Block, buffers: Mapping[str, Buffer], observable: frozenset[str], uses: Counter[str]
) -> Block:
    """A block within a loop, with the branches nested in it, without such copies. Updates `uses`."""
    position = 0
    while position < len(block):
        statement, later = block[position], block[position + 1 :]
        if isinstance(statement, Branch):
            then, orelse = (_propagate_in_block(b, buffers, observable, uses) for b in blocks_of(statement))
            block = (*block[:position], replace(statement, then=then, orelse=orelse), *later)
        copy = _copied(statement, buffers)
        until = _until_last(later, copy[0]) if copy and copy[0] not in observable else None
        if copy is None or until is None or not _is_local_copy(copy, until, uses):
            position += 1
            continue
        block = (*block[:position], *renamed(until, {copy[0]: copy[1]}), *later[len(until) :])
        # The uses of the copy are uses of the original now.
        uses[copy[1]] += uses.pop(copy[0])
    return block


def _until_last(block: Block, name: str) -> Block:
    """The statements of a block up to the last one that mentions a buffer."""
    last = max((k for k, statement in enumerate(block) if name in statement.mentioned), default=-1)
    return block[: last + 1]


def _is_local_copy(copy: tuple[str, str], until: Block, uses: Counter[str]) -> bool:
    """Whether only the statements `until` use a copy, and none of them writes the copy or its original."""
    found = sum(copy[0] in buffers_of(statement) for statement in walk(until))
    return 1 + found == uses[copy[0]] and written(until).isdisjoint(copy)


def _copied(statement: Statement, buffers: Mapping[str, Buffer]) -> tuple[str, str] | None:
    """The target and the source of a statement that copies a whole buffer; None for any other statement."""
    if not isinstance(statement, Compute) or statement.accumulate or not isinstance(statement.value, Read):
        return None
    source, target = statement.value, statement.target
    old, new = buffers[source.buffer], buffers[target.buffer]
    is_all = source.index == target.index and is_whole(buffers, statement) and old is not new
    return (new.name, old.name) if is_all and (old.shape, old.dtype) == (new.shape, new.dtype) else None


# --- copies at the ends of both sides of a branch


def sink_common_copies(program: Program) -> Program:
    """Code sinking: the program with a copy that both sides of a branch end with moved after the branch."""
    return program.with_body(transform(program.body, _sunk))


def _sunk(statement: Statement) -> Block:
    if not isinstance(statement, Branch):
        return (statement,)
    for one in filter(_is_copy, statement.then):
        for other in filter(_is_copy, statement.orelse):
            then, orelse = _without(statement.then, one), _without(statement.orelse, other)
            if then is not None and orelse is not None and _is_same(one, other):
                return (*_sunk(replace(statement, then=then, orelse=orelse)), one)
    return (statement,)


def _is_copy(statement: Statement) -> bool:
    return isinstance(statement, Compute) and not statement.accumulate and isinstance(statement.value, Read)


def _without(block: Block, statement: Statement) -> Block | None:
    """A block without a statement that can be moved to its end; None if it cannot."""
    position = block.index(statement)
    later = block[position + 1 :]
    return block[:position] + later if all(commute(statement, other) for other in later) else None


def _is_same(one: Statement, other: Statement) -> bool:
    """Whether two statements are equal up to the names of their parameters."""
    assert isinstance(one, Compute)
    assert isinstance(other, Compute)
    if [extent for _, extent in one.params] != [extent for _, extent in other.params]:
        return False
    names = {old: Lin.symbol(new) for (new, _), (old, _) in zip(one.params, other.params, strict=True)}
    target = Access(other.target.buffer, Rewriter(names).index(other.target.index))
    return target == one.target and rewrite(other.value, names) is one.value
