"""Parallel reductions: which threads of a device read what is summed, and how many they are.

Nothing here depends on a device but on numbers of points alone, so that sums do not change from device to device.
"""

from __future__ import annotations

import math
from functools import cached_property

from sdfgad.ir.expr import Expr, Lin, reads
from sdfgad.ir.program import Compute
from sdfgad.schedule.loop_order import Order, order_of

# The threads of a block, and the most that one may have.
BLOCK, MOST = 256, 1024
# The threads that run at the same time on a large device, as a power of two.
RESIDENT = 1 << 17
# The threads that run in step, and the terms of a sum for each where there are many sums.
WARP, TERMS = 32, 8
# Numbers that a multiprocessor keeps in its cache, where steps of any length cost the same.
CACHED = 1 << 13
# A sum of fewer terms is left to one thread, even where it reads across the threads.
SHORT = 32


class Sum:
    """The parameters of a statement on a device.

    Attributes:
        order: the loop order on a CPU, whose innermost parameter runs along memory.
        is_atomic: whether points may meet in an element, and be combined there in any order.
        own: those that select the target, of which the last runs along memory; all, if each point is a thread.
        summed: the others.
    """

    def __init__(self, statement: Compute) -> None:
        self._value: Expr = statement.value
        self.order: Order = order_of(statement)
        self.extents = dict(statement.params)
        self.is_atomic = not self.order.is_injective and is_order_free(statement)
        is_sum = statement.accumulate is not None and not self.is_atomic
        self.own = (
            self.order.own if is_sum else (*(n for n in self.extents if n not in self.order.own), *self.order.own)
        )
        self.summed = tuple(n for n in (*self.order.outer, *self.order.inner) if n not in self.own)

    @cached_property
    def elements(self) -> int | None:
        """The number of elements of the target; None if it is not known."""
        return points([self.extents[name] for name in self.own])

    @cached_property
    def terms(self) -> int | None:
        """The number of terms of each sum; None if it is not known."""
        return points([self.extents[name] for name in self.summed])

    @cached_property
    def is_along(self) -> bool:
        """Whether threads had better read neighbours along what is summed than along the target's parameters.

        What counts are the points of memory that the reads of a warp would be far apart in.
        """
        if not self.summed or not self.own:
            return bool(self.summed)
        apart = [self._apart(names[-1]) for names in (self.own, self.summed)]
        are_many = self.elements is None or self.elements >= RESIDENT
        return apart[0] > apart[1] or (apart[0] == apart[1] and not are_many)

    def _apart(self, name: str) -> tuple[int, int]:
        """The number of reads of unknown size whose steps along a parameter are long, and the points of the others."""
        found = [read for read in reads(self._value) if read.index and not _is_near(read.index, name)]
        sizes = [[self.extents[n] for n in _parameters(read.index) if n in self.extents] for read in found]
        unknown = sum(not all(extent.is_const for extent in size) for size in sizes)
        known = (points(size) or 0 for size in sizes if all(extent.is_const for extent in size))
        return unknown, max((size for size in known if size > CACHED), default=0)


def _parameters(index: tuple[Lin, ...]) -> frozenset[str]:
    return frozenset[str]().union(*(one.symbols for one in index))


def _is_near(index: tuple[Lin, ...], name: str) -> bool:
    """Whether a step of a parameter leads to the same element of an array, or to the next one in memory."""
    found = [form for form in index if name in form.symbols]
    return not found or (found == [_last(index)] and found[0].is_affine and abs(found[0].coefficient(name)) == 1)


def _last(index: tuple[Lin, ...]) -> Lin:
    """The index along the last axis that is not at one place."""
    return next((form for form in reversed(index) if not form.is_const), index[-1])


def is_order_free(statement: Compute) -> bool:
    """Whether a statement combines values with its target that have the same result in each order, whatever meets."""
    dtype, name = statement.value.dtype, statement.target.buffer
    is_exact = statement.accumulate == "add" and dtype.kind in "iu"
    is_extremum = statement.accumulate in ("maximum", "minimum") and dtype.kind in "iuf"
    is_read = any(read.buffer == name for read in statement.read)
    return (is_exact or is_extremum) and dtype.itemsize in (4, 8) and not statement.fresh and not is_read


def points(extents: list[Lin]) -> int | None:
    """The number of points of a box; None if it is not known."""
    return math.prod(max(extent.const, 0) for extent in extents) if all(e.is_const for e in extents) else None


def threads_of(box: Sum) -> int:
    """The threads of a block for a sum: a power of two, at most one for each term.

    Where sums are many, each thread has some terms: a tree costs as much as several.
    """
    if box.terms is None:
        return BLOCK
    most = _power(box.terms)
    enough = _power(RESIDENT // max(box.elements or 1, 1))
    return min(BLOCK, max(WARP, min(most, max(_power(box.terms // TERMS), enough))))


def threads_of_scatter(statement: Compute) -> int:
    """The threads of a block for contributions that they sort out: one for each, as far as a block has so many."""
    return min(MOST, max(WARP, _power(points([extent for _, extent in statement.params]) or 1)))


def _power(number: int) -> int:
    """The least power of two that is not less."""
    return 1 << (max(number, 1) - 1).bit_length()
