"""What names a random program has at one place, and subscripts that are in range."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Counter:
    """An integer variable with its smallest and largest value."""

    name: str
    low: int
    high: int


@dataclass
class Scope:
    """The variables of a program.

    Attributes:
        arrays: name -> shape; `complexes` are the names of those that are complex.
        scalars: floating variables; `counters` integer ones.
        indices: integer arrays, name -> (length, extent of what they index).
        masks: boolean arrays, name -> shape.
    """

    rng: random.Random
    arrays: dict[str, Shape] = field(default_factory=dict)
    complexes: set[str] = field(default_factory=set)
    scalars: list[str] = field(default_factory=list)
    counters: list[Counter] = field(default_factory=list)
    indices: dict[str, tuple[int, int]] = field(default_factory=dict)
    masks: dict[str, Shape] = field(default_factory=dict)

    @contextmanager
    def inner(self) -> Iterator[None]:
        """What is bound in a block is not read after it: it may not be bound there."""
        saved = dict(self.arrays), list(self.scalars), list(self.counters), set(self.complexes)
        yield
        self.arrays, self.scalars, self.counters, self.complexes = saved

    def fresh(self, prefix: str) -> str:
        """A name that nothing has."""
        taken = {*self.arrays, *self.scalars, *(c.name for c in self.counters), *self.indices, *self.masks}
        return next(name for k in itertools.count() if (name := f"{prefix}{k or ''}") not in taken)

    # --- subscripts

    def index(self, extent: int) -> str:
        """An integer within an extent, from the front or from the end."""
        found = [str(self.rng.randrange(extent)), str(-self.rng.randint(1, extent))]
        for c in self.counters:
            found += [f"{c.name} % {extent}"] * (self.rng.random() < 0.2)
            for shift in range(-2, 3):
                low, high = c.low + shift, c.high + shift
                if (low >= 0 and high < extent) or (low >= -extent and high < 0):
                    found += [_shifted(c.name, shift)] * (6 if not shift else 3)
                elif low >= -extent and high < extent:
                    found += [_shifted(c.name, shift)]  # From the end in some trips.
            if c.low >= 0:
                found += [f"min({c.name}, {extent - 1})"] * (self.rng.random() < 0.1)
            if c.low >= 0 and c.high // 2 < extent:
                found += [f"{c.name} // 2"] * (self.rng.random() < 0.1)
            if c.low >= 0 and c.high < extent:
                found += [f"{extent - 1} - {c.name}", f"-{c.name} - 1", f"{c.name} - {extent}"]
        for name, (length, reach) in self.indices.items():
            if reach <= extent and self.rng.random() < 0.3:
                found += [f"{name}[{self.rng.randrange(length)}]"]
                found += [f"{name}[{c.name}]" for c in self.counters if c.low >= 0 and c.high < length]
        return self.rng.choice(found)

    def slice(self, extent: int, length: int) -> str:
        """A slice of an extent that has a length."""
        most = (extent - 1) // (length - 1) if length > 1 else 3
        step = self.rng.choice([s for s in (1, 1, 1, 1, 2, 3, 2) if s <= most] or [1])
        first = self.rng.randint(0, extent - 1 - (length - 1) * step)
        last = first + (length - 1) * step
        if self.rng.random() < 0.2:
            return self._backward(extent, first, last, step)
        start = "" if first == 0 and self.rng.random() < 0.8 else self._end(first, extent)
        rest = extent - 1 - last
        stop = "" if rest < step and self.rng.random() < 0.6 else self._end(last + 1, extent)
        return f"{start}:{stop}" + (f":{step}" if step > 1 else "")

    def _backward(self, extent: int, first: int, last: int, step: int) -> str:
        start = "" if last == extent - 1 and self.rng.random() < 0.7 else self._end(last, extent)
        stop = "" if first - step < 0 else self._end(first - step, extent)
        return f"{start}:{stop}:{-step}"

    def _end(self, place: int, extent: int) -> str:
        if place < extent and place and self.rng.random() < 0.4:
            return str(place - extent)
        return str(place)

    def part(self, name: str, wanted: Shape) -> str | None:
        """A part of an array that has a shape: some axes sliced, the others indexed."""
        shape = self.arrays[name]
        ways = [
            kept
            for kept in itertools.combinations(range(len(shape)), len(wanted))
            if all(shape[axis] >= length for axis, length in zip(kept, wanted, strict=True))
        ]
        if not ways:
            return None
        kept = self.rng.choice(ways)
        if shape == wanted and self.rng.random() < 0.7:
            return name
        lengths = dict(zip(kept, wanted, strict=True))
        parts = [self._axis(extent, lengths.get(axis)) for axis, extent in enumerate(shape)]
        while len(parts) > 1 and parts[-1] == ":":
            parts.pop()
        return f"{name}[{', '.join(parts)}]"

    def _axis(self, extent: int, length: int | None) -> str:
        if length is None:
            return self.index(extent)
        if length == extent and self.rng.random() < 0.8:
            return ":"
        return self.slice(extent, length)

    def some_part(self, name: str) -> tuple[str, Shape]:
        """A part of an array, and its shape."""
        shape = self.arrays[name]
        wanted = tuple(
            self.rng.choice([extent, extent, max(1, extent - 1), max(1, extent - 2), max(1, extent // 2)])
            for extent in shape
            if self.rng.random() < 0.75
        )
        found = self.part(name, wanted)
        return (name, shape) if found is None else (found, wanted)


def _shifted(name: str, shift: int) -> str:
    return name if not shift else f"{name} {'+' if shift > 0 else '-'} {abs(shift)}"
