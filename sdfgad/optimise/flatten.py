"""Index linearisation: a temporary that is read only by its elements' position in memory becomes one-dimensional.

A statement that reads ``t[p // 4, p % 4]`` then reads ``t[p]``. It need not run over the two digits of `p`, but over
`p`, and can share a loop with others that run along memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from sdfgad.ir.accesses import own_params
from sdfgad.ir.expr import Expr, Int, Lin, Read, postorder
from sdfgad.ir.folding import Ranges, division, folded
from sdfgad.ir.program import (
    Access,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    buffers_of,
    reads_of,
    rewrite_statement,
    touching,
    transform,
)


def flatten(program: Program) -> Program:
    """The program with such temporaries one-dimensional."""
    for name, buffer in program.buffers.items():
        has_axes = len(buffer.shape) > 1 and all(extent.is_const for extent in buffer.shape)
        if name not in program.interface and has_axes and _is_read_by_position(program, buffer):
            program = _flat(program, buffer)
    return program


def _is_read_by_position(program: Program, buffer: Buffer) -> bool:
    """Whether all readers index a buffer by quotients and remainders that linear indices would avoid."""
    outermost = program.users.get(buffer.name, ())
    # What is read where it is made is better put into its readers: only what loops read again and again stays.
    makers = [one for one in outermost if buffer.name in one.written]
    made = touching({buffer.name: tuple(makers)}, buffer.name)
    are_apart = not any(read.buffer == buffer.name for s in made for read in reads_of(s))
    if not are_apart or not all(isinstance(one, Loop) for one in outermost if one not in makers):
        return False
    users = [s for s in touching(program.users, buffer.name) if buffer.name in buffers_of(s)]
    readers = [s for s in users if any(read.buffer == buffer.name for read in reads_of(s))]
    # What is summed may be a product of matrices.
    are_simple = all(isinstance(s, Compute) and len(own_params(s)) == len(s.params) for s in users)
    return bool(readers) and are_simple and all(_gains(s, buffer) for s in readers)


def _gains(statement: Statement, buffer: Buffer) -> bool:
    """Whether this buffer alone is the reason why a statement's indices have quotients and remainders."""
    assert isinstance(statement, Compute)
    others = [read.index for read in reads_of(statement) if read.buffer != buffer.name]
    if not others or _has_divisions(statement.target.index, *others):
        return False
    ranges = _ranges(statement)
    found = [read.index for read in reads_of(statement) if read.buffer == buffer.name]
    return all(_has_divisions(index) and not _has_divisions((_place(index, buffer, ranges),)) for index in found)


def _has_divisions(*indices: tuple[Lin, ...]) -> bool:
    return any(division(node) is not None for index in indices for node in postorder(*map(Int, index)))


def _ranges(statement: Compute) -> Ranges:
    return {name: (0, extent.const - 1) for name, extent in statement.params if extent.is_const}


def _place(index: tuple[Lin, ...], buffer: Buffer, ranges: Mapping[str, tuple[int, int]]) -> Lin:
    """The position of an element in memory."""
    place = Lin(0)
    for lin, extent in zip(index, buffer.shape, strict=True):
        place = place.scaled(extent.const) + lin
    return folded(place, ranges)


def _flat(program: Program, buffer: Buffer) -> Program:
    def each(statement: Statement) -> tuple[Statement, ...]:
        if not isinstance(statement, Compute) or buffer.name not in buffers_of(statement):
            return (statement,)
        ranges = _ranges(statement)

        def flat(node: Expr) -> Expr | None:
            if not isinstance(node, Read) or node.buffer != buffer.name:
                return None
            return Read(buffer.name, (_place(node.index, buffer, ranges),), node.dtype)

        changed = rewrite_statement(statement, replace_node=flat)
        assert isinstance(changed, Compute)
        if changed.target.buffer == buffer.name:
            changed = replace(changed, target=Access(buffer.name, (_place(changed.target.index, buffer, ranges),)))
        return (changed,)

    size = prod(extent.const for extent in buffer.shape)
    buffers = {**program.buffers, buffer.name: replace(buffer, shape=(Lin(size),))}
    return replace(program, buffers=buffers, body=transform(program.body, each))
