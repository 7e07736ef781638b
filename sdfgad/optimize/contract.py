"""Shrinks temporaries of parallel loops: what lives within one trip needs no axis for the trips.

``for f: t[f] = …; y[f] = … t[f] …`` becomes ``for f: t = …; y[f] = … t …``, with `t` in a register or a small array
that stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdfgad.analysis.accesses import mentioned_by, uses_of
from sdfgad.analysis.private import begins_anew
from sdfgad.ir.expr import Expr, Read
from sdfgad.ir.linear import Lin
from sdfgad.ir.program import (
    Access,
    Block,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    buffers_of,
    rewrite_statement,
    transform,
    walk,
)


def contract(program: Program) -> Program:
    """The program with such temporaries made smaller, one axis at a time."""
    while (found := next(_removable(program), None)) is not None:
        program = _without_axis(program, *found)
    return program


def _removable(program: Program) -> Iterator[tuple[str, int]]:
    """Buffers and their axes that are not needed."""
    kept = {*program.inputs, *program.outputs.values(), "status"}
    for name, buffer in program.buffers.items():
        if name in kept or not buffer.shape:
            continue
        loop = _only_loop(program.body, name)
        while loop is not None:
            for axis in _axes_of_trip(loop, name, len(buffer.shape)):
                if begins_anew(loop.body, name):
                    yield name, axis
            loop = _only_loop(loop.body, name)


def _only_loop(block: Block, name: str) -> Loop | None:
    """The loop that alone mentions a buffer, of all statements of a block."""
    found = [statement for statement in block if mentioned_by(statement, name)]
    return found[0] if len(found) == 1 and isinstance(found[0], Loop) else None


def _axes_of_trip(loop: Loop, name: str, rank: int) -> list[int]:
    """The axes along which every mention of a buffer is at the loop's counter plus one and the same number."""
    if not loop.is_parallel:
        return []
    if any(isinstance(s, Call) and mentioned_by(s, name) for s in walk(loop.body)):
        return []
    uses = [use for use in uses_of(loop) if use.buffer == name]
    inside = {counter for use in uses for counter in use.names} - {loop.var}
    first = uses[0].index
    shared = [axis for axis in range(rank) if all(use.index[axis] == first[axis] for use in uses)]
    return [axis for axis in shared if _is_trip(first[axis], loop.var, inside)]


def _is_trip(form: Lin, var: str, inside: set[str]) -> bool:
    return form.coefficient(var) != 0 and all(isinstance(atom, str) and atom not in inside for atom, _ in form.terms)


def _without_axis(program: Program, name: str, axis: int) -> Program:
    rank = len(program.buffers[name].shape)

    def less(index: tuple[Lin, ...]) -> tuple[Lin, ...]:
        return index[:axis] + index[axis + 1 :]

    def shorter(node: Expr) -> Expr | None:
        is_of = isinstance(node, Read) and node.buffer == name and len(node.index) == rank
        return Read(name, less(node.index), node.dtype) if is_of else None  # type: ignore[attr-defined]

    def each(statement: Statement) -> Block:
        changed = rewrite_statement(statement, replace_node=shorter) if name in buffers_of(statement) else statement
        if isinstance(changed, Compute) and changed.target.buffer == name:
            changed = replace(changed, target=Access(name, less(changed.target.index)))
        return (changed,)

    buffer = program.buffers[name]
    buffers = {**program.buffers, name: replace(buffer, shape=less(buffer.shape))}
    return replace(program, buffers=buffers, body=transform(program.body, each))
