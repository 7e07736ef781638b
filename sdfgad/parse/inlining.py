"""Procedure inlining of compiled programs: the statements of one program become statements of another one.

Buffers and symbols get fresh names, arguments take the places of inputs, and loops that run backwards count forwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdfgad.ir.expr import Const, Expr, Lin
from sdfgad.ir.library import LIBRARY, require_silent
from sdfgad.ir.program import (
    FIRST_CHECK,
    Block,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    rewrite_statement,
    with_blocks,
)
from sdfgad.ir.rename import renamed
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.enclosed import Enclosed, enclosed_value
from sdfgad.parse.values import Tensor

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Inlining:
    """A program to inline.

    Attributes:
        program: it has no run-time integers.
        captured: input buffers of arrays from outside the function -> the arrays, also those of enclosing programs.
        lookups: what tells whether these and its constants are still the same ones, as in `Primal`.
    """

    program: Program
    captured: Mapping[str, Array | Enclosed]
    lookups: tuple[tuple[Callable[[], Any], Any], ...]


def inline(b: Builder, inlining: Inlining, inputs: Mapping[str, Tensor]) -> dict[str, str]:
    """Emits the program's statements; its buffers by the names that they have now.

    Args:
        inputs: input buffer -> the value of the builder's program to read there.
    """
    program = inlining.program
    require_silent(program.body, "a derivative within another program, of one")
    given = {**inputs, **captured_of(b, inlining)}
    names = {name: b.as_whole(tensor).buffer for name, tensor in given.items()}
    new = [buffer for name, buffer in program.buffers.items() if name not in names and name != STATUS]
    names |= {buffer.name: b.adopt(buffer, names.values()) for buffer in new}
    copy = _Copy(b, len(b.checks), len(program.checks))
    for statement in copy.block(renamed(program.body, names)):
        b.emit(statement)
    b.checks += program.checks
    if program.checks:
        b.buffers.setdefault(STATUS, program.buffers[STATUS])
    b.versions.count(*(buffer for name, buffer in names.items() if name not in given))
    return names


def captured_of(b: Builder, inlining: Inlining) -> dict[str, Tensor]:
    """The arrays from outside that a program reads, by its input buffers."""
    b.lookups += inlining.lookups
    return {name: _captured(b, name, one) for name, one in inlining.captured.items()}


def _captured(b: Builder, name: str, one: Array | Enclosed) -> Tensor:
    return enclosed_value(b, one) if isinstance(one, Enclosed) else b.capture(name, one, lambda: one)


class _Copy:
    """Copies of statements with fresh symbols, and with the codes of their checks after those of the builder."""

    def __init__(self, b: Builder, known: int, count: int) -> None:
        self.b, self.known = b, known
        self.codes = range(FIRST_CHECK - count, FIRST_CHECK)

    def block(self, block: Block, symbols: Mapping[str, Lin] | None = None) -> Block:
        copies = (self.statement(one, symbols or {}) for one in block if not _is_clear_of_status(one))
        return tuple(copies)

    def statement(self, statement: Statement, symbols: Mapping[str, Lin]) -> Statement:
        if isinstance(statement, Loop):
            return self.loop(statement, symbols)
        if isinstance(statement, Compute):
            return self.compute(statement, symbols)
        if isinstance(statement, Call) and LIBRARY[statement.name].pullback:
            first, *sizes = statement.sizes
            return replace(statement, sizes=(first + self.known, *sizes))
        return with_blocks(rewrite_statement(statement, symbols), lambda block: self.block(block, symbols))

    def loop(self, loop: Loop, symbols: Mapping[str, Lin]) -> Loop:
        """A loop under another counter, which counts forwards."""
        var = self.b.fresh(loop.var)
        outer = rewrite_statement(replace(loop, guards=()), symbols)
        counter = outer.trips - 1 - Lin.symbol(var) if loop.backward else Lin.symbol(var)
        inside = {**symbols, loop.var: counter}
        # The guards of an open loop say where it begins, which is the end of its mirror image.
        guards = tuple(dict.fromkeys((Lin.symbol(var) - outer.start, *rewrite_statement(loop, inside).guards)))
        return replace(outer, var=var, backward=False, guards=guards, body=self.block(loop.body, inside))

    def compute(self, statement: Compute, symbols: Mapping[str, Lin]) -> Compute:
        names = {name: self.b.fresh(name) for name, _ in statement.params}
        inside = {**symbols, **{old: Lin.symbol(new) for old, new in names.items()}}
        moved = rewrite_statement(statement, inside, self.shifted if statement.target.buffer == STATUS else None)
        return replace(moved, params=tuple((names[name], extent) for name, extent in moved.params))

    def shifted(self, node: Expr) -> Expr | None:
        """The code of a check, counted on from those of the builder."""
        is_code = isinstance(node, Const) and node.dtype.kind == "i" and int(node.value) in self.codes
        return Const(int(node.value) - self.known, node.dtype) if is_code else None  # type: ignore[attr-defined]


def _is_clear_of_status(statement: Statement) -> bool:
    """Whether a statement is the one that begins a program with checks."""
    return isinstance(statement, Compute) and statement.target.buffer == STATUS and statement.accumulate is None
