"""Factoring out (distributive law): ``x += a * c; x += b * c`` becomes ``x += (a + b) * c``.

The adjoint of a stencil adds to every point one product for each neighbour, mostly all with the same factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdfgad.ir.accesses import commute
from sdfgad.ir.expr import Expr, Op
from sdfgad.ir.program import Block, Compute, Program, Statement, reads_of
from sdfgad.optimise.blocks import everywhere
from sdfgad.rules.algebra import add, mul, neg


def collect(program: Program) -> Program:
    """The program in which contributions to one element that have a factor in common are one contribution."""
    return program.with_body(everywhere(program.body, _block))


def _block(block: Block) -> Block:
    result: list[Statement] = []
    for statement in block:
        found = _before(result, statement) if isinstance(statement, Compute) and _adds(statement) else None
        if found is None:
            result.append(statement)
        else:
            place, made = found
            result[place] = made
    return tuple(result)


def _adds(statement: Compute) -> bool:
    """Whether a statement adds to one element without reading it otherwise."""
    if statement.params or statement.fresh or statement.accumulate != "add":
        return False
    return all(read.buffer != statement.target.buffer for read in reads_of(statement))


def _before(block: Sequence[Statement], second: Compute) -> tuple[int, Compute] | None:
    """The position of an earlier contribution with a factor in common, and both contributions as one."""
    for place in reversed(range(len(block))):
        first = block[place]
        made = _together(first, second) if isinstance(first, Compute) else None
        if made is not None:
            return place, made
        if not commute(first, second):
            return None
    return None


def _together(first: Compute, second: Compute) -> Compute | None:
    if first.params or first.target != second.target or first.accumulate not in (None, "add"):
        return None
    mine = {factor: rest for rest, factor in _products(first.value)}
    for rest, factor in _products(second.value):
        if factor in mine:
            return replace(first, value=mul(add(mine[factor], rest), factor))
    return None


def _products(value: Expr) -> list[tuple[Expr, Expr]]:
    """All ways to write the value as a product of two: the rest, and the factor."""
    if not isinstance(value, Op) or value.dtype.kind not in "fc":
        return []
    if value.name == "negative":
        return [(neg(rest), factor) for rest, factor in _products(value.args[0])]
    if value.name != "multiply" or any(arg.dtype != value.dtype for arg in value.args):
        return []
    a, b = value.args
    return [(a, b), (b, a)]
