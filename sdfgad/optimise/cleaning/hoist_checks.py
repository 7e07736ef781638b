"""Loop-invariant code motion (LICM) of checks: what is checked alike in each trip of a loop is checked once, before it.

``for t: for p: status max= 0 if 0 <= i[p] < n else 7`` needs no loop over t: a maximum that is taken again is the same.
So are all maxima and minima of what does not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from sdfgad.ir.expr import Const, Int, Op
from sdfgad.ir.program import Block, Branch, Call, Compute, Loop, Program, Statement, reads_of, walk, written
from sdfgad.optimise.blocks import flat_map, flat_map_inside
from sdfgad.schedule.loop_facts import free_symbols

EXTREMA = {"maximum", "minimum"}


def hoist_checks(program: Program) -> Program:
    """The program with such statements before their loops, out of as many as possible."""
    return program.with_body(flat_map(program.body, _outside))


def _outside(statement: Statement) -> Block:
    """A statement after what its trips, from the innermost loop on, need not do again."""
    statement = flat_map_inside(statement, _outside)
    if not isinstance(statement, Loop) or statement.is_open:
        return (statement,)
    is_same = partial(_is_same, loop=statement, changed=written((statement,)), extrema=set(_extrema(statement)))
    moved = tuple(filter(is_same, statement.body))
    if not moved:
        return (statement,)
    kept = tuple(one for one in statement.body if not is_same(one))
    return (*_if_there_are_trips(statement, moved), *((replace(statement, body=kept),) if kept else ()))


def _is_same(statement: Statement, loop: Loop, changed: set[str], extrema: set[str]) -> bool:
    """Whether a statement takes the same extremum in each trip."""
    if not isinstance(statement, Compute) or statement.target.buffer not in extrema:
        return False
    is_fixed = changed.isdisjoint(read.buffer for read in reads_of(statement))
    return is_fixed and loop.var not in free_symbols((statement,))


def _extrema(loop: Loop) -> Iterator[str]:
    """What a loop takes one kind of extremum of, and does nothing else with."""
    read = {one.buffer for statement in walk((loop,)) for one in reads_of(statement)}
    kinds: dict[str, set[str | None]] = {}
    for statement in walk((loop,)):
        if isinstance(statement, Compute):
            kinds.setdefault(statement.target.buffer, set()).add(None if statement.fresh else statement.accumulate)
        elif isinstance(statement, Call):
            read |= statement.written
    yield from (name for name, found in kinds.items() if len(found) == 1 and found <= EXTREMA and name not in read)


def _if_there_are_trips(loop: Loop, moved: Block) -> Block:
    if loop.trips.is_const:
        return moved if loop.trips.const > 0 else ()
    condition = Op("less", (Const(0, np.dtype(np.int64)), Int(loop.trips)), np.dtype(bool))
    return (Branch(condition, moved, (), where=loop.where),)
