"""Array privatisation: which sequential loops around library calls can be divided among threads.

A library function works on whole buffers, so each trip writes the same ones. A buffer that each trip writes before it
reads it carries no value from trip to trip, and is privatised: each thread has its own copy. All other buffers must be
only read, only added to, or accessed at different elements in different trips: else there would be a data race.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sdfgad.dependence.order import are_independent
from sdfgad.dependence.private import carries_no_value
from sdfgad.dependence.uses import Use, uses_of
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Buffer, Call, Compute, Loop, Statement, buffers_of, reads_of, walk
from sdfgad.schedule.target import cpu


def has_calls(loop: Loop) -> bool:
    return any(isinstance(statement, Call) for statement in walk(loop.body))


def private_arrays(statement: Statement, buffers: Mapping[str, Buffer], names: Collection[str]) -> set[str]:
    """The buffers to privatise so that threads can share a loop; empty if they cannot share it even then.

    Args:
        names: the candidates: buffers that only this statement uses.
    """
    if not isinstance(statement, Loop) or not has_calls(statement):
        return set()
    private = {name for name in names if carries_no_value(statement.body, buffers[name])}
    return private if is_independent(statement, private) else set()


def is_independent(loop: Loop, private: Collection[str]) -> bool:
    """Whether trips can run in any order, apart from reductions, if each has its own copy of the buffers `private`."""
    is_short = loop.trips.is_const and loop.trips.const < cpu().parallel_trips
    if is_short or loop.is_open or loop.start != Lin(0) or reads_of(loop):
        return False
    free = {*private, *maximum_reductions(loop)}
    return are_independent((use for use in uses_of(loop) if use.buffer not in free), loop.var)


def uses_by_buffer(loop: Loop) -> Mapping[str, list[Use]]:
    found: dict[str, list[Use]] = {}
    for use in uses_of(loop):
        found.setdefault(use.buffer, []).append(use)
    return found


def maximum_reductions(loop: Loop) -> set[str]:
    """The scalars that a loop uses only as targets of maximum reductions."""
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
