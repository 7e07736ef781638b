"""Loops of threads: sequential loops within each thread (loop interchange), and loops whose trips are threads.

``for t: for p: s[p] = f(s[p], t)`` becomes ``parallel for p: for t: s[p] = f(s[p], t)``, one launch, if no point
touches in any trip what another one changes. And ``for i: for j < n[i]: …``, which is no box, becomes ``parallel for
i`` if its trips are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from sdfgad.ir.expr import Int, symbols_in, symbols_of
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
    with_blocks,
)
from sdfgad.schedule.device_sums import Sum, points
from sdfgad.schedule.kernels import Form, form_of, point_loop, points_of
from sdfgad.schedule.scopes import is_local_to


def interchange(program: Program) -> Program:
    """The program with such loops."""
    program = program.with_body(transform(program.body, partial(_interchanged, program=program)))
    return program.with_body(tuple(_threads(statement, program) for statement in program.body))


def _threads(statement: Statement, program: Program) -> Statement:
    """The outermost loops that can have a thread for each trip."""
    inside = partial(_block_of_threads, program=program)
    if not isinstance(statement, Loop) or statement.is_open or not _has_many(statement):
        return with_blocks(statement, inside)
    if statement.is_parallel or any(_is_slot(one, program) for one in computes(statement.body)):
        return with_blocks(statement, inside)
    nests = (nest for nest in _parallel_nests(statement) if point_loop(nest, _private(nest, statement, program)))
    return next(nests, None) or with_blocks(statement, inside)


def _parallel_nests(loop: Loop) -> Iterator[Loop]:
    """A loop, and those that it is a perfect nest of, with a thread for each trip; with the most loops first."""
    outer = replace(loop, is_parallel=True, backward=False)
    (first, *others) = loop.body
    if isinstance(first, Loop) and not others and not first.is_open:
        yield from (replace(outer, body=(nest,)) for nest in _parallel_nests(first))
    yield outer


def _block_of_threads(block: Block, program: Program) -> Block:
    return tuple(_threads(statement, program) for statement in block)


def _has_many(loop: Loop) -> bool:
    """Whether there are more trips than points of a statement in them: the others are one after another, then."""
    inside = [points([extent for _, extent in one.params]) for one in computes(loop.body)]
    return loop.trips.is_const and all((size or 1) <= loop.trips.const for size in inside)


def _interchanged(statement: Statement, program: Program) -> Block:
    if not isinstance(statement, Loop) or statement.is_parallel or statement.is_open or len(statement.body) != 1:
        return (statement,)
    nest = _nest_of(statement.body[0], program)
    is_free = reads_of(statement) == [] and not any(_is_slot(one, program) for one in computes(statement.body))
    if nest is None or not is_free or statement.var in _symbols_of_extents(nest):
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


def _symbols_of_extents(nest: Loop) -> frozenset[str]:
    """The symbols of the numbers of points."""
    own = frozenset(symbols_in((nest.start, nest.trips)))
    (first, *_) = nest.body
    is_nest = len(nest.body) == 1 and isinstance(first, Loop) and first.is_parallel
    return own | _symbols_of_extents(first) if is_nest and isinstance(first, Loop) else own


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
