"""Checkpointing of loops: the forward sweep keeps some states, and the reverse sweep restarts from them, by segments.

Which states to keep and to load, and which trips to run, is in a table of integers that the caller passes
(`sdfgad.plan.revolve` computes it). So one compiled program serves all numbers of slots, segment lengths and numbers of
trips.

Where the number of trips is data, the table is for as many as have been counted (`counting`), and the forward sweep
finds out how many there are. It may be fewer, or more, which the program reports: the caller then counts on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sdfgad.analysis.exposure import exposed
from sdfgad.analysis.flow import BEFORE, Request
from sdfgad.analysis.model import numbered
from sdfgad.gradient.counting import is_counted
from sdfgad.gradient.message_logs import LoggedCall, logged_calls
from sdfgad.gradient.trip_bounds import most_trips
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    MESSAGES,
    Access,
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Statement,
    Whole,
    boxed_reads,
    buffers_of,
    walk,
    written,
)
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import overwritten
from sdfgad.reverse.save_points import enclosing_loops

# Columns of the tables; trips are counted from 0, and a slot of -1 means none.
FORWARD_COLUMNS = ("keep", "start", "end")
REVERSE_COLUMNS = ("load", "start", "middle", "keep", "end")


@dataclass(frozen=True)
class Checkpoint:
    """How one loop is checkpointed.

    Attributes:
        number: the loop's statement number.
        base: the symbol of the current segment's first trip.
        segment: the run-time integer that is the number of trips in a segment.
        slots: the run-time integer that is the number of states kept.
        forward, reverse: the tables, with `FORWARD_COLUMNS` and `REVERSE_COLUMNS`; their numbers of rows are integers.
        states: buffer -> the buffer of its kept states, and the indices before that of the slot.
        messages: the calls in it that communicate, by number, which do not when it runs again.
        made: the number of trips that the forward sweep has made, if that is data.
    """

    number: int
    loop: Loop
    base: str
    segment: str
    slots: str
    forward: Buffer
    reverse: Buffer
    states: Mapping[str, tuple[Buffer, tuple[Lin, ...]]]
    messages: Mapping[int, LoggedCall]
    made: Buffer | None = None

    @property
    def integers(self) -> tuple[str, ...]:
        rows = (str(table.shape[0].terms[0][0]) for table in (self.forward, self.reverse))
        return (self.segment, self.slots, *rows)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        logs = (log.buffer for one in self.messages.values() for log in one.logs)
        made = () if self.made is None else (self.made,)
        return (self.forward, self.reverse, *(checkpoint for checkpoint, _ in self.states.values()), *logs, *made)

    def until(self, end: Lin) -> Lin:
        """A trip's number, or the number of trips if that is less."""
        return end if self.made is None else _smaller(end, Lin.symbol(Access(self.made.name).read(INT)))


def can_checkpoint(loop: Loop, around: Sequence[tuple[int, Loop]], integers: Collection[str]) -> bool:
    """Whether a loop can be checkpointed: trips of loops around it are known before the run, but for the outermost's.

    A loop in one whose number of trips is data can be checkpointed where that one is, too.
    """
    outermost, *others = [*(outer for _, outer in around), loop]
    known = all(_is_known(one, integers) for one in others)
    if known and is_counted(outermost):
        return not _communicates(outermost)
    return known and _is_known(outermost, integers) and not any(_is_logged_in_vain(one) for one in walk((loop,)))


def _is_known(loop: Loop, integers: Collection[str]) -> bool:
    return loop.trips.is_affine and loop.trips.symbols <= set(integers)


def _is_logged_in_vain(statement: Statement) -> bool:
    """Whether a loop has messages and a number of trips that is data: logs have an axis for each loop."""
    return isinstance(statement, Loop) and is_counted(statement) and _communicates(statement)


def _communicates(loop: Loop) -> bool:
    return any(isinstance(one, Call) and LIBRARY[one.name].is_ordered for one in walk(loop.body))


def carried(adjoint: Adjoint, number: int, loop: Loop, around: tuple[tuple[int, Loop], ...]) -> tuple[str, ...]:
    """A loop's state: the buffers that must be kept to run it again from one of its trips.

    They are the ones that a trip reads as an earlier trip left them, the ones whose values from before the loop are
    saved in it, and the ones that the loop only reads but that have other values by the time it is run again.
    """
    first, last = number + 1, number + loop.size
    requests = {n - first: adjoint.requests[n] for n in range(first, last + 1) if n in adjoint.requests}
    names = written(loop.body) - {"status", MESSAGES}
    found = exposed(loop.body, names, adjoint.primal.buffers, adjoint.context, requests)
    saved = {buffer for n, buffer in adjoint.residuals if first <= n <= last}
    end = around[0][0] + around[0][1].size if around else number - 1
    before: set[str] = set()
    for n, statement in enumerate(numbered(adjoint.primal.body)):
        if n <= end and not number <= n <= last:
            before |= buffers_of(statement)
    return tuple(sorted(found | (saved & before & names) | _overwritten_later(adjoint, number, loop)))


