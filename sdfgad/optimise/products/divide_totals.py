"""Distributive law on sums of quotients: what all terms are divided by divides the sum.

``for p: h_bar += (t[p] / h) * (x[p] / h)`` is ``s = sum of t[p] * x[p]; h_bar += s / h / h``: two divisions instead of
two for each point. Adjoints are full of them, with respect to step sizes, masses, and other numbers that whole arrays
are divided by; where the terms have strong zeros, the sum has one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Expr, Lin, Op, reads, symbols_of
from sdfgad.ir.program import Access, Block, Buffer, Compute, Program, Statement, transform
from sdfgad.optimise.names import names_of
from sdfgad.rules.algebra import div, is_const, mul, neg, select, strong

# Products of what has not been divided yet are out of the range of smaller numbers sooner.
RANGE = np.dtype(np.float64)
Step = Callable[[Expr], Expr]


def divide_totals(program: Program) -> Program:
    """The program in which such sums are divided once."""
    dividing = _Dividing(program)
    body = transform(program.body, dividing.statement)
    return replace(program, body=body, buffers=dividing.buffers) if body != program.body else program


@dataclass(frozen=True)
class _Pulled:
    """A value as ``steps`` that are the same for all points of a sum, the first one first, on a `core` that is not.

    Attributes:
        divides: whether one of the steps is a division.
        is_strong: whether the value is zero where some factor of the core is, whatever the steps are.
    """

    core: Expr
    steps: tuple[Step, ...] = ()
    divides: bool = False
    is_strong: bool = False

    def then(self, step: Step, divides: bool = False) -> _Pulled:
        return replace(self, steps=(*self.steps, step), divides=self.divides or divides)

    def on(self, total: Expr) -> Expr:
        """The value, of a sum of the core."""
        made = reduce(lambda value, step: step(value), self.steps, total)
        return strong(total, made) if self.is_strong else made


class _Dividing:
    def __init__(self, program: Program) -> None:
        self.names, self.buffers = names_of(program), dict(program.buffers)

    def statement(self, statement: Statement) -> Block:
        if not isinstance(statement, Compute) or statement.accumulate != "add":
            return (statement,)
        if statement.value.dtype != RANGE:
            return (statement,)
        own = own_params(statement)
        summed = {name for name, _ in statement.params} - {name for name, _ in own}
        is_own = any(read.buffer == statement.target.buffer for read in reads(statement.value))
        # A sum of nothing is zero, whatever its terms would be divided by.
        has_terms = all(extent.is_const and extent.const > 0 for _, extent in statement.params)
        if not summed or is_own or not has_terms:
            return (statement,)
        pulled = _pulled(statement.value, summed)
        return self.parts(statement, pulled) if pulled.divides else (statement,)

    def parts(self, statement: Compute, pulled: _Pulled) -> Block:
        """The sum of the core in a buffer of its own, and what becomes of it."""
        own = own_params(statement)
        buffer = Buffer(self.names.fresh("total"), tuple(extent for _, extent in own), statement.value.dtype)
        self.buffers[buffer.name] = buffer
        target = Access(buffer.name, tuple(Lin.symbol(name) for name, _ in own))
        total = replace(statement, target=target, value=pulled.core, fresh=True)
        value, kind = pulled.on(target.read(buffer.dtype)), None if statement.fresh else statement.accumulate
        return total, replace(statement, params=own, value=value, accumulate=kind, fresh=False)


def _pulled(node: Expr, summed: Collection[str]) -> _Pulled:
    if not isinstance(node, Op) or node.dtype.kind != "f":
        return _Pulled(node)
    if node.name == "multiply":
        return _of_product(node, summed)
    if node.name == "negative":
        return _pulled(node.args[0], summed).then(neg)
    if node.name == "divide":
        dividend, divisor = node.args
        pulled = _pulled(dividend, summed)
        if symbols_of(divisor).isdisjoint(summed):
            return pulled.then(partial(_over, divisor), divides=True)
        return replace(pulled, core=div(pulled.core, divisor))
    return _of_strong_zero(node, summed)


def _over(divisor: Expr, dividend: Expr) -> Expr:
    return div(dividend, divisor)


def _of_product(node: Op, summed: Collection[str]) -> _Pulled:
    a, b = node.args
    for factor, other in ((a, b), (b, a)):
        if symbols_of(factor).isdisjoint(summed):
            return _pulled(other, summed).then(partial(mul, factor))
    first, second = _pulled(a, summed), _pulled(b, summed)
    is_strong = first.is_strong or second.is_strong
    core, steps = mul(first.core, second.core), first.steps + second.steps
    return _Pulled(core, steps, first.divides or second.divides, is_strong)


def _of_strong_zero(node: Op, summed: Collection[str]) -> _Pulled:
    """Of ``select(t == 0, 0, value)``, whose core is zero, too, where `t` is."""
    if node.name != "select" or not is_const(node.args[1], 0):
        return _Pulled(node)
    condition, zero, value = node.args
    pulled = _pulled(value, summed)
    if not pulled.steps or not (isinstance(condition, Op) and condition.name == "vanishes"):
        return _Pulled(node)
    core = pulled.core if pulled.core is condition.args[0] else select(condition, zero, pulled.core)
    return replace(pulled, core=core, is_strong=True)
