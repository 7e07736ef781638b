"""Parts of loop nests: one trip, the last trips, one loop of a box, and the clear of a sum."""

from __future__ import annotations

from dataclasses import replace

from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Const, Lin
from sdfgad.ir.program import Block, Compute, Loop, reindexed, substituted


def at_trip(statement: Compute | Loop, name: str, trip: Lin) -> Block:
    """What a loop, or a statement over the parameter `name`, does in one trip."""
    if isinstance(statement, Loop):
        return substituted(statement.body, {name: trip})
    params = tuple((n, extent.substitute({name: trip})) for n, extent in statement.params if n != name)
    return (reindexed(statement, params, {name: trip}),)


def last_trips(loop: Loop, count: int) -> Block:
    """The last trips of a loop, if there are any, as a loop of their own."""
    first = Lin.symbol(loop.var) + loop.trips - count
    return (loop.with_trips(Lin(count), substituted(loop.body, {loop.var: first})),) if count else ()


def in_two(statement: Compute) -> tuple[Compute, Compute]:
    """A sum as two statements: the clear of its target, and its contributions."""
    own, zero = own_params(statement), Const(0, statement.value.dtype)
    clear = replace(statement, params=own, value=zero, accumulate=None, fresh=False)
    return clear, replace(statement, fresh=False)
