"""Reduction recognition with loop distribution: loops that sum products become one sum over all trips for each product.

``for k: for p: c[i, p] += a[p, k] * b[i, k] + b[p, k] * a[i, k]`` becomes ``for p, k: c[i, p] += a[p, k] * b[i, k]``
and the same with the other product. BLAS can do each of them, and their adjoints, too, as no loop holds several sums
together any more: this runs before differentiation. The terms stay the same, in another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sdfgad.ir.expr import Expr, Op, symbols_in
from sdfgad.ir.program import Block, Buffer, Compute, Loop, Program, Statement, transform
from sdfgad.optimise.products.trips import as_addition, is_counted
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
        summed = as_addition(inner) if isinstance(inner, Compute) else None
        if summed is None:
            return
        lins = (*summed.target.index, *(extent for _, extent in summed.params))
        if loop.var in symbols_in(lins):
            return
        terms = list(_terms(summed.value))
        # What little is left of a trip's difference would be lost in sums that are large.
        if len(set(map(_is_negative, terms))) > 1:
            return
        for term in terms:
            yield replace(summed, params=(*summed.params, (loop.var, loop.trips)), value=term)

    def is_product(self, statement: Compute) -> bool:
        return product_of(statement, self.buffers) is not None


def _terms(value: Expr) -> Iterator[Expr]:
    """What is added up."""
    if isinstance(value, Op) and value.name in ("add", "subtract"):
        left, right = value.args
        yield from _terms(left)
        yield from _terms(right if value.name == "add" else Op("negative", (right,), value.dtype))
    elif isinstance(value, Op) and value.name == "negative":
        yield from _negatives(value.args[0])
    else:
        yield value


def _is_negative(value: Expr) -> bool:
    """Whether a product has an odd number of signs."""
    signed = isinstance(value, Op) and value.name in ("negative", "multiply")
    inner = sum(map(_is_negative, value.args)) if isinstance(value, Op) and signed else 0
    return (inner + (isinstance(value, Op) and value.name == "negative")) % 2 == 1


def _negatives(value: Expr) -> Iterator[Expr]:
    yield from (Op("negative", (term,), value.dtype) for term in _terms(value))
