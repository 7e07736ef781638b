"""The points that a loop and a parameter of a statement in it run over, cut into rectangles and short rows.

In trip ``i`` the parameter runs over ``p < e(i)``; with ``j = p + shift * i`` the points are ``low(i) <= j < high(i)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sdfgad.ir.expr import rewrite
from sdfgad.ir.linear import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Compute, Loop

# So many trips make a block: enough for a quick product, few enough that little is outside of rectangles.
SMALL_BLOCK, LARGE_BLOCK = 16, 48
BLOCKS = 8


@dataclass(frozen=True)
class Rows:
    """The trips of a loop `var` and the parameter `param` of extent ``first + slope * var``."""

    var: str
    trips: int
    param: str
    first: int
    slope: int
    shift: int

    @property
    def ends(self) -> tuple[int, int]:
        """The least `j`, and the one after the greatest."""
        last = self.trips - 1
        return min(0, self.shift * last), self.first + max(0, (self.slope + self.shift) * last)

    @property
    def column(self) -> Lin:
        """`j`, counted from the least one."""
        return Lin.symbol(self.param) + Lin.symbol(self.var).scaled(self.shift) - self.ends[0]

    @property
    def block(self) -> int:
        return min(LARGE_BLOCK, max(SMALL_BLOCK, self.trips // BLOCKS))

    @property
    def is_possible(self) -> bool:
        """Whether no row has a negative length, and the rows of each block have a common part."""
        last = self.trips - 1
        if min(self.first, self.first + self.slope * last) < 0:
            return False
        return all(self._common(Lin(row), n)[1].const >= 0 for row, n in self._corners())

    def _corners(self) -> list[tuple[int, int]]:
        """The first and the last whole block, and the rest."""
        whole, rest = divmod(self.trips, self.block)
        found = [(0, self.block), ((whole - 1) * self.block, self.block)] if whole else []
        return [*found, (self.trips - rest, rest)] if rest else found

    def _spread(self, row: Lin, n: int) -> tuple[Lin, Lin, Lin, Lin]:
        """The least and the greatest `low`, and the least and the greatest `high` of a block."""
        low, step = row.scaled(self.shift), self.shift * (n - 1)
        high, rise = row.scaled(self.slope + self.shift) + self.first, (self.slope + self.shift) * (n - 1)
        return low + min(0, step), low + max(0, step), high + min(0, rise), high + max(0, rise)

    def _common(self, row: Lin, n: int) -> tuple[Lin, Lin]:
        """The first `j` that all rows of a block have, and how many there are."""
        _, start, end, _ = self._spread(row, n)
        return start, end - start

    # --- statements

    def hull(self, statement: Compute, names: Names) -> Block:
        """The statement for all its points and those that make rectangles of them."""

        def block(row: Lin, n: int) -> Block:
            start, _, _, end = self._spread(row, n)
            return (self._rectangle(statement, names, row, n, start, end - start),)

        return self._blocks(block, names)

    def exact(self, statement: Compute, names: Names) -> Block:
        """The statement for all its points, which it may do in any order."""
        return self._blocks(lambda row, n: self._exact(statement, names, row, n), names)

    def _exact(self, statement: Compute, names: Names, row: Lin, n: int) -> Block:
        least, start, end, greatest = self._spread(row, n)
        counter = names.fresh("row")
        at = row + Lin.symbol(counter)
        low, high = at.scaled(self.shift), at.scaled(self.slope + self.shift) + self.first
        short = [
            self._at(statement, names, at, first, length)
            for first, length, is_some in ((low, start - low, least != start), (end, high - end, end != greatest))
            if is_some
        ]
        guards = (Lin.symbol(counter), Lin(n - 1) - Lin.symbol(counter))
        rest = (Loop(counter, Lin(n), tuple(short), guards, where=statement.where),) if short else ()
        return (self._rectangle(statement, names, row, n, start, end - start), *rest)

    def _rectangle(self, statement: Compute, names: Names, row: Lin, n: int, start: Lin, length: Lin) -> Compute:
        inner = names.fresh("row")
        part = self._at(statement, names, row + Lin.symbol(inner), start, length)
        return replace(part, params=((inner, Lin(n)), *part.params))

    def _at(self, statement: Compute, names: Names, at: Lin, start: Lin, length: Lin) -> Compute:
        """The statement in one trip for `length` columns."""
        column = names.fresh("column")
        symbols = {self.var: at, self.param: start + Lin.symbol(column) - at.scaled(self.shift)}
        params = tuple((column, length) if name == self.param else (name, e) for name, e in statement.params)
        index = tuple(lin.substitute(symbols) for lin in statement.target.index)
        target = Access(statement.target.buffer, index)
        return replace(statement, params=params, target=target, value=rewrite(statement.value, symbols))

    def _blocks(self, make: Callable[[Lin, int], Block], names: Names) -> Block:
        whole, rest = divmod(self.trips, self.block)
        last = make(Lin(self.trips - rest), rest) if rest else ()
        if whole < 2:
            return (*(make(Lin(0), self.block) if whole else ()), *last)
        counter = names.fresh("block")
        block = Lin.symbol(counter)
        body = make(block.scaled(self.block), self.block)
        return (Loop(counter, Lin(whole), body, (block, Lin(whole - 1) - block)), *last)
