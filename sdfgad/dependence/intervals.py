"""Interval analysis: the values that integer forms and counters can have."""

from __future__ import annotations

from collections.abc import Iterable

from sdfgad.dependence.sets import Domain
from sdfgad.ir.expr import Expr, Lin


def interval(form: Lin, bound: dict[str, Lin]) -> tuple[Lin, int, int] | None:
    """Interval analysis: a form's invariant part, and the least and greatest value of the rest; None if unknown."""
    fixed, low, high = Lin(0), form.const, form.const
    for atom, coefficient in form.terms:
        if isinstance(atom, Expr):
            return None
        if atom not in bound:
            fixed = fixed + Lin.symbol(atom).scaled(coefficient)
            continue
        extent = bound[atom]
        if not extent.is_const or extent.const < 1:
            return None
        span = coefficient * (extent.const - 1)
        low, high = low + min(span, 0), high + max(span, 0)
    return fixed, low, high


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
