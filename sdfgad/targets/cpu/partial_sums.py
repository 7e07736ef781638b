"""Private partial sums of a loop that threads share, one for each part of its trips, and their totals."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sdfgad.ir.program import Buffer
from sdfgad.targets.cpu.cpp import COMBINE, cpp_type


@dataclass(frozen=True)
class PartialSums:
    """The partial sums of one loop.

    Attributes:
        scalars: the scalars that it adds to, or takes the largest of.
        largest: those of which it takes the largest.
        arrays: the small arrays that it adds to.
        count: the number of parts.
    """

    buffers: Mapping[str, Buffer]
    scalars: Collection[str]
    largest: Collection[str]
    arrays: Collection[str]
    count: int

    def declarations(self) -> list[str]:
        singles = [f"{self._type(n)} parts_{n}_[{self.count}] = {{}};" for n in self.scalars]
        return singles + [
            f"std::vector<{self._type(n)}> parts_{n}_({self.count} * {self._size(n)});" for n in self.arrays
        ]

    def totals(self) -> list[str]:
        """The statements that add up the parts, always in the same order."""
        each = f"for (int64_t k_ = 0; k_ < {self.count}; ++k_)"
        kinds = {n: COMBINE["maximum" if n in self.largest else "add"] for n in self.scalars}
        lines = [f"{each} b_{n}_ = {kinds[n].format(f'b_{n}_', f'parts_{n}_[k_]')};" for n in self.scalars]
        for n in self.arrays:
            size = self._size(n)
            lines += [each, f"for (int64_t j_ = 0; j_ < {size}; ++j_) b_{n}_[j_] += parts_{n}_[k_ * {size} + j_];"]
        return lines

    def argument(self, name: str) -> str:
        """What the function of a part gets for a buffer: its partial sum, or the buffer itself."""
        if name in self.scalars:
            # An extremum starts from the old value, as it is idempotent.
            start = f"b_{name}_" if name in self.largest else f"{self._type(name)}(0)"
            return f"{start}, &parts_{name}_[k_]"
        return f"&parts_{name}_[k_ * {self._size(name)}]" if name in self.arrays else f"b_{name}_"

    def _size(self, name: str) -> int:
        return math.prod(extent.const for extent in self.buffers[name].shape)

    def _type(self, name: str) -> str:
        return cpp_type(self.buffers[name].dtype)
