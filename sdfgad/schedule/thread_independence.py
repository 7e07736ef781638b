"""Privatisation for thread parallelism: which sequential loops around library calls threads may share nevertheless.

A library function works on whole buffers, so that each trip writes the same ones. A buffer that each trip writes before
it reads it carries no value from trip to trip, and is privatised: each thread has one. All other buffers must be only
read, only added to, or accessed at different elements in different trips.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sdfgad.analysis.private import is_privatisable
from sdfgad.ir.accesses import Use, conflict, is_same_trip, uses_of
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, Buffer, Call, Compute, Loop, Statement, buffers_of, reads_of, walk
from sdfgad.schedule.loop_facts import begins_with_write
from sdfgad.schedule.loop_order import is_single

# The threads of a library may do fewer trips faster, all of them each call.
FEWEST = 8


def has_calls(loop: Loop) -> bool:
    return any(isinstance(statement, Call) for statement in walk(loop.body))


def own_arrays(statement: Statement, buffers: Mapping[str, Buffer], names: Collection[str]) -> set[str]:
    """The buffers in `names`, which nothing else uses, that must be private to each thread for threads to share a loop.

    None of them if threads cannot share the loop even then.
    """
    if not isinstance(statement, Loop) or not has_calls(statement):
        return set()
    own = {name for name in names if begins(statement.body, buffers[name])}
    return own if is_independent(statement, own) else set()


def begins(block: Block, buffer: Buffer) -> bool:
    """Whether no run of a block reads a value of a temporary from an earlier run."""
    return begins_with_write(block, buffer.name) if is_single(buffer) else is_privatisable(block, buffer.name)


def is_independent(loop: Loop, own: Collection[str]) -> bool:
    """Whether trips may run in any order, except for sums and maxima, if the buffers `own` are private to each."""
    is_short = loop.trips.is_const and loop.trips.const < FEWEST
    if is_short or loop.is_open or loop.start != Lin(0) or reads_of(loop):
        return False
    free = {*own, *maxima(loop)}
    return all(_are_apart(uses, loop.var) for name, uses in uses_by_buffer(loop).items() if name not in free)


def uses_by_buffer(loop: Loop) -> Mapping[str, list[Use]]:
    found: dict[str, list[Use]] = {}
    for use in uses_of(loop):
        found.setdefault(use.buffer, []).append(use)
    return found


def _are_apart(uses: list[Use], var: str) -> bool:
    """Whether what a trip writes no other one touches, and what it adds to no other one reads."""
    return all(is_same_trip(a, b, var, var) for a in uses for b in uses if conflict(a, b))


def maxima(loop: Loop) -> set[str]:
    """The scalars that a loop uses in maximum reductions only."""
    found, others = set[str](), set[str]()
    for statement in walk(loop.body):
        if isinstance(statement, Compute) and _is_maximum(statement):
            found.add(statement.target.buffer)
            others |= {read.buffer for read in reads_of(statement)}
        else:
            others |= buffers_of(statement)
    return found - others


def _is_maximum(statement: Compute) -> bool:
    return statement.accumulate == "maximum" and not statement.fresh and not statement.target.index