def _overwritten_later(adjoint: Adjoint, number: int, loop: Loop) -> set[str]:
    """What the loop reads and does not write, and the reverse sweep has not restored when it reaches the loop."""
    elsewhere = written(loop.body).union(*(one.buffers for one in adjoint.recomputes if one.is_outermost))
    requests: set[tuple[int, Request]] = set()
    for n, statement in enumerate(walk(loop.body), number + 1):
        for read, params in boxed_reads(statement):
            if read.buffer not in elsewhere:
                requests.add((n, Request(Access(read.buffer, read.index), params, BEFORE)))
    lost = overwritten(adjoint.overwrites, requests)
    return {buffer for n, buffer, w in lost if not adjoint.save_points.is_kept(n, w, buffer, adjoint.residuals)}


def checkpoints_for(adjoint: Adjoint, numbers: Iterable[int], names: Names) -> dict[int, Checkpoint]:
    """The checkpoints of the loops with these statement numbers, outer loops first."""
    around = _around(adjoint)
    result: dict[int, Checkpoint] = {}
    for number in sorted(numbers):
        loop, outer = around[number]
        result[number] = _checkpoint(adjoint, number, loop, outer, result, names)
    return result


def _around(adjoint: Adjoint) -> dict[int, tuple[Loop, tuple[tuple[int, Loop], ...]]]:
    """Loop number -> the loop and those around it."""
    statements, loops = numbered(adjoint.primal.body), enclosing_loops(adjoint.primal.body)
    return {n: (s, loops[n]) for n, s in enumerate(statements) if isinstance(s, Loop)}


def axes_of(loops: Iterable[tuple[int, Loop]], checkpoints: Mapping[int, Checkpoint]) -> list[tuple[Lin, Lin]]:
    """Index and extent of a tape's axis for each loop: over its trips, or over those of the current segment.

    What a segment stores is read before the next one runs: loops around the innermost checkpointed loop have no axis.
    """
    loops = list(loops)
    inner = next((k for k in reversed(range(len(loops))) if loops[k][0] in checkpoints), None)
    if inner is None:
        return [(Lin.symbol(loop.var), loop.trips) for _, loop in loops]
    most = most_trips(loops)
    number, loop = loops[inner]
    base, segment = (Lin.symbol(name) for name in (checkpoints[number].base, checkpoints[number].segment))
    inside = [loop.var for _, loop in loops[inner + 1 :]]
    return [(Lin.symbol(loop.var) - base, segment), *((Lin.symbol(var), most[var]) for var in inside)]


def _checkpoint(
    adjoint: Adjoint,
    number: int,
    loop: Loop,
    around: tuple[tuple[int, Loop], ...],
    outer: Mapping[int, Checkpoint],
    names: Names,
) -> Checkpoint:
    var = loop.var
    base, segment, slots = (names.fresh(f"{var}_{what}") for what in ("base", "segment", "slots"))
    axes = axes_of(around, outer)
    states: dict[str, tuple[Buffer, tuple[Lin, ...]]] = {}
    for name in carried(adjoint, number, loop, around):
        buffer = adjoint.primal.buffers[name]
        shape = (*(extent for _, extent in axes), Lin.symbol(slots), *buffer.shape)
        storage = replace(buffer, name=names.fresh(f"{name}_kept"), shape=shape, where=loop.where)
        states[name] = (storage, tuple(index for index, _ in axes))
    forward = _table(names, f"{var}_forward", len(FORWARD_COLUMNS))
    reverse = _table(names, f"{var}_reverse", len(REVERSE_COLUMNS))
    known = {n for one in outer.values() for n in one.messages}
    messages = logged_calls(adjoint.primal, number, known, names)
    made = Buffer(names.fresh(f"{var}_made"), (), INT) if is_counted(loop) else None
    return Checkpoint(number, loop, base, segment, slots, forward, reverse, states, messages, made)


def _table(names: Names, name: str, columns: int) -> Buffer:
    return Buffer(names.fresh(name), (Lin.symbol(names.fresh(f"{name}_rows")), Lin(columns)), INT)


# --- statements

