"""Loop unrolling: writes out sums of few terms.

``for p, k < 2: y[p] = sum of a[p, k] * x[k]`` becomes ``for p: y[p] = a[p, 0] * x[0] + a[p, 1] * x[1]``, which can be
vectorised along `p` and fused with other statements; a loop over `k`, or a call of BLAS, would be too short.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import product
from math import prod

from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Expr, Lin, Op, postorder, rewrite
from sdfgad.ir.program import Block, Compute, Params, Program, Statement, transform

# Sums of more terms stay loops; so do those that would become longer than this, in operations.
TERMS = 4
SIZE = 64


def unroll(program: Program) -> Program:
    """The program with such sums written out."""
    return program.with_body(transform(program.body, _unrolled))


def _unrolled(statement: Statement) -> Block:
    summed = _summed(statement) if isinstance(statement, Compute) else ()
    return (_written_out(statement, summed),) if summed and isinstance(statement, Compute) else (statement,)


def _written_out(statement: Compute, summed: Params) -> Compute:
    value = reduce(lambda a, b: Op("add", (a, b), a.dtype), _terms(statement.value, summed))
    names = {name for name, _ in summed}
    params = tuple(item for item in statement.params if item[0] not in names)
    accumulate = None if statement.fresh else statement.accumulate
    return replace(statement, params=params, value=value, accumulate=accumulate, fresh=False)


def _points(params: Params) -> Iterator[dict[str, Lin]]:
    for point in product(*(range(extent.const) for _, extent in params)):
        yield {name: Lin(at) for (name, _), at in zip(params, point, strict=True)}


def _summed(statement: Compute) -> Params:
    """The parameters of a sum that is to be written out."""
    if statement.accumulate != "add" or statement.value.dtype.kind not in "fc":
        return ()
    own = own_params(statement)
    summed = tuple(item for item in statement.params if item not in own)
    known = all(extent.is_const and extent.const > 0 for _, extent in summed)
    count = prod(extent.const for _, extent in summed) if known else 0
    is_short = 0 < count <= TERMS and count * sum(1 for _ in postorder(statement.value)) <= SIZE
    return summed if is_short else ()


def _terms(value: Expr, summed: Params) -> Iterator[Expr]:
    """The value at each point of the box that is summed over."""
    return (rewrite(value, point) for point in _points(summed))
