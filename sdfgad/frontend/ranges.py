"""``range`` with bounds that are known at run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sdfgad.frontend.builder import Builder
from sdfgad.frontend.functions.python import int_
from sdfgad.frontend.values import Tensor, is_integer
from sdfgad.ir.expr import INT, Const, Int, Op
from sdfgad.ir.linear import Lin, as_linear


@dataclass(frozen=True)
class Range:
    """``range(start, stop, step)`` with bounds known at run time and a step known while parsing.

    `whole`, if given, is a number of trips, each of which stands for `period` trips of the range.
    """

    start: Lin
    stop: Lin
    step: int
    whole: Lin | None = None
    period: int = 1

    @staticmethod
    def of(b: Builder, arguments: list[Any]) -> Range:
        bounds = [_bound(b, value) for value in arguments]
        if len(bounds) == 1:
            bounds = [Lin(0), *bounds]
        step = b.constant(bounds[2]) if len(bounds) > 2 else 1
        if step == 0:
            raise b.unsupported("range() step must not be zero")
        return Range(bounds[0], bounds[1], step)

    @property
    def trips(self) -> Lin:
        """The number of trips; negative or zero for none."""
        if self.whole is not None:
            return self.whole
        span = self.stop - self.start if self.step > 0 else self.start - self.stop
        size = abs(self.step)
        if size == 1:
            return span
        if span.is_const:
            return Lin(-(-span.const // size))
        return as_linear(Op("floor_divide", (Int(span + size - 1), Const(size, INT)), INT))

    def index(self, trip: Lin) -> Any:
        index = self.start + trip.scaled(self.step)
        return index.const if index.is_const else index

    def guards(self, trip: Lin) -> tuple[Lin, ...]:
        """Forms that are >= 0 exactly for the trips that run."""
        if self.whole is not None:
            return (trip, self.whole - 1 - trip)
        index = self.start + trip.scaled(self.step)
        inside = self.stop - index if self.step > 0 else index - self.stop
        return (trip, inside - 1)


def _bound(b: Builder, value: Any) -> Lin:
    if is_integer(value):
        return Lin.of(value if isinstance(value, Lin) else int(value))
    if isinstance(value, Tensor) and value.ndim == 0 and value.dtype.kind in "iu":
        return Lin.of(int_(b, value))
    raise b.unsupported(f"a range bound that is not an integer: {value!r}", "Convert it with int(...).")
