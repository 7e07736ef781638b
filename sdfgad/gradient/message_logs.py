"""Logs of messages: what checkpointed loops have received, so that running them again does not communicate.

Ranks plan by themselves: one may run a segment of a loop again where another one has stored it. So the forward sweep
logs what each message has brought, for all trips, and a trip that runs again reads that instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from sdfgad.analysis.model import numbered
from sdfgad.gradient.trip_bounds import most_trips
from sdfgad.ir.expr import Const, Lin
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Call, Compute, Loop, Program, Whole
from sdfgad.reverse.save_points import enclosing_loops

Loops = tuple[tuple[int, Loop], ...]


@dataclass(frozen=True)
class Log:
    """The log of one result of a message, with an axis for each loop around it."""

    buffer: Buffer
    result: Whole
    index: tuple[Lin, ...]

    def copy(self, is_store: bool) -> Compute:
        own = self.result.access
        slot = Access(self.buffer.name, (*self.index, *own.index))
        target, source = (slot, own) if is_store else (own, slot)
        return Compute(self.result.params, target, source.read(self.result.dtype), None, self.buffer.where)


@dataclass(frozen=True)
class LoggedCall:
    """A call that communicates in a checkpointed loop."""

    call: Call
    logs: tuple[Log, ...]

    @property
    def logging(self) -> Block:
        """The call, and what logs its results."""
        return (self.call, *(log.copy(is_store=True) for log in self.logs))

    @property
    def replayed(self) -> Block:
        """What gives the results without the call; after it there are no messages that it has to precede."""
        *_, after = self.call.outputs
        last = Compute(after.params, after.access, Const(0, after.dtype), None, self.call.where)
        return (*(log.copy(is_store=False) for log in self.logs), last)


def messages_in(program: Program, number: int) -> dict[int, tuple[Call, Loops]]:
    """The calls that communicate in a numbered loop, by their numbers, with the loops around each."""
    statements, loops = numbered(program.body), enclosing_loops(program.body)
    inside = range(number, number + statements[number].size + 1)
    found = ((n, statements[n]) for n in inside)
    return {n: (s, loops[n]) for n, s in found if isinstance(s, Call) and LIBRARY[s.name].is_ordered}


def log_shapes(call: Call, loops: Loops) -> list[tuple[Whole, tuple[Lin, ...]]]:
    """The results of a call, but its place in the order of messages, with the shapes of their logs."""
    most = most_trips(loops)
    extents = tuple(most[loop.var] for _, loop in loops)
    return [(result, (*extents, *result.shape)) for result in call.outputs[:-1]]


def logged_calls(program: Program, number: int, known: Collection[int], names: Names) -> Mapping[int, LoggedCall]:
    """The calls in a loop that is checkpointed, by number, but for those that another such loop has already."""
    found: dict[int, LoggedCall] = {}
    for n, (call, loops) in messages_in(program, number).items():
        if n not in known:
            index = tuple(Lin.symbol(loop.var) for _, loop in loops)
            found[n] = LoggedCall(call, tuple(_log(program, names, *one, index) for one in log_shapes(call, loops)))
    return found


def _log(program: Program, names: Names, result: Whole, shape: tuple[Lin, ...], index: tuple[Lin, ...]) -> Log:
    like = program.buffers[result.buffer]
    return Log(replace(like, name=names.fresh(f"{result.buffer}_log"), shape=shape), result, index)
