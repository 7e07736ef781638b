"""Factoring out of matrix products (distributive law): ``y += a @ x; y += b @ x`` becomes ``y += (a + b) @ x``.

The adjoint of ``x @ x.T``, among others, has two such products, of a matrix and of its transpose.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

from sdfgad.dependence.order import commute
from sdfgad.ir.expr import Expr, Lin, Op, Read, reads, rewrite, symbols_of
from sdfgad.ir.program import Access, Block, Buffer, Compute, Params, Program
from sdfgad.optimise.blocks import everywhere
from sdfgad.optimise.names import names_of, renamed
from sdfgad.optimise.sizes import known_bytes, largest
from sdfgad.schedule.products import matrix_product_of
from sdfgad.schedule.target import cpu

# So few multiplications for each element of a further matrix are not worth it.
REUSE = 16
# A product has two parameters for rows and columns and one for the sum; those of more are not tried.
PARAMS = 4


def add_factors(program: Program) -> Program:
    """The program in which two matrix products that have a factor in common are one."""
    adding = _Adding(dict(program.buffers), program)
    body = everywhere(program.body, adding.block)
    return replace(program, body=body, buffers=adding.buffers)


class _Adding:
    def __init__(self, buffers: dict[str, Buffer], program: Program) -> None:
        self.buffers, self.names = buffers, names_of(program)
        self.limit = largest(buffers)

    def block(self, block: Block) -> Block:
        for position, second in enumerate(block):
            if isinstance(second, Compute) and not second.fresh and self.is_large(second):
                merged = self.merged(block[:position], second)
                if merged is not None:
                    return self.block((*merged, *block[position + 1 :]))
        return block

    def is_large(self, statement: Compute) -> bool:
        product = matrix_product_of(statement, self.buffers) if len(statement.params) <= PARAMS else None
        return product is not None and product.work >= cpu().matrix_work

    def merged(self, before: Block, second: Compute) -> Block | None:
        """The statements before the second product, with the sum of both products in the place of the first one."""
        for position in reversed(range(len(before))):
            first = before[position]
            if isinstance(first, Compute) and second.target.buffer in first.mentioned:
                together = self.together(first, second)
                return None if together is None else (*before[:position], *together, *before[position + 1 :])
            if not commute(first, second):
                return None
        return None

    def together(self, first: Compute, second: Compute) -> Block | None:
        """The sum of the factors that differ, and the product of this sum with the common factor."""
        if first.target.buffer != second.target.buffer or not self.is_large(first):
            return None
        if len(first.params) != len(second.params):
            return None
        for names in permutations([name for name, _ in first.params]):
            factors = _different(first, renamed(second, names))
            if factors is not None:
                return self.with_sum(first, *factors)
        return None

    def with_sum(self, first: Compute, mine: Read, other: Read) -> Block | None:
        own = _params_of(mine, first)
        points, work = (math.prod(e.const for _, e in params) for params in (own, first.params))
        shape = tuple(extent for _, extent in own)
        matrix = Buffer(self.names.fresh(f"{mine.buffer}_sum"), shape, mine.dtype)
        if own != _params_of(other, first) or work < REUSE * points or known_bytes(matrix) > self.limit:
            return None
        element = Access(matrix.name, tuple(Lin.symbol(name) for name, _ in own))
        sum_ = Compute(own, element, Op("add", (mine, other), mine.dtype), where=first.where)
        swap: dict[Expr, Expr] = {mine: element.read(mine.dtype)}
        product = replace(first, value=rewrite(first.value, replace=swap.get))
        if matrix_product_of(product, {**self.buffers, matrix.name: matrix}) is None:
            return None
        self.buffers[matrix.name] = matrix
        return (sum_, product)


def _params_of(read: Read, statement: Compute) -> Params:
    names = symbols_of(read)
    return tuple((name, extent) for name, extent in statement.params if name in names)


def _different(first: Compute, second: Compute) -> tuple[Read, Read] | None:
    """The one factor in which two products over the same points differ, in each of them."""
    if first.target != second.target or dict(first.params) != dict(second.params):
        return None
    if not all(extent.is_const for _, extent in first.params):
        return None
    mine, others = reads(first.value), reads(second.value)
    alone = [read for read in mine if read not in others]
    instead = [read for read in others if read not in mine]
    if len(alone) != 1 or len(instead) != 1 or alone[0].dtype != instead[0].dtype:
        return None
    if alone[0].children or instead[0].children:
        return None
    swap: dict[Expr, Expr] = {instead[0]: alone[0]}
    return (alone[0], instead[0]) if rewrite(second.value, replace=swap.get) is first.value else None
