"""Live-range splitting: a value that lives within one trip of a parallel loop gets a buffer of its own.

A value that the reverse sweep restores is often read in one loop only: ``for f: t[f] = tape[n, f]; y[f] += … t[f] …``.
Under another name than the value of the forward sweep it needs no array: `contract` turns it into a scalar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sdfgad.dependence.mixed_radix import writes_all
from sdfgad.dependence.private import is_privatisable
from sdfgad.ir.names import Names
from sdfgad.ir.program import Block, Branch, Buffer, Call, Compute, Loop, Program, Statement, reads_of
from sdfgad.ir.rename import renamed
from sdfgad.optimise.names import names_of
from sdfgad.optimise.sizes import known_bytes
from sdfgad.optimise.storage.contract import axes_of_trip, contract, removable
from sdfgad.schedule.target import cpu


def split(program: Program) -> Program:
    """The program with such values in buffers of their own."""
    names = names_of(program)
    for buffer in program.buffers.values():
        if _may_have_parts(program, buffer):
            found = _Split(buffer, names)
            is_live = buffer.name in {*program.outputs.values(), "status"}
            users, _ = found.block(program.users[buffer.name], is_live)
            program = _with_users(program, buffer.name, users, found.made) if found.made else program
    return program


def _with_users(program: Program, name: str, users: Block, made: Mapping[str, Buffer]) -> Program:
    """The program with the statements that mention a buffer replaced."""
    return replace(program, body=_with(program.body, name, users), buffers={**program.buffers, **made})


def _with(block: Block, name: str, users: Block) -> Block:
    """A block with its statements that mention a buffer replaced."""
    others = iter(users)
    return tuple(next(others) if name in s.mentioned else s for s in block)


def _may_have_parts(program: Program, buffer: Buffer) -> bool:
    is_in_blocks = any(isinstance(s, (Loop, Branch)) for s in program.users.get(buffer.name, ()))
    is_own = bool(buffer.shape) and buffer.name not in program.inputs
    return is_in_blocks and is_own and next(removable(program, buffer.name), None) is None


class _Split:
    """Liveness analysis of one buffer: walks backwards with whether an element of it may be read later."""

    def __init__(self, buffer: Buffer, names: Names) -> None:
        self.buffer, self.names = buffer, names
        self.made: dict[str, Buffer] = {}

    def block(self, users: Block, live: bool) -> tuple[Block, bool]:
        """The statements that mention the buffer, after splitting, and whether it is live before them."""
        changed: list[Statement] = []
        for statement in reversed(users):
            statement, live = self.statement(statement, live)
            changed.append(statement)
        return tuple(reversed(changed)), live

    def statement(self, statement: Statement, live: bool) -> tuple[Statement, bool]:
        if isinstance(statement, Loop):
            return self.loop(statement, live)
        is_asked = any(read.buffer == self.buffer.name for read in reads_of(statement))
        if isinstance(statement, Branch):
            then, before_then = self.side(statement.then, live)
            orelse, before_else = self.side(statement.orelse, live)
            return replace(statement, then=then, orelse=orelse), is_asked or before_then or before_else
        if isinstance(statement, Call):
            is_made = any(whole.buffer == self.buffer.name for whole in statement.outputs)
            return statement, is_asked or (live and not is_made)
        return statement, is_asked or self.before(statement, live)

    def side(self, block: Block, live: bool) -> tuple[Block, bool]:
        users, live = self.block(tuple(s for s in block if self.buffer.name in s.mentioned), live)
        return _with(block, self.buffer.name, users), live

    def before(self, statement: Compute, live: bool) -> bool:
        """Whether, before a statement, an element of the buffer is live that the statement does not overwrite."""
        if statement.target.buffer != self.buffer.name:
            return live
        return not statement.assigns or (live and not writes_all(statement, self.buffer.shape))

    def loop(self, loop: Loop, live: bool) -> tuple[Statement, bool]:
        name = self.buffer.name
        is_asked = any(read.buffer == name for read in reads_of(loop))
        users = loop.users.get(name, ())
        if not is_asked and is_privatisable(users, name):
            if not live and self.is_worth(loop):
                return self.apart(loop), False
            if loop.is_parallel:
                return loop, live
        made = dict(self.made)
        changed, before = self.block(users, live or is_asked)
        if before and not live:
            # The next trip reads it.
            self.made = dict(made)
            changed, _ = self.block(users, True)
        if self.made != made:
            loop = replace(loop, body=_with(loop.body, name, changed))
        return loop, live or before or is_asked

    def is_worth(self, loop: Loop) -> bool:
        """Whether what is left of the array within a trip is small: each thread will have one."""
        name = self.buffer.name
        if not axes_of_trip(loop, name, len(self.buffer.shape)):
            return False
        alone = contract(Program("alone", {name: self.buffer}, (), (), {}, (loop,))).buffers[name]
        return all(extent.is_const for extent in alone.shape) and known_bytes(alone) <= cpu().local_bytes

    def apart(self, loop: Loop) -> Statement:
        name = self.names.fresh(self.buffer.name)
        self.made[name] = replace(self.buffer, name=name)
        return renamed((loop,), {self.buffer.name: name})[0]
