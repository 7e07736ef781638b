"""Data-layout transformation: the axes of temporaries are permuted so that the innermost loops run along memory.

``for f: t[f, j] = … t[f, j - 1] …`` within a loop over ``j`` touches another cache line at every point; with the axes
of ``t`` exchanged, a vector of its elements is one load. Arguments and results keep the layout that the caller knows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

from sdfgad.ir.expr import Expr, Lin, Read, reads
from sdfgad.ir.program import (
    Access,
    Block,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    blocks_of,
    buffers_of,
    rewrite_statement,
    transform,
    walk,
)
from sdfgad.memory.lifetimes import arguments
from sdfgad.schedule.loop_order import order_of

# The trips of a loop whose number is not known.
SOME_TRIPS = 16
# Another axis must serve so many times as many points as the last one.
MARGIN = 2


def arrange(program: Program) -> Program:
    """The program with the axes of its temporaries permuted, where most points gain by that."""
    served: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    _count(program.body, 1, served)
    fixed = arguments(program) | {n for s in walk(program.body) if isinstance(s, Call) for n in buffers_of(s)}
    last = {name: axis for name in served.keys() - fixed if (axis := _better(program, name, served[name])) is not None}
    if not last:
        return program
    buffers = {n: replace(b, shape=_moved(b.shape, last.get(n))) for n, b in program.buffers.items()}
    body = transform(program.body, lambda s: (_rearranged(s, last),))
    return replace(program, buffers=buffers, body=body)


def _count(block: Block, trips: int, served: dict[str, dict[int, int]]) -> None:
    """Adds up, for each axis of each buffer, the points at which the innermost loop runs along it."""
    for statement in block:
        if isinstance(statement, Compute) and statement.params:
            order = order_of(statement)
            points = trips * math.prod(max(_size(extent), 1) for _, extent in statement.params)
            for access in {_access(read) for read in reads(statement.value)} | {statement.target}:
                for axis in _axes(access, (*order.outer, *order.inner)[-1]):
                    served[access.buffer][axis] += points
        inside = trips * _size(statement.trips) if isinstance(statement, Loop) else trips
        for nested in blocks_of(statement):
            _count(nested, inside, served)


def _size(extent: Lin) -> int:
    return extent.const if extent.is_const else SOME_TRIPS


def _access(read: Read) -> Access:
    return Access(read.buffer, read.index)


def _axes(access: Access, name: str) -> list[int]:
    return [axis for axis, lin in enumerate(access.index) if abs(lin.coefficient(name)) == 1]


def _better(program: Program, name: str, served: dict[int, int]) -> int | None:
    """The axis that should become the last one; None if the present one is good enough."""
    final = len(program.buffers[name].shape) - 1
    axis = max(served, key=lambda k: served[k], default=final)
    return axis if served.get(axis, 0) > MARGIN * served.get(final, 0) else None


def _moved(index: tuple[Lin, ...], axis: int | None) -> tuple[Lin, ...]:
    return index if axis is None else (*index[:axis], *index[axis + 1 :], index[axis])


def _rearranged(statement: Statement, last: dict[str, int]) -> Statement:
    def moved(node: Expr) -> Expr | None:
        if isinstance(node, Read) and node.buffer in last:
            return Read(node.buffer, _moved(node.index, last[node.buffer]), node.dtype)
        return None

    statement = rewrite_statement(statement, replace_node=moved)
    if isinstance(statement, Compute):
        target = statement.target
        return replace(statement, target=Access(target.buffer, _moved(target.index, last.get(target.buffer))))
    return statement
