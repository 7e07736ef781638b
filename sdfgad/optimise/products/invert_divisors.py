"""Strength reduction of divisions in sums: what all terms are divided by is inverted once.

``for p: h_bar += (t[p] / h) * (x[p] / h)`` is ``r = 1 / h; for p: h_bar += (t[p] * r) * (x[p] * r)``: one division
instead of two for each point. Adjoints are full of them, with respect to step sizes, masses, and other numbers that
whole arrays are divided by. The sum itself is not divided: a product of what has not been divided yet may be out of the
range of numbers, as where a norm is scaled so that its squares are not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Const, Expr, Lin, Op, reads, symbols_of
from sdfgad.ir.program import Access, Block, Buffer, Compute, Program, Statement, transform
from sdfgad.optimise.names import names_of
from sdfgad.rules.algebra import div, mul

# The inverse of a smaller number, such as 1e-40 in single precision, is out of range sooner.
RANGE = np.dtype(np.float64)


def invert_divisors(program: Program) -> Program:
    """The program in which such sums divide once."""
    inverting = _Inverting(program)
    body = transform(program.body, inverting.statement)
    return replace(program, body=body, buffers=inverting.buffers) if body != program.body else program


class _Inverting:
    def __init__(self, program: Program) -> None:
        self.names, self.buffers = names_of(program), dict(program.buffers)

    def statement(self, statement: Statement) -> Block:
        if not isinstance(statement, Compute) or statement.accumulate != "add" or statement.value.dtype != RANGE:
            return (statement,)
        own = own_params(statement)
        summed = {name for name, _ in statement.params} - {name for name, _ in own}
        if not summed or any(read.buffer == statement.target.buffer for read in reads(statement.value)):
            return (statement,)
        inverses = {divisor: self.inverse(statement, divisor) for divisor in _divisors(statement.value, summed)}
        known = {divisor: one.target.read(RANGE) for divisor, one in inverses.items()}
        return *inverses.values(), replace(statement, value=_multiplied(statement.value, known))

    def inverse(self, statement: Compute, divisor: Expr) -> Compute:
        """The inverses of a divisor, in a buffer of their own."""
        own = own_params(statement)
        buffer = Buffer(self.names.fresh("inverse"), tuple(extent for _, extent in own), RANGE)
        self.buffers[buffer.name] = buffer
        target = Access(buffer.name, tuple(Lin.symbol(name) for name, _ in own))
        return Compute(own, target, div(Const(1.0, RANGE), divisor), where=statement.where)


def _divisors(node: Expr, summed: Collection[str]) -> dict[Expr, None]:
    """What is the same for all points of a sum, of what factors of its terms are divided by."""
    found = dict[Expr, None]()
    for factor in _factors(node):
        found |= _divisors(factor, summed)
    if isinstance(node, Op) and node.name == "divide" and node.dtype == RANGE:
        divisor = node.args[1]
        found |= {divisor: None} if symbols_of(divisor).isdisjoint(summed) else {}
    return found


def _multiplied(node: Expr, inverses: Mapping[Expr, Expr]) -> Expr:
    """The value with products by inverses in place of such quotients."""
    factors = _factors(node)
    if not factors or not inverses:
        return node
    assert isinstance(node, Op)
    made = {factor: _multiplied(factor, inverses) for factor in factors}
    args = tuple(made.get(arg, arg) for arg in node.args)
    if node.name == "divide" and node.args[1] in inverses:
        return mul(args[0], inverses[node.args[1]])
    return Op(node.name, args, node.dtype)


def _factors(node: Expr) -> tuple[Expr, ...]:
    """The operands in which such quotients are looked for: those of products, signs, and strong zeros."""
    if not isinstance(node, Op) or node.dtype.kind != "f":
        return ()
    if node.name in ("multiply", "negative"):
        return node.args
    if node.name == "divide":
        return node.args[:1]
    return node.args[2:] if node.name == "select" else ()
