"""Loop-invariant code motion (LICM) of expensive scalar values: the power in ``A += z**s * H`` is computed once.

The C++ compiler does so only for functions that it knows; those of complex numbers are not among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sdfgad.ir.expr import Expr, Op, postorder, reads, rewrite, symbols_of
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    written,
)
from sdfgad.optimise.blocks import flat_map, flat_map_inside
from sdfgad.optimise.names import names_of
from sdfgad.schedule.work import is_small_power


def hoist(program: Program) -> Program:
    """The program with such values in scalars, computed before the loops."""
    hoisting = _Hoisting(program)
    body = flat_map(program.body, hoisting.statement)
    return replace(program, body=body, buffers={**program.buffers, **hoisting.made}) if hoisting.made else program


class _Hoisting:
    def __init__(self, program: Program) -> None:
        self.buffers, self.names = program.buffers, names_of(program)
        self.made: dict[str, Buffer] = {}

    def statement(self, statement: Statement) -> Block:
        """A statement, preceded by the invariant values that it needs."""
        if isinstance(statement, Compute):
            names = {name for name, _ in statement.params}
            return self.split(statement, names, {statement.target.buffer}) if names else (statement,)
        return self.loop(statement) if isinstance(statement, Loop) else (flat_map_inside(statement, self.statement),)

    def loop(self, loop: Loop) -> Block:
        """A loop, preceded by the invariant values of its body."""
        body, changed = flat_map(loop.body, self.statement), written(loop.body)
        before: list[Statement] = []
        inside: list[Statement] = []
        for statement in body:
            if not isinstance(statement, Compute) or statement.params:
                inside.append(statement)
            elif statement.target.buffer in self.made and self.stays(statement.value, {loop.var}, changed):
                before.append(statement)
            elif statement.target.buffer in self.made:
                inside.append(statement)
            else:
                *first, rest = self.split(statement, {loop.var}, changed)
                before += first
                inside.append(rest)
        return (*before, replace(loop, body=tuple(inside)))

    def split(self, statement: Compute, names: set[str], changed: set[str]) -> Block:
        """A statement that reads its invariant expensive values from scalars, preceded by the computation of these."""
        found = list(dict.fromkeys(self.expensive((statement.value,), names, changed)))
        if not found:
            return (statement,)
        known = {value: self.scalar(value) for value in found}
        computed = [Compute((), target, value, where=statement.where) for value, target in known.items()]
        value = rewrite(statement.value, replace=lambda node: known[node].read(node.dtype) if node in known else None)
        return (*computed, replace(statement, value=value))

    def expensive(self, nodes: Iterable[Expr], names: set[str], changed: set[str]) -> Iterable[Expr]:
        """The largest invariant expressions that contain an expensive operation."""
        for node in nodes:
            if not any(map(_is_expensive, postorder(node))):
                continue
            if self.stays(node, names, changed):
                yield node
            elif isinstance(node, Op):
                yield from self.expensive(node.args, names, changed)

    def stays(self, node: Expr, names: set[str], changed: set[str]) -> bool:
        """Whether an expression is invariant: made of scalars and symbols that do not change."""
        fixed = all(not read.index and read.buffer not in changed for read in reads(node))
        return fixed and names.isdisjoint(symbols_of(node))

    def scalar(self, value: Expr) -> Access:
        buffer = Buffer(self.names.fresh("fixed"), (), value.dtype)
        self.made[buffer.name] = buffer
        return Access(buffer.name)


def _is_expensive(node: Expr) -> bool:
    """Whether a value is worth a scalar of its own: that of a function or a root is, a quotient is not."""
    if not isinstance(node, Op) or node.name == "divide" or is_small_power(node):
        return False
    return OPERATIONS[node.name].is_expensive
