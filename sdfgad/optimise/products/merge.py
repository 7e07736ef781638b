"""Forward substitution of outer products: a matrix is filled with one where something is added to it, not earlier.

``A[p, q] = u[p] * v[q]; …; A[p, q] += e`` becomes ``…; A[p, q] = u[p] * v[q] + e``: a matrix larger than the cache is
written once instead of written, read and written again; if only statements fused with this one read it, `contract` can
remove it from memory altogether.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.dependence.regions import is_same_region
from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Lin, Op, reads, rewrite
from sdfgad.ir.program import Block, Compute, Program, Statement, written
from sdfgad.optimise.blocks import everywhere
from sdfgad.optimise.products.inline import are_few_factors
from sdfgad.schedule.products import matrix_product_of


def merge_products(program: Program) -> Program:
    """The program in which outer products are merged into the statements that add to them."""
    return program.with_body(everywhere(program.body, _Merging(program).block))


class _Merging:
    def __init__(self, program: Program) -> None:
        self.buffers = program.buffers

    def block(self, block: Block) -> Block:
        result: list[Statement] = []
        # Last first: what follows has its final form.
        for statement in reversed(block):
            merged = self.merged(statement, result) if isinstance(statement, Compute) else None
            result = [statement, *result] if merged is None else merged
        return tuple(result)

    def merged(self, made: Compute, rest: list[Statement]) -> list[Statement] | None:
        """The statements `rest` with the product merged into the first one that mentions its target, or None."""
        if not _is_outer_product(made):
            return None
        name = made.target.buffer
        position = next((k for k, s in enumerate(rest) if name in s.mentioned), None)
        user = rest[position] if position is not None else None
        if position is None or not isinstance(user, Compute) or not self.takes(made, user):
            return None
        if written(tuple(rest[:position])) & {read.buffer for read in reads(made.value)}:
            return None
        return [*rest[:position], _sum(made, user), *rest[position + 1 :]]

    def takes(self, made: Compute, user: Compute) -> bool:
        """Whether a statement adds once to each element of a matrix, and is not a matrix product, which BLAS does."""
        is_sum = user.target.buffer == made.target.buffer and user.accumulate == "add" and not user.fresh
        if not is_sum or not is_same_region(made, user):
            return False
        is_plain = len(own_params(user)) == len(user.params) == len(user.target.index)
        names = {read.buffer for read in reads(user.value)}
        return is_plain and user.target.buffer not in names and matrix_product_of(user, self.buffers) is None


def _is_outer_product(made: Compute) -> bool:
    """Whether a statement fills a part of a matrix with a product of few elements of smaller arrays."""
    rank = len(made.target.index)
    if rank < 2 or made.accumulate or made.value.dtype.kind not in "fc" or not are_few_factors(made.value):
        return False
    # Parameters alone, so that those of what adds can take their places.
    is_box = made.target.index == tuple(Lin.symbol(name) for name, _ in own_params(made))
    found = reads(made.value)
    return is_box and len(own_params(made)) == len(made.params) and all(len(r.index) < rank for r in found)


def _sum(made: Compute, user: Compute) -> Compute:
    names = {str(old): new for old, new in zip(made.target.index, user.target.index, strict=True)}
    value = Op("add", (rewrite(made.value, names), user.value), user.value.dtype)
    return replace(user, value=value, accumulate=None)
