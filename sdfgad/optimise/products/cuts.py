"""Partitioning of triangular iteration spaces: rows of a loop's points are cut into rectangles and a few short rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from sdfgad.ir.expr import Expr, Lin, Op
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Compute, Loop, Statement, reindexed
from sdfgad.optimise.products.rows import Rows
from sdfgad.schedule.target import cpu

# The fewest rows that have a rectangle of their own, and the multiplications that it must be worth.
FEWEST = 6
# So few rows are written out.
WRITTEN_OUT = 8


@dataclass(frozen=True)
class Cuts:
    """A statement in a loop whose points in all trips form rows (a triangle, say), and ways to cut these.

    Attributes:
        cut_work: the multiplications that a rectangle must be worth, except for the largest ones.
    """

    rows: Rows
    statement: Compute
    names: Names
    cut_work: int = 0

    def whole(self) -> Compute:
        """One statement over the bounding rectangle of all rows."""
        low, high = self.rows.ends
        return self._rectangle(Lin(0), self.rows.trips, Lin(low), Lin(high - low))

    def hull(self) -> Block:
        """For each block of rows one statement over its bounding rectangle, which has more points than the rows."""
        size = self.rows.block
        count, rest = divmod(self.rows.trips, size)
        last = self._around(Lin(self.rows.trips - rest), rest) if rest else ()
        return (*self._repeated(count, lambda block: self._around(block.scaled(size), size)), *last)

    def exact(self) -> Block:
        """Statements over exactly the loop's points, which may run in any order.

        The columns that all rows of a large block have are one rectangle. The triangles beside it are cut in the same
        way, in blocks of half as many rows: nearly all points are in large rectangles, each of them one matrix product.
        """
        sizes, parts, row = self._sizes(), list[Statement](), 0
        for size in sizes:
            count = (self.rows.trips - row) // size
            parts += self._repeated(count, partial(self._block, first=row, n=size, fewest=sizes[-1]))
            row += count * size
        return (*parts, *self._rest(row, self.rows.trips - row))

    def _sizes(self) -> list[int]:
        """The numbers of rows in blocks that have columns in common, from the largest to the smallest one."""
        others = (extent for name, extent in self.statement.params if name != self.rows.param)
        each = math.prod(extent.const for extent in others if extent.is_const)
        size, found = FEWEST, list[int]()
        while size * size * each < cpu().call_work:
            size *= 2
        while size * size * each < self.cut_work and 4 * size <= self.rows.trips:
            size *= 2
        while size <= self.rows.trips and self.rows.have_common(size):
            found.append(size)
            size *= 2
        return found[::-1]

    # --- blocks

    def _around(self, row: Lin, n: int) -> Block:
        """All columns that any of `n` rows has."""
        start, _, _, end = self.rows.spread(row, n)
        return (self._rectangle(row, n, start, end - start),)

    def _block(self, block: Lin, first: int, n: int, fewest: int) -> Block:
        """The rectangle of the columns that all of `n` rows have, then those that only half of them have, and so on."""
        row = block.scaled(n) + first
        parts: list[Statement] = [self._rectangle(row, n, *self.rows.common(row, n))]
        half = n // 2
        while half >= fewest:
            parts += self._repeated(n // half // 2, partial(self._halves, row, half))
            half //= 2
        return (*parts, *self._repeated(n // fewest, lambda k: self._rims(row + k.scaled(fewest), fewest)))

    def _rest(self, first: int, n: int) -> Block:
        """The last rows, too few for blocks of two halves."""
        if n and self.rows.common(Lin(first), n)[1].const >= 0:
            return self._block(Lin(0), first, n, n)
        return self._repeated(n, lambda k: self._row(k + first))

    def _halves(self, start: Lin, n: int, pair: Lin) -> Block:
        """The columns that the first or the second `n` rows of a pair have in common, but not both of them."""
        row = start + pair.scaled(2 * n)
        parts = list[Statement]()
        for half in (row, row + n):
            (low, length), (inner, width) = self.rows.common(half, n), self.rows.common(row, 2 * n)
            for first, after in ((low, inner), (inner + width, low + length)):
                if after != first:
                    parts.append(self._rectangle(half, n, first, after - first))
        return tuple(parts)

    def _rims(self, row: Lin, n: int) -> Block:
        """Row by row, the columns that not all of `n` rows have."""
        start, length = self.rows.common(row, n)

        def one(k: Lin) -> Block:
            low, high = self.rows.columns(row + k)
            sides = ((low, start), (start + length, high))
            return tuple(self._part(row + k, first, after - first) for first, after in sides if after != first)

        if n <= WRITTEN_OUT:
            return tuple(part for k in range(n) for rim in one(Lin(k)) for part in self._terms(rim))
        return self._repeated(n, one)

    def _terms(self, rim: Statement) -> Block:
        """A few columns of a row, unrolled: contributions to the same elements are added up."""
        assert isinstance(rim, Compute)
        name, count = next((name, extent.const) for name, extent in rim.params if name not in self._others)
        params = tuple((other, extent) for other, extent in rim.params if other != name)
        sums: dict[Access, Expr] = {}
        for k in range(count):
            term = reindexed(rim, params, {name: Lin(k)})
            target, value = term.target, term.value
            sums[target] = Op("add", (sums[target], value), value.dtype) if target in sums else value
        return tuple(replace(rim, params=params, target=target, value=value) for target, value in sums.items())

    @property
    def _others(self) -> set[str]:
        return {name for name, _ in self.statement.params} - {self.rows.param}

    def _row(self, row: Lin) -> Block:
        low, high = self.rows.columns(row)
        return (self._part(row, low, high - low),)

    # --- statements

    def _rectangle(self, row: Lin, n: int, start: Lin, length: Lin) -> Compute:
        """The statement for `n` rows and `length` columns."""
        inner = self.names.fresh("row")
        part = self._part(row + Lin.symbol(inner), start, length)
        return replace(part, params=((inner, Lin(n)), *part.params))

    def _part(self, row: Lin, start: Lin, length: Lin) -> Compute:
        """The statement in one row for `length` columns."""
        column, statement, rows = self.names.fresh("column"), self.statement, self.rows
        symbols = {rows.var: row, rows.param: start + Lin.symbol(column) - row.scaled(rows.shift)}
        params = tuple((column, length) if name == rows.param else (name, e) for name, e in statement.params)
        return reindexed(statement, params, symbols)

    def _repeated(self, count: int, make: Callable[[Lin], Block]) -> Block:
        """A block for each of the numbers below `count`."""
        if count < 2:
            return make(Lin(0)) if count else ()
        counter = self.names.fresh("block")
        body = make(Lin.symbol(counter))
        return (Loop.over(counter, Lin(count), body, self.statement.where),) if body else ()
