"""Loops that make products element by element become statements that make all: before the program is differentiated.

``for j: t[j] = 0; for p: t[j] += a[i, p] * b[p, j]`` is ``for j: t[j] = 0`` and ``for j, p: t[j] += a[i, p] * b[p, j]``
where no trip touches what another one does: a product that BLAS does, and so are its adjoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

from sdfgad.ir.accesses import are_apart, conflict, is_same_trip, uses_of
from sdfgad.ir.expr import Int, symbols_of
from sdfgad.ir.program import Block, Buffer, Compute, Loop, Params, Program, Statement
from sdfgad.lowering.blas import product_of
from sdfgad.optimize.blocks import everywhere
from sdfgad.optimize.trips import is_counted


def spread_loops(program: Program) -> Program:
    """The program with such statements instead of such loops."""
    return program.with_body(everywhere(program.body, _Spreading(program.buffers).block))


@dataclass(frozen=True)
class _Spreading:
    buffers: Mapping[str, Buffer]

    def block(self, block: Block) -> Block:
        return tuple(part for statement in block for part in self.statement(statement))

    def statement(self, statement: Statement) -> Block:
        """The statements of a loop for all its trips, or the statement itself."""
        if not isinstance(statement, Loop) or not is_counted(statement):
            return (statement,)
        computes = [part for part in statement.body if isinstance(part, Compute)]
        if len(computes) < len(statement.body) or not all(_is_box(statement, part) for part in computes):
            return (statement,)
        spread = tuple(_spread(statement, part) for part in computes)
        is_product = any(product_of(part, self.buffers) is not None for part in spread)
        return spread if is_product and _are_alone(statement) else (statement,)


def _is_box(loop: Loop, statement: Compute) -> bool:
    return loop.var not in symbols_of(*(Int(extent) for _, extent in statement.params))


def _are_alone(loop: Loop) -> bool:
    """Whether all trips touch elements that no other trip changes."""
    pairs = combinations_with_replacement(uses_of(loop), 2)
    return all(not conflict(x, y) or is_same_trip(x, y, loop.var, loop.var) or are_apart(x, y) for x, y in pairs)


def _spread(loop: Loop, statement: Compute) -> Compute:
    """A statement for all trips, with parameters in the order of the axes of what it writes."""
    params: Params = ((loop.var, loop.trips), *statement.params)
    axes = {name: axis for axis, lin in enumerate(statement.target.index) for name in symbols_of(Int(lin))}
    ordered = sorted(params, key=lambda param: axes.get(param[0], len(axes)))
    return replace(statement, params=tuple(ordered))
