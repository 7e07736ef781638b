"""Packing: rows whose indices wrap around are copied before a short loop of many operations reads them.

Such a loop would run in parts (`schedule/splitting.py`), each with an end that fills no vector: of 48 trips, which are
six vectors, there would be five, and eight trips one by one. ``for i: y[i] = … x[(i + 1) % 48] …`` becomes
``for k: row[k] = x[(k + 1) % 48]; for i: y[i] = … row[i] …``: only the copy is in parts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sdfgad.ir.expr import Expr, Lin, Op, Read, postorder, rewrite
from sdfgad.ir.folding import division
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, Loop, Program, Statement, reads_of, transform, with_blocks
from sdfgad.optimise.names import names_of
from sdfgad.schedule.target import cpu


def unwrap_rows(program: Program) -> Program:
    """The program with such rows copied, in loops around such loops: what runs once is not worth it."""
    unwrapping = _Unwrapping(dict(program.buffers), names_of(program))
    body = tuple(with_blocks(s, partial(transform, each=unwrapping.statement)) for s in program.body)
    return replace(program, buffers=unwrapping.buffers, body=body)


class _Unwrapping:
    def __init__(self, buffers: dict[str, Buffer], names: Names) -> None:
        self.buffers, self.names = buffers, names

    def statement(self, statement: Statement) -> Block:
        if not isinstance(statement, Loop) or not _is_short(statement):
            return (statement,)
        found = dict.fromkeys(read for s in statement.body for read in reads_of(s) if _wraps(read, statement.var))
        body = [s for s in statement.body if isinstance(s, Compute) and not s.params]
        is_whole = len(body) == len(statement.body) and all(read.buffer not in statement.written for read in found)
        if not found or not is_whole or _operations(body) < cpu().packed_operations * len(found):
            return (statement,)
        rows = {read: self.row(statement, read) for read in found}
        here = Lin.symbol(statement.var)
        known: dict[Expr, Expr] = {read: Read(copy.target.buffer, (here,), read.dtype) for read, copy in rows.items()}
        changed = tuple(replace(s, value=rewrite(s.value, replace=known.get)) for s in body)
        return (*rows.values(), replace(statement, body=changed))

    def row(self, loop: Loop, read: Read) -> Compute:
        """The copy of a row into a buffer of its own."""
        buffer = Buffer(self.names.fresh(f"{read.buffer}_row"), (loop.trips,), read.dtype)
        self.buffers[buffer.name] = buffer
        counter = self.names.fresh("w")
        place = Lin.symbol(counter)
        value = rewrite(read, {loop.var: place})
        return Compute(((counter, loop.trips),), Access(buffer.name, (place,)), value, where=loop.where)


def _is_short(loop: Loop) -> bool:
    return loop.is_parallel and loop.start == Lin(0) and loop.trips.is_const and loop.trips.const <= cpu().widened_trips


def _wraps(read: Read, var: str) -> bool:
    """Whether the last index of an element wraps around along a counter, and no other one depends on it."""
    if not read.index or any(var in lin.symbols for lin in read.index[:-1]):
        return False
    parts = [division(atom) for atom, _ in read.index[-1].terms if not isinstance(atom, str) and var in atom.symbols]
    return len(parts) == 1 and parts[0] is not None and parts[0][0] == "remainder"


def _operations(body: list[Compute]) -> int:
    """The number of operations of a trip, without those in indices; what statements have in common counts once."""
    nodes = {node for s in body for node in postorder(s.value, without=s.value.reads)}
    return sum(isinstance(node, Op) for node in nodes)
