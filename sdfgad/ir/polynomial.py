"""Polynomials in symbols with rational coefficients (as Ehrhart polynomials: counts of the points of nested loops)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

Monomial = tuple[str, ...]  # its symbols, sorted, each repeated as often as its exponent


@dataclass(frozen=True)
class Polynomial:
    """A sum of monomials; `terms` has their coefficients, none of them 0."""

    terms: Mapping[Monomial, Fraction]

    @staticmethod
    def constant(value: int | Fraction) -> Polynomial:
        return Polynomial({(): Fraction(value)} if value else {})

    @staticmethod
    def symbol(name: str) -> Polynomial:
        return Polynomial({(name,): Fraction(1)})

    @property
    def symbols(self) -> set[str]:
        return {name for monomial in self.terms for name in monomial}

    @property
    def denominator(self) -> int:
        """The least common denominator of the coefficients."""
        return math.lcm(*(coefficient.denominator for coefficient in self.terms.values()))

    def __add__(self, other: Polynomial) -> Polynomial:
        return _collected([*self.terms.items(), *other.terms.items()])

    def __mul__(self, other: Polynomial) -> Polynomial:
        pairs = ((one, two) for one in self.terms.items() for two in other.terms.items())
        return _collected([(tuple(sorted((*m, *n))), a * b) for (m, a), (n, b) in pairs])

    def summed(self, symbol: str, end: Polynomial) -> Polynomial:
        """The sum over symbol = 0, …, end - 1; in `end` the symbol has its value outside of the sum."""
        total = Polynomial({})
        for power, factor in self._powers_of(symbol):
            total = total + factor * _power_sum(power, end)
        return total

    def _powers_of(self, symbol: str) -> Iterator[tuple[int, Polynomial]]:
        for monomial, coefficient in self.terms.items():
            others = tuple(name for name in monomial if name != symbol)
            yield len(monomial) - len(others), Polynomial({others: coefficient})


def _collected(terms: list[tuple[Monomial, Fraction]]) -> Polynomial:
    collected: dict[Monomial, Fraction] = {}
    for monomial, coefficient in terms:
        collected[monomial] = collected.get(monomial, Fraction(0)) + coefficient
    return Polynomial({monomial: coefficient for monomial, coefficient in collected.items() if coefficient})


def _power_sum(power: int, end: Polynomial) -> Polynomial:
    """0**power + … + (end - 1)**power, by Faulhaber's formula."""
    total, powers = Polynomial({}), Polynomial.constant(1)
    for exponent in range(1, power + 2):
        powers = powers * end
        share = Fraction(math.comb(power + 1, exponent), power + 1) * _bernoulli(power + 1 - exponent)
        total = total + Polynomial.constant(share) * powers
    return total


@cache
def _bernoulli(n: int) -> Fraction:
    """The Bernoulli number B_n, with B_1 = -1/2."""
    if n == 0:
        return Fraction(1)
    return -sum((math.comb(n + 1, k) * _bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)
