"""Thread independence: which loops around library calls threads may share, although the program runs their trips in
order.

A library function works on whole buffers, so that each trip writes the same ones. What a trip writes before it reads it
carries nothing to the next one: each thread has its own. Other buffers are read, added to, or different for each trip.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sdfgad.analysis.private import begins_anew
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
    """Of some buffers that nothing else uses, those of which each thread that shares a loop may have its own.

    None, if threads cannot share it even so.
    """
    if not isinstance(statement, Loop) or not has_calls(statement):
        return set()
    own = {name for name in names if begins(statement.body, buffers[name])}
    return own if is_independent(statement, own) else set()


def begins(block: Block, buffer: Buffer) -> bool:
    """Whether a temporary carries nothing from one run of a block to the next."""
    return begins_with_write(block, buffer.name) if is_single(buffer) else begins_anew(block, buffer.name)


def is_independent(loop: Loop, own: Collection[str]) -> bool:
    """Whether the trips of a loop may run in any order but for sums and maxima, each with these buffers of its own."""
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
    """The single elements of which a loop only makes maxima."""
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
