"""Loop interchange for a device: a sequential loop runs in each thread, instead of around the launches of its trips.

``for t: for p: s[p] = f(s[p], t)`` becomes ``parallel for p: for t: s[p] = f(s[p], t)``, one launch, if no point
touches in any trip what another one changes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sdfgad.ir.expr import Int, symbols_of
from sdfgad.ir.program import (
    Block,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    computes,
    reads_of,
    touch_counts,
    transform,
)
from sdfgad.schedule.kernels import Form, Sum, form_of, point_loop, points_of
from sdfgad.schedule.scopes import is_local_to


def interchange(program: Program) -> Program:
    """The program with such loops, inner ones first."""
    return program.with_body(transform(program.body, partial(_interchanged, program=program)))


def _interchanged(statement: Statement, program: Program) -> Block:
    if not isinstance(statement, Loop) or statement.is_parallel or statement.is_open or len(statement.body) != 1:
        return (statement,)
    nest = _nest_of(statement.body[0], program)
    is_free = reads_of(statement) == [] and not any(_is_slot(one, program) for one in computes(statement.body))
    if nest is None or not is_free:
        return (statement,)
    found = _around(nest, statement)
    private = _private(found, statement, program)
    return (found,) if point_loop(found, private) is not None else (statement,)


def _nest_of(statement: Statement, program: Program) -> Loop | None:
    """A nest of parallel loops around what is done at each point; None if the statement is none."""
    if isinstance(statement, Loop):
        return statement if statement.is_parallel else None
    if form_of(statement, program.buffers) is not Form.POINTS or not isinstance(statement, Compute):
        return None
    if not Sum(statement).own:
        return None
    loop = points_of(statement, frozenset())
    body: Block = loop.body
    for name, extent in reversed(loop.own):
        body = (Loop.over(name, extent, body, statement.where, is_parallel=True),)
    (nest,) = body
    assert isinstance(nest, Loop)
    return nest


def _is_slot(statement: Compute, program: Program) -> bool:
    """Whether the host checks before a statement whether a tape has the slot that it writes."""
    extents = program.buffers[statement.target.buffer].shape
    return any(not symbols_of(Int(extent)).isdisjoint(program.bounds) for extent in extents)


def _around(nest: Loop, loop: Loop) -> Loop:
    """The nest around the loop."""
    (*_, last) = nest.body
    if len(nest.body) == 1 and isinstance(last, Loop) and last.is_parallel:
        return replace(nest, body=(_around(last, loop),))
    return replace(nest, body=(replace(loop, body=nest.body),))


def _private(nest: Loop, loop: Loop, program: Program) -> frozenset[str]:
    """The numbers that only a loop uses, at each point anew."""
    users, inside = touch_counts(program.body), touch_counts((loop,))
    found: list[Buffer] = [program.buffers[name] for name in nest.written]
    numbers = [b.name for b in found if b.is_single and b.name not in program.interface]
    return frozenset(n for n in numbers if inside[n] == users[n] and is_local_to(nest, n, program.buffers))
