"""Order of execution: which statements may change places, and which trips of a loop may run in another order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement

from sdfgad.dependence.aliasing import are_disjoint, is_same_trip
from sdfgad.dependence.exact import meeting, there
from sdfgad.dependence.sets import Domain
from sdfgad.dependence.uses import Use, conflict, uses_of
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Loop, Statement


def commute(a: Statement, b: Statement) -> bool:
    """Whether two adjacent statements may be exchanged: no conflicting uses may alias."""
    if a.mentioned.isdisjoint(b.mentioned):
        return True
    return not any(conflict(x, y) and not are_disjoint(x, y) for x in uses_of(a) for y in uses_of(b))


def are_independent(uses: Iterable[Use], var: str) -> bool:
    """Whether there is no loop-carried dependence: conflicting uses meet within one trip of the loop `var` only."""
    by_buffer: dict[str, list[Use]] = {}
    for use in uses:
        by_buffer.setdefault(use.buffer, []).append(use)
    pairs = (pair for alike in by_buffer.values() for pair in combinations_with_replacement(alike, 2))
    return all(is_same_trip(a, b, var, var) for a, b in pairs if conflict(a, b))


def run_in_step(a: Statement, of_a: str, b: Statement, of_b: str, may_add: bool) -> bool:
    """Whether two statements may run in one loop: each trip of one next to the same trip of the other.

    Args:
        may_add: whether sums into elements that several trips share are no hindrance.
    """
    if a.mentioned.isdisjoint(b.mentioned):
        return True
    return all(_meet_in_step(x, y, of_a, of_b, may_add) for x in uses_of(a) for y in uses_of(b))


def _meet_in_step(x: Use, y: Use, of_x: str, of_y: str, may_add: bool) -> bool:
    if x.buffer != y.buffer or (x.kind == y.kind == "read"):
        return True
    if x.kind == y.kind == "add":
        # Two sums into one element that is the same for all trips are one sum.
        is_one = x.index == y.index and not x.mentions(of_x) and not y.mentions(of_y)
        if may_add or is_one:
            return True
    return is_same_trip(x, y, of_x, of_y)


@dataclass(frozen=True)
class Trips:
    """The trips of a loop, which starts at 0, and the domain of the counters around it.

    Of two uses of a buffer the first one is in trip `here`, the other one in trip `there`.
    """

    loop: Loop
    around: Domain

    @property
    def here(self) -> Lin:
        return Lin.symbol(self.loop.var)

    @property
    def there(self) -> Lin:
        return Lin.symbol(there(self.loop.var))

    @property
    def domain(self) -> Domain:
        return self.around.with_range(self.loop.var, self.loop.trips)

    def later(self, one: Lin, other: Lin) -> Lin:
        """A form that is >= 0 where the trip `one` runs after the trip `other`."""
        return (other - one if self.loop.backward else one - other) - 1

    def meet(self, a: Use, b: Use, order: Iterable[Lin]) -> bool:
        """Whether two uses conflict at the same element in some two trips for which the forms in `order` are >= 0."""
        if not conflict(a, b):
            return False
        pairs = meeting(a, b, self.loop.var)
        if pairs is None:
            return True
        domain = self.domain.with_range(there(self.loop.var), self.loop.trips)
        return not domain.with_form(*order, *pairs.forms).is_empty
