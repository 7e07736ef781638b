"""Dependence tests: whether statements of a loop touch equal elements in different trips; exact for linear indices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sdfgad.ir.accesses import Use, conflict
from sdfgad.ir.expr import Int, Lin, reads, symbols_of
from sdfgad.ir.program import Loop
from sdfgad.ir.sets import Domain


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
        return Lin.symbol(_other(self.loop.var))

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
        varying = {self.loop.var, *a.names, *b.names}
        if not (_is_known(a, varying) and _is_known(b, varying)):
            return True
        renamed = {name: Lin.symbol(_other(name)) for name in (self.loop.var, *(n for n, _ in b.bound))}
        domain = self.domain.with_range(_other(self.loop.var), self.loop.trips).with_form(*order)
        for name, extent in a.bound:
            domain = domain.with_range(name, extent)
        for name, extent in b.bound:
            domain = domain.with_range(_other(name), extent.substitute(renamed))
        places = [(x, y.substitute(renamed)) for x, y in zip(a.index, b.index, strict=True)]
        return not domain.with_form(*(form for x, y in places for form in (x - y, y - x))).is_empty


def _other(name: str) -> str:
    # No counter of a program ends in an underscore.
    return f"{name}_there_"


def is_plain(use: Use) -> bool:
    """Whether the indices and extents of a use are made of counters alone, not of data."""
    lins = (*use.index, *(extent for _, extent in use.bound))
    return all(lin.is_affine for lin in lins)


def _is_known(use: Use, varying: set[str]) -> bool:
    """Whether indices and extents are linear in the counters, apart from terms that are the same in all trips."""
    terms = [Int(Lin.symbol(atom)) for lin in use.index for atom, _ in lin.terms if not isinstance(atom, str)]
    is_same = not reads(*terms) and not symbols_of(*terms) & varying
    return is_same and all(extent.is_affine for _, extent in use.bound)


def span_of(name: str, forms: Iterable[Lin], domain: Domain) -> tuple[Lin, Lin] | None:
    """The first and the number of a counter's values for which forms are >= 0; None if these are no interval."""
    lows, highs = list[Lin](), list[Lin]()
    for form in forms:
        rest, sign = form - Lin.symbol(name).scaled(form.coefficient(name)), form.coefficient(name)
        if abs(sign) > 1 or (not sign and not domain.implies(rest)):
            return None
        if sign:
            (lows if sign > 0 else highs).append(-rest if sign > 0 else rest)
    low = next((one for one in lows if all(domain.implies(one - other) for other in lows)), None)
    high = next((one for one in highs if all(domain.implies(other - one) for other in highs)), None)
    if low is None or high is None or not domain.implies(high - low + 1):
        return None
    return low, high - low + 1
