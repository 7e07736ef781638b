"""Fourier transforms: upper bounds of the tables that `fourier.h` keeps of a length, and of its buffers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sdfgad.ir.program import Call
from sdfgad.memory.allocation import array

# As in `fourier.h`; a machine's vectors have one of these numbers of bytes.
LONGEST_IN_LANES, MOST_PARTS, SMALLEST_PART = 2048, 4, 1 << 15
VECTORS = (16, 32, 64)
FACTORS = (4, 2, 3, 5, 7)
TRANSFORMS = ("fourier", "real_fourier", "half_fourier")


@dataclass(frozen=True)
class _Lines:
    """The lines that a call transforms, on a machine whose vectors have `lanes` numbers.

    Attributes:
        number: how many they are.
        core: how many complex numbers of each are transformed.
        longest: how many it has before or after that.
        item: the bytes of a complex number.
    """

    number: int
    core: int
    longest: int
    item: int
    lanes: int

    @property
    def in_lanes(self) -> int:
        """How many are transformed in lanes; the others are transformed one by one."""
        if self.core >= LONGEST_IN_LANES:
            return 0
        rest = self.number % self.lanes
        return self.number if rest > self.lanes // 2 else self.number - rest

    def buffers(self) -> int:
        """The bytes of the buffers of a call."""
        size = -(-max(_smooth(self.core), self.longest) // 8) * 8
        lanes = self._in_parts(-(-self.in_lanes // self.lanes), 2 * size * self.lanes)
        line = self._in_parts(self.number - self.in_lanes, 2 * size + self._split().scratch)
        return max(lanes, line, self._making())

    def _in_parts(self, groups: int, numbers: int) -> int:
        parts = max(1, min(self.number * self.core // SMALLEST_PART, groups, MOST_PARTS))
        return array(numbers * parts, self.item) if groups else 0

    def _making(self) -> int:
        """What is allocated while the tables of a convolution are computed."""
        size, split = _smooth(self.core), self._split()
        if size == self.core:
            return 0
        return 2 * array(size, self.item) + split.tables + array(split.scratch, self.item)

    def tables(self) -> int:
        """The bytes of the tables that are kept for later calls."""
        size = _smooth(self.core)
        convolution = 0 if size == self.core else array(self.core, self.item) + array(size, self.item)
        lanes = convolution + _passes(size, self.item) if self.in_lanes else 0
        return lanes + (convolution + self._split().tables if self.in_lanes < self.number else 0)

    def _split(self) -> _Split:
        return _Split.of(_smooth(self.core), self.lanes, self.item)


@dataclass(frozen=True)
class _Split:
    """The transform of one line by lanes: its tables, in bytes, and its scratch, in numbers."""

    tables: int
    scratch: int

    @staticmethod
    def of(size: int, lanes: int, item: int) -> _Split:
        a = next(a for a in range(math.isqrt(size), 0, -1) if size % a == 0)
        b, is_split = size // a, a >= lanes
        padded = -(-b // lanes) * lanes
        tables = _passes(a if is_split else size, item) + _passes(b, item) + is_split * array(padded * a, item)
        return _Split(tables, padded * a + 2 * lanes * (b + lanes if is_split else size))


def _calls_lines(call: Call) -> Iterator[_Lines]:
    """The lines of a call, for each number of lanes that a vector may have."""
    outer, n, inner = call.sizes[:3]
    item = max(whole.dtype.itemsize for whole in (*call.inputs, *call.outputs) if whole.dtype.kind == "c")
    core = n if call.name == "fourier" or n % 2 else n // 2
    for vector in VECTORS:
        yield _Lines(outer * inner, core, max(core, n // 2 + 1), item, 2 * vector // item)


def plan_bytes(calls: Iterable[Call]) -> int:
    """An upper bound of what is kept of the lengths of some calls for later ones."""
    kept: dict[tuple[str, int, int], int] = {}
    for call in calls:
        if call.name in TRANSFORMS:
            tables, n = max(lines.tables() for lines in _calls_lines(call)), call.sizes[1]
            item = next(_calls_lines(call)).item
            kept[call.name, n, item] = tables + array(n // 4 + 1, item)
    return sum(kept.values())


def transform_workspace(call: Call) -> int:
    """An upper bound of the bytes that a transform allocates while it runs, and releases at its end."""
    return max(lines.buffers() for lines in _calls_lines(call)) if math.prod(call.sizes[:3]) else 0


def _passes(n: int, item: int) -> int:
    """The factors of each pass, and a record of 48 bytes and seven numbers for it."""
    total = number = 0
    for factor in FACTORS:
        while n % factor == 0:
            total, number, n = total + array(n, item), number + 1, n // factor
    return total + array(number, 48 + 7 * item)


def _smooth(n: int) -> int:
    """The length whose passes transform n numbers: n itself, or that of a convolution."""
    if _is_smooth(n):
        return n
    return next(size for size in itertools.count(2 * n - 1) if _is_smooth(size))


def _is_smooth(n: int) -> bool:
    for factor in (2, 3, 5, 7):
        while n % factor == 0:
            n //= factor
    return n == 1
