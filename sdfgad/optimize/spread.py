"""Takes loops over places apart, where what each place multiplies becomes one larger product.

``for i: for j: t[n, i, j, c] = sum of x[n, i + p, j + q] * w[p, q, c]; …`` multiplies small matrices, one pair at each
place. As statements of their own, over all places, such sums are products of few large matrices: at once where the
places are rows of a matrix, or once `unfold` has copied the windows. What else the loops do becomes statements of its
own, too. Trips meet in sums only, so that they may run in any order.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.accesses import conflict, is_same_trip
from sdfgad.ir.expr import rewrite
from sdfgad.ir.linear import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Compute, Loop, Params, Program, Statement, reads_of
from sdfgad.lowering.blas import product_of
from sdfgad.lowering.independent import uses_by_buffer
from sdfgad.optimize.blocks import with_blocks
from sdfgad.optimize.names import names_of
from sdfgad.optimize.trips import is_counted
from sdfgad.optimize.unfold import Windows

# How many times as large a call must become, and as one of how many multiplications smaller ones count.
GAIN, LEAST = 4, 256


def spread(program: Program) -> Program:
    """The program with such statements over all places."""
    spreading = _Spread(program, names_of(program))
    return program.with_body(spreading.block(program.body))


class _Spread:
    def __init__(self, program: Program, names: Names) -> None:
        self.buffers, self.names = program.buffers, names

    def block(self, block: Block) -> Block:
        return tuple(part for statement in block for part in self.statement(statement))

    def statement(self, statement: Statement) -> Block:
        if isinstance(statement, Loop):
            found = _places(statement)
            if found is not None:
                moved = tuple(self.over(one, found[0]) for one in found[1])
                return moved if self.is_worth(found[1], moved) else (statement,)
        return (with_blocks(statement, self.block),)

    def over(self, statement: Compute, places: Params) -> Compute:
        """A statement at all places."""
        names = {old: self.names.fresh(old) for old, _ in places}
        symbols = {old: Lin.symbol(new) for old, new in names.items()}
        target = Access(statement.target.buffer, tuple(lin.substitute(symbols) for lin in statement.target.index))
        params = (*((names[old], extent) for old, extent in places), *statement.params)
        return replace(statement, params=params, target=target, value=rewrite(statement.value, symbols))

    def is_worth(self, before: Block, after: tuple[Compute, ...]) -> bool:
        """Whether there are products, and all of them get much larger."""
        works = [(self.work(one), self.larger(moved)) for one, moved in zip(before, after, strict=True)]
        products = [(one, larger) for one, larger in works if one or larger]
        return bool(products) and all(larger >= GAIN * max(one, LEAST) for one, larger in products)

    def work(self, statement: Statement) -> int:
        """The multiplications of a call that does a product of matrices; 0 if the statement is no such product."""
        product = product_of(statement, self.buffers) if isinstance(statement, Compute) else None
        return product.work if product is not None and product.n else 0

    def larger(self, moved: Compute) -> int:
        """The same for all places; windows are copied first."""
        windows = Windows.of(moved, self.buffers)
        return self.work(moved) if windows is None else windows.work(self.buffers)


def _places(loop: Loop) -> tuple[Params, tuple[Compute, ...]] | None:
    """The counters of loops that are right within one another, and what is in them, if trips may run in any order."""
    places: list[tuple[str, Lin]] = []
    while True:
        if not is_counted(loop) or not _is_independent(loop):
            return None
        places.append((loop.var, loop.trips))
        if len(loop.body) != 1 or not isinstance(loop.body[0], Loop):
            break
        loop = loop.body[0]
    body = tuple(s for s in loop.body if isinstance(s, Compute) and all(extent.is_const for _, extent in s.params))
    return (tuple(places), body) if len(body) == len(loop.body) else None


def _is_independent(loop: Loop) -> bool:
    """Whether trips meet in sums only; statements that meet within a trip keep their order."""
    if reads_of(loop):
        return False
    return all(
        is_same_trip(a, b, loop.var, loop.var)
        for uses in uses_by_buffer(loop).values()
        for a in uses
        for b in uses
        if conflict(a, b)
    )
