"""Private partial sums of a loop that threads share, one for each part of its trips, and their totals."""

from __future__ import annotations

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
        arrays: the arrays that it adds to a small slice of, with the numbers of its elements and where it begins.
        count: the number of parts.
    """

    buffers: Mapping[str, Buffer]
    scalars: Collection[str]
    largest: Collection[str]
    arrays: Mapping[str, tuple[int, str]]
    count: int

    def declarations(self) -> list[str]:
        singles = [f"{self._type(n)} parts_{n}_[{self.count}] = {{}};" for n in self.scalars]
        return singles + [
            f"std::vector<{self._type(n)}> parts_{n}_({self.count} * {size});" for n, (size, _) in self.arrays.items()
        ]

    def totals(self) -> list[str]:
        """The statements that add up the parts, always in the same order."""
        each = f"for (int64_t k_ = 0; k_ < {self.count}; ++k_)"
        kinds = {n: COMBINE["maximum" if n in self.largest else "add"] for n in self.scalars}
        lines = [f"{each} b_{n}_ = {kinds[n].format(f'b_{n}_', f'parts_{n}_[k_]')};" for n in self.scalars]
        for n, (size, start) in self.arrays.items():
            add = f"b_{n}_[{start} + j_] += parts_{n}_[k_ * {size} + j_];"
            lines += [each, f"for (int64_t j_ = 0; j_ < {size}; ++j_) {add}"]
        return lines

    def argument(self, name: str) -> str:
        """What the function of a part gets for a buffer: its partial sum, or the buffer itself."""
        if name in self.scalars:
            # An extremum starts from the old value, as it is idempotent.
            start = f"b_{name}_" if name in self.largest else f"{self._type(name)}(0)"
            return f"{start}, &parts_{name}_[k_]"
        if name not in self.arrays:
            return f"b_{name}_"
        size, start = self.arrays[name]
        return f"sdfgad::beginning(&parts_{name}_[k_ * {size}], {start})"

    def _type(self, name: str) -> str:
        return cpp_type(self.buffers[name].dtype)
