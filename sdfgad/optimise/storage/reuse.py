"""Storage coalescing by interval colouring: arrays of one trip of a loop whose live ranges are disjoint share storage.

A trip of a time loop computes array after array, ``t = …; u = f(t); v = g(u); w = h(v)``, and needs few of them at a
time: `v` is stored where `t` was. Outside of loops arrays are released after their last mention, but within a trip they
are not; so they must share a buffer, as variables share a register in register allocation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace

from sdfgad.dependence.private import is_privatisable
from sdfgad.ir.program import Block, Loop, Program, Statement, touch_counts
from sdfgad.ir.rename import renamed
from sdfgad.memory.lifetimes import arguments
from sdfgad.optimise.sizes import known_bytes
from sdfgad.schedule.target import cpu


def reuse(program: Program) -> Program:
    """The program with fewer arrays in its sequential loops."""
    found = _Reuse(program)
    body = tuple(found.statement(statement) for statement in program.body)
    buffers = {name: buffer for name, buffer in program.buffers.items() if name not in found.gone}
    return replace(program, body=body, buffers=buffers)


class _Reuse:
    def __init__(self, program: Program) -> None:
        self.program, self.arguments = program, arguments(program)
        self.users = touch_counts(program.body)
        self.gone: set[str] = set()

    def statement(self, statement: Statement) -> Statement:
        # Threads that share a loop need arrays of their own in it, which other analyses find by name.
        if not isinstance(statement, Loop) or statement.is_parallel:
            return statement
        body = tuple(self.statement(one) for one in statement.body)
        return replace(statement, body=self.block(body))

    def block(self, block: Block) -> Block:
        users = touch_counts(block)
        spans = {name: span for name, span in _spans(block).items() if self._is_of(block, name, users)}
        free: dict[Hashable, list[str]] = {}
        names: dict[str, str] = {}
        for position in range(len(block)):
            for name in [n for n, (first, _) in spans.items() if first == position]:
                names[name] = free.get(self._kind(name), []).pop() if free.get(self._kind(name)) else name
            for name in [n for n, (_, last) in spans.items() if last == position]:
                free.setdefault(self._kind(name), []).append(names[name])
        changed = {old: new for old, new in names.items() if old != new}
        self.gone |= changed.keys()
        self.users += Counter({new: self.users[old] for old, new in changed.items()})
        return renamed(block, changed) if changed else block

    def _is_of(self, block: Block, name: str, users: Counter[str]) -> bool:
        """Whether a large array is used in this block only, and carries no value from trip to trip."""
        if name in self.arguments or users[name] != self.users[name]:
            return False
        return known_bytes(self.program.buffers[name]) > cpu().local_bytes and is_privatisable(block, name)

    def _kind(self, name: str) -> Hashable:
        buffer = self.program.buffers[name]
        return buffer.shape, buffer.dtype


def _spans(block: Block) -> dict[str, tuple[int, int]]:
    """The first and the last statement that mentions a buffer, in order."""
    found: dict[str, tuple[int, int]] = {}
    for position, statement in enumerate(block):
        for name in sorted(statement.mentioned):
            found[name] = (found.get(name, (position,))[0], position)
    return found
