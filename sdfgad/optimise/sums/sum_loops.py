"""Reduction recognition with loop distribution: loops that sum products become one sum over all trips for each product.

``for k: for p: c[i, p] += a[p, k] * b[i, k] + b[p, k] * a[i, k]`` becomes ``for p, k: c[i, p] += a[p, k] * b[i, k]``
and the same with the other product. BLAS can do each of them, and their adjoints, too, as no loop holds several sums
together any more: this runs before differentiation. The terms stay the same, in another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sdfgad.ir.expr import symbols_in
from sdfgad.ir.program import Block, Buffer, Compute, Loop, Program, Statement, transform
from sdfgad.optimise.sums.terms import as_sum, is_counted, is_negative, terms
from sdfgad.schedule.products import product_of


def sum_loops(program: Program) -> Program:
    """The program with such loops as sums."""
    return program.with_body(transform(program.body, _Summing(program.buffers).statement))


@dataclass(frozen=True)
class _Summing:
    buffers: Mapping[str, Buffer]

    def statement(self, statement: Statement) -> Block:
        """The sums that a loop computes, or the loop itself."""
        if not isinstance(statement, Loop) or not is_counted(statement) or len(statement.body) != 1:
            return (statement,)
        sums = tuple(self.sums(statement, *statement.body))
        return sums if sums and all(map(self.is_product, sums)) else (statement,)

    def sums(self, loop: Loop, inner: Statement) -> Iterator[Compute]:
        """The sums over a loop's trips of each of the terms that a statement adds."""
        summed = as_sum(inner) if isinstance(inner, Compute) and not inner.fresh else None
        if summed is None:
            return
        lins = (*summed.target.index, *(extent for _, extent in summed.params))
        if loop.var in symbols_in(lins):
            return
        found = list(terms(summed.value))
        # What little is left of a trip's difference would be lost in sums that are large.
        if len(set(map(is_negative, found))) > 1:
            return
        for term in found:
            yield replace(summed, params=(*summed.params, (loop.var, loop.trips)), value=term)

    def is_product(self, statement: Compute) -> bool:
        return product_of(statement, self.buffers) is not None