Segment = Callable[[Lin, Lin], Block]


def checkpointed_forward(checkpoint: Checkpoint, advance: Block, names: Names) -> Block:
    """The forward sweep of a checkpointed loop: it keeps the states that the table names.

    Args:
        advance: the loop's body.
    """
    loop, row = checkpoint.loop, names.fresh(f"{checkpoint.loop.var}_row")
    cell = _Cells(checkpoint.forward, row, FORWARD_COLUMNS)
    start, end = cell["start"], cell["end"] if loop.is_open else checkpoint.until(cell["end"])
    trip = (_while_open(loop, advance),) if loop.is_open else advance
    body = (_state(checkpoint, cell["keep"], True, names), _trips(checkpoint, trip, start, end - start))
    rows = Loop(row, checkpoint.forward.shape[0], body, (), where=loop.where)
    if checkpoint.made is None:
        return (rows,)
    made = Compute((), Access(checkpoint.made.name), Int(loop.trips))
    # An open loop knows its trips at the end; what others do may change what their number is computed from.
    return (rows, made) if loop.is_open else (made, rows)


def _while_open(loop: Loop, trip: Block) -> Branch:
    """A trip of an open loop, if there still is one."""
    condition = Op("less", (Int(Lin.symbol(loop.var)), Int(loop.trips)), BOOL)
    return Branch(condition, trip, (), where=loop.where)


def _smaller(left: Lin, right: Lin) -> Lin:
    return Lin.symbol(Op("minimum", (Int(left), Int(right)), INT))


def checkpointed_reverse(checkpoint: Checkpoint, advance: Block, taping: Block, reverse: Block, names: Names) -> Loop:
    """The reverse sweep of a checkpointed loop: it loads states, and runs segments again and reverses them.

    Args:
        advance, taping, reverse: the loop's body, the same with its stores, and its adjoint.
    """
    row, base = names.fresh(f"{checkpoint.loop.var}_row"), Lin.symbol(checkpoint.base)
    cell = _Cells(checkpoint.reverse, row, REVERSE_COLUMNS)
    middle = checkpoint.until(cell["middle"])
    count = checkpoint.until(cell["end"]) - base
    segment = (
        _trips(checkpoint, taping, base, count),
        replace(_trips(checkpoint, reverse, base, count), backward=True),
    )
    body = (
        _state(checkpoint, cell["load"], False, names),
        _trips(checkpoint, advance, cell["start"], middle - checkpoint.until(cell["start"])),
        _state(checkpoint, cell["keep"], True, names),
        _bound(checkpoint.base, middle, segment),
    )
    return Loop(row, checkpoint.reverse.shape[0], body, (), where=checkpoint.loop.where)


class _Cells:
    """The entries of the current row of a table, by column."""

    def __init__(self, table: Buffer, row: str, columns: tuple[str, ...]) -> None:
        self.table, self.row, self.columns = table, row, columns

    def __getitem__(self, column: str) -> Lin:
        index = (Lin.symbol(self.row), Lin(self.columns.index(column)))
        return Lin.symbol(Read(self.table.name, index, INT))


def _trips(checkpoint: Checkpoint, body: Block, start: Lin, count: Lin) -> Loop:
    return Loop(checkpoint.loop.var, count, body, (), where=checkpoint.loop.where, start=start)


def _bound(symbol: str, value: Lin, body: Block) -> Loop:
    """The body with a symbol bound to a value that is data: a loop of one trip."""
    return Loop(symbol, Lin(1), body, (), start=value)


def _state(checkpoint: Checkpoint, slot: Lin, is_store: bool, names: Names) -> Branch:
    """Stores the state to a slot, or loads it from one, if the slot's number is not negative."""
    chosen = names.fresh(f"{checkpoint.loop.var}_slot")
    copies = tuple(_copy(checkpoint, name, Lin.symbol(chosen), is_store) for name in checkpoint.states)
    condition = Op("greater_equal", (Int(slot), Const(0, INT)), BOOL)
    return Branch(condition, (_bound(chosen, slot, copies),) if copies else (), (), where=checkpoint.loop.where)


def _copy(checkpoint: Checkpoint, name: str, slot: Lin, is_store: bool) -> Compute:
    buffer, outer = checkpoint.states[name]
    whole = Whole(name, buffer.shape[len(outer) + 1 :], buffer.dtype)
    there = Access(buffer.name, (*outer, slot, *whole.access.index))
    target, source = (there, whole.access) if is_store else (whole.access, there)
    return Compute(whole.params, target, source.read(buffer.dtype), None, checkpoint.loop.where)
