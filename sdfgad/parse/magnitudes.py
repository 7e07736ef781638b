"""Range analysis: bounds on the magnitudes of integers, from those of what they are computed of."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sdfgad.errors import Location
from sdfgad.ir.expr import INT, Const, Expr, Int, Op, Read, reads
from sdfgad.ir.program import Access

MOST = 2**63 - 1
# What is assumed of integers that data decides, of floats that become integers, and of the trips of a loop that data
# decides.
UNKNOWN, OF_FLOAT, MANY_TRIPS = 2**31, 2**40, 2**20
Bounds = dict[str, int]
# Operations whose results are no larger than their first operand; and those that choose one of their last two.
SAME = ("floor_divide", "right_shift", "negative", "absolute", "cast", "sign", "positive")
CHOICES = ("maximum", "minimum", "later_if_greater", "later_if_less", "select")


class Overflow(Exception):
    """Raised where an integer may take more than 64 bits."""


class Outgrown(Exception):
    """Raised where an integer takes more than 64 bits that is known where loops, at these lines, are written out."""

    def __init__(self, lines: frozenset[Location]) -> None:
        super().__init__(", ".join(map(str, lines)))
        self.lines = lines


@dataclass
class Magnitudes:
    """What is known of the integers that buffers hold.

    Attributes:
        sizes: bounds on their magnitudes, by buffer.
        loops: the lines of the loops from which alone they follow, by buffer.
        written_out: the lines of such loops that are written out, so that their integers are known.
    """

    sizes: Bounds = field(default_factory=dict)
    loops: dict[str, frozenset[Location]] = field(default_factory=dict)
    written_out: frozenset[Location] = frozenset()

    def assign(self, place: Access, value: Expr, is_added: bool, carried: Container[str]) -> None:
        """Record a statement that assigns an integer to an element of a buffer, or adds one to it."""
        buffer, known = place.buffer, {read.buffer for read in reads(value)}
        if buffer in carried or any(name in carried for name in known):
            return
        size = Sizes(self.sizes, lambda symbol: UNKNOWN).of(value)
        before = self.sizes.get(buffer, UNKNOWN if place.index else 0)
        self.sizes[buffer] = before + size if is_added else max(before, size)
        if known and known <= self.loops.keys():
            self.loops[buffer] = self.loops_behind(value)

    def loops_behind(self, *values: Expr) -> frozenset[Location]:
        """The lines of the loops from which alone some values follow; none if they follow from others, too."""
        found = [self.loops.get(read.buffer, frozenset()) for value in values for read in reads(value)]
        return frozenset[Location]().union(*found) if all(found) else frozenset()


@dataclass(frozen=True)
class Sizes:
    """Bounds on the magnitudes of integer expressions.

    Attributes:
        buffers: those of the elements of buffers.
        symbol: that of a counter or an integer argument.
        own: the buffers of integers with which operations must fit into 64 bits; of others it is assumed.
    """

    buffers: Mapping[str, int]
    symbol: Callable[[str], int]
    own: Container[str] = ()

    def of(self, value: Expr) -> int:
        """The largest magnitude of an integer.

        Raises:
            Overflow: it may take more than 64 bits.
        """
        if isinstance(value, Const):
            return abs(int(value.value)) if value.dtype.kind in "biu" else UNKNOWN
        if isinstance(value, Int):
            parts = (abs(factor) * self._atom(atom) for atom, factor in value.value.terms)
            return self._fitting(value, sum(parts) + abs(value.value.const))
        if isinstance(value, Read):
            return self.buffers.get(value.buffer, UNKNOWN)
        assert isinstance(value, Op)
        if value.dtype != INT or any(arg.dtype.kind not in "biu" for arg in value.args):
            return 1 if value.dtype.kind == "b" else OF_FLOAT
        masks = [arg.value for arg in value.args if value.name == "bitwise_and" and isinstance(arg, Const)]
        sizes = [self.of(arg) for arg in value.args]
        return int(min(masks)) if masks and min(masks) >= 0 else self._fitting(value, size_of(value.name, sizes))

    def parts(self, value: Expr) -> None:
        """Bound the integers of which a float or a condition is computed.

        Raises:
            Overflow: one may take more than 64 bits.
        """
        for one in _integers_in(value):
            self.of(one)

    def _atom(self, atom: Any) -> int:
        return self.symbol(atom) if isinstance(atom, str) else self.of(atom)

    def _fitting(self, value: Expr, size: int) -> int:
        return fitting(size) if any(read.buffer in self.own for read in reads(value)) else min(size, MOST)


def _integers_in(value: Expr) -> Iterator[Expr]:
    """The largest integer operations in an expression."""
    if isinstance(value, Int) or (isinstance(value, Op) and value.dtype == INT):
        yield value
    elif isinstance(value, Op):
        for arg in value.args:
            yield from _integers_in(arg)


def fitting(size: int) -> int:
    if size > MOST:
        raise Overflow
    return size


def size_of(name: str, sizes: list[int]) -> int:
    """A bound on the result of an operation, from those on its operands."""
    if name in SAME:
        return sizes[0]
    if name in ("add", "subtract", "invert"):
        return sum(sizes) + (name == "invert")
    if name in CHOICES:
        return max(sizes[-2:])
    if name == "multiply":
        return math.prod(sizes)
    if name == "remainder":
        return sizes[1]
    if name == "power":
        return sizes[0] ** min(sizes[1], 64) if sizes[0] > 1 else 1
    if name == "left_shift":
        return sizes[0] * 2 ** min(sizes[1], 64)
    # Those of bits.
    return max((1 << max(sizes).bit_length()) - 1, 1)
