"""Removal of loop-carried dependences through tapes: loops around library calls save a trip's values at the trip's end.

A tape slot holds the value that a trip is about to overwrite, that is, the one from the trip before:
``loop z: T[z] = b; b = …; f(b)`` and ``loop backwards z: g(b); b = T[z]``. If each trip overwrites all of `b`, then
``loop z: b = …; f(b); T[z] = b`` and ``loop backwards z: c = T[z]; g(c)`` do the same, without a value that goes from
one trip to the next: threads can share the loops.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sdfgad.analysis.private import is_privatisable
from sdfgad.ir.accesses import is_whole, mentioned_by, uses_of
from sdfgad.ir.expr import Lin, Read
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Call, Compute, Loop, Program, Statement, reads_of, walk
from sdfgad.ir.rename import renamed
from sdfgad.optimise.names import names_of


def save_late(program: Program) -> Program:
    """The program with the tapes of such loops written at the end of a trip, and read at the start of its reversal."""
    names = names_of(program)
    for tape in program.buffers:
        found = _found(program, tape) if tape not in program.interface else None
        if found is not None:
            program = _moved(program, found, names)
    return program


@dataclass(frozen=True)
class _Saved:
    """A loop, its reversal, and the statements in them that save a buffer and restore it."""

    buffer: str
    forward: Loop
    save: Compute
    backward: Loop
    restore: Compute


def _found(program: Program, tape: str) -> _Saved | None:
    users = program.users.get(tape, ())
    if len(users) != 2:
        return None
    forward, backward = users
    if not isinstance(forward, Loop) or not isinstance(backward, Loop) or not _is_reversed(forward, backward):
        return None
    saves, restores = ([s for s in loop.body if mentioned_by(s, tape)] for loop in (forward, backward))
    if len(saves) != 1 or len(restores) != 1:
        return None
    save, restore = saves[0], restores[0]
    if not isinstance(save, Compute) or not isinstance(restore, Compute):
        return None
    saved = _Saved(restore.target.buffer, forward, save, backward, restore)
    users = program.users[saved.buffer]
    is_own = saved.buffer not in program.interface and all(s is forward or s is backward for s in users)
    is_one = _is_copied(program, saved, tape)
    return saved if is_own and is_one and _is_made_anew(saved) and _is_read_before(saved) else None


def _is_reversed(forward: Loop, backward: Loop) -> bool:
    """Whether one loop has the trips of the other, in the other order, and there are calls in it."""
    is_plain = not any(loop.is_open or loop.start != Lin(0) or reads_of(loop) for loop in (forward, backward))
    is_turned = forward.trips == backward.trips and backward.backward and not forward.backward
    return is_plain and is_turned and any(isinstance(s, Call) for s in walk(forward.body))


def _is_copied(program: Program, saved: _Saved, tape: str) -> bool:
    """Whether all of the buffer is copied to the trip's place on the tape, and from there."""
    for statement, loop in ((saved.save, saved.forward), (saved.restore, saved.backward)):
        if statement.accumulate is not None or not isinstance(statement.value, Read):
            return False
        target, value = statement.target, Access(statement.value.buffer, statement.value.index)
        ours, there = (value, target) if statement is saved.save else (target, value)
        if (ours.buffer, there.buffer) != (saved.buffer, tape) or there.index != (Lin.symbol(loop.var), *ours.index):
            return False
        if not is_whole(program.buffers, replace(statement, target=ours)):
            return False
    return True


def _is_made_anew(saved: _Saved) -> bool:
    """Whether a forward trip saves the buffer before any other use of it, and then overwrites it entirely."""
    users = [s for s in saved.forward.body if mentioned_by(s, saved.buffer)]
    rest = tuple(s for s in saved.forward.body if s is not saved.save)
    return users[0] is saved.save and len(users) > 1 and is_privatisable(rest, saved.buffer)


def _is_read_before(saved: _Saved) -> bool:
    """Whether a backward trip only reads the buffer, and restores it last."""
    users = [s for s in saved.backward.body if mentioned_by(s, saved.buffer)]
    uses = [use for s in users[:-1] for use in uses_of(s) if use.buffer == saved.buffer]
    return users[-1] is saved.restore and all(use.kind == "read" for use in uses)


def _moved(program: Program, saved: _Saved, names: Names) -> Program:
    name = names.fresh(saved.buffer)
    body = tuple(s for s in saved.forward.body if s is not saved.save)
    forward = replace(saved.forward, body=(*body, saved.save))
    body = tuple(s for s in saved.backward.body if s is not saved.restore)
    backward = replace(saved.backward, body=renamed((saved.restore, *body), {saved.buffer: name}))
    buffers = {**program.buffers, name: replace(program.buffers[saved.buffer], name=name)}

    def changed(statement: Statement) -> Statement:
        if statement is saved.forward:
            return forward
        return backward if statement is saved.backward else statement

    return replace(program, buffers=buffers, body=tuple(map(changed, program.body)))
