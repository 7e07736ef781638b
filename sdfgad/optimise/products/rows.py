"""Iteration space of a loop and a parameter inside it, as rows: where each row, or a block of rows, begins and ends.

In trip ``i`` the parameter runs over ``p < e(i)``; with ``j = p + shift * i`` the points are ``low(i) <= j < high(i)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdfgad.ir.expr import Lin

# So many rows make a block: few enough that little is outside of their common columns.
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
        return all(self.common(Lin(row), n)[1].const >= 0 for row, n in self._corners())

    def _corners(self) -> list[tuple[int, int]]:
        """The first and the last whole block, and the rest."""
        whole, rest = divmod(self.trips, self.block)
        found = [(0, self.block), ((whole - 1) * self.block, self.block)] if whole else []
        return [*found, (self.trips - rest, rest)] if rest else found

    def columns(self, row: Lin) -> tuple[Lin, Lin]:
        """The first `j` of a row, and the one after the last."""
        return row.scaled(self.shift), row.scaled(self.slope + self.shift) + self.first

    def spread(self, row: Lin, n: int) -> tuple[Lin, Lin, Lin, Lin]:
        """The least and the greatest `low`, and the least and the greatest `high`, of the rows of a block."""
        (low, high), last = self.columns(row), n - 1
        step, rise = self.shift * last, (self.slope + self.shift) * last
        return low + min(0, step), low + max(0, step), high + min(0, rise), high + max(0, rise)

    def common(self, row: Lin, n: int) -> tuple[Lin, Lin]:
        """The first `j` that all rows of a block have, and how many there are."""
        _, start, end, _ = self.spread(row, n)
        return start, end - start

    def have_common(self, size: int) -> bool:
        """Whether all blocks of so many rows have columns in common; tested at the ends, as the bounds are linear."""
        return all(self.common(Lin(row), size)[1].const >= 0 for row in (0, self.trips - size))
