"""Dead-code elimination: removes statements whose results nothing reads.

By a backward liveness analysis of whole buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdfgad.dependence.mixed_radix import writes_all
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import (
    MESSAGES,
    ZERO,
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    reads_of,
    walk,
)


def remove_dead_code(program: Program) -> Program:
    """The program without the statements that neither outputs nor checks depend on."""
    live = {*program.outputs.values(), "status", MESSAGES}
    body, _ = _Pass(dict(program.buffers)).block(program.body, live)
    return program.with_body(body)


def _only_checked(call: Call, live: set[str]) -> Call:
    """A call; where nothing but its failure status is read, the cheaper one that only computes this."""
    function, needed = LIBRARY[call.name], [whole for whole in call.outputs if whole.buffer in live]
    if not function.check or needed != [call.outputs[-1]]:
        return call
    return replace(call, name=function.check, inputs=call.inputs[:1], outputs=call.outputs[-1:], sizes=call.sizes[:2])


class _Pass:
    """Liveness analysis: walks backwards with the set of buffers that are read later."""

    def __init__(self, buffers: dict[str, Buffer]) -> None:
        self.buffers = buffers

    def block(self, block: Block, live: set[str]) -> tuple[Block, set[str]]:
        kept: list[Statement] = []
        for statement in reversed(block):
            changed, live = self.statement(statement, live)
            if changed is not None:
                kept.append(changed)
        return tuple(reversed(kept)), live

    def statement(self, statement: Statement, live: set[str]) -> tuple[Statement | None, set[str]]:
        if isinstance(statement, Compute):
            return self.compute(statement, live)
        if isinstance(statement, Call):
            made = {whole.buffer for whole in statement.outputs}
            statement = _only_checked(statement, live)
            needed = {whole.buffer for whole in statement.inputs}
            is_kept = live & made or LIBRARY[statement.name].is_ordered
            return (statement, (live - made) | needed) if is_kept else (None, live)
        if isinstance(statement, Loop):
            return self.loop(statement, live)
        return self.branch(statement, live)

    def compute(self, statement: Compute, live: set[str]) -> tuple[Statement | None, set[str]]:
        is_empty = any(extent.is_const and extent.const <= 0 for _, extent in statement.params)
        if statement.target.buffer not in live or is_empty:
            return None, live
        target, shape = statement.target.buffer, self.buffers[statement.target.buffer].shape
        before = live - {target} if statement.assigns and writes_all(statement, shape) else live
        return statement, before | {read.buffer for read in reads_of(statement)}

    def loop(self, loop: Loop, live: set[str]) -> tuple[Statement | None, set[str]]:
        """A fixed point: what a trip reads is live at the end of the trip before it, too."""
        at_end = live | {read.buffer for read in reads_of(loop)} if loop.is_open else live
        while True:
            body, before = self.block(loop.body, at_end)
            if before <= at_end:
                break
            at_end = at_end | before
        if not body:
            return None, live
        loop = replace(loop, body=body)
        after = at_end | {read.buffer for read in reads_of(loop)}
        return loop, after - self.overwritten(loop)

    def overwritten(self, loop: Loop) -> set[str]:
        """The buffers that a loop overwrites completely and does not read."""
        nested = list(walk((loop,)))
        read = {read.buffer for s in nested for read in reads_of(s)}
        read |= {s.target.buffer for s in nested if isinstance(s, Compute) and not s.assigns}
        made = (s for s in _always_run((loop,)) if s.target.buffer not in read)
        return {s.target.buffer for s in made if writes_all(s, self.buffers[s.target.buffer].shape)}

    def branch(self, branch: Branch, live: set[str]) -> tuple[Statement | None, set[str]]:
        then, before_then = self.block(branch.then, live)
        orelse, before_else = self.block(branch.orelse, live)
        if not then and not orelse:
            return None, live
        before = before_then | before_else | {read.buffer for read in reads_of(branch)}
        return replace(branch, then=then, orelse=orelse), before


def _always_run(block: Block, around: Params = ()) -> Iterator[Compute]:
    """The assignments that certainly run in all trips of the loops around, whose counters become parameters."""
    for statement in block:
        if isinstance(statement, Loop) and _has_trips(statement):
            yield from _always_run(statement.body, (*around, (statement.var, statement.trips)))
        elif isinstance(statement, Compute) and statement.assigns:
            yield replace(statement, params=(*around, *statement.params))


def _has_trips(loop: Loop) -> bool:
    """Whether a loop certainly has trips, and counts them from 0."""
    return not loop.is_open and loop.start == ZERO and loop.trips.is_const and loop.trips.const > 0
