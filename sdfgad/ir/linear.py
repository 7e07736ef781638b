"""Integer linear forms: ``const + sum(coefficient * atom)``, the currency of indices, bounds and sizes.

An atom is a symbol (a loop counter, a map parameter, a run-time integer argument) or an integer expression that
is not linear (a quotient, a product of symbols, an element of an index array). Two forms are equal exactly when
they are written the same after collecting terms, which is what index comparison needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from sdfgad.ir.expr import Expr

Atom = Union[str, "Expr"]
IntLike = Union[int, "Lin"]


@dataclass(frozen=True)
class Lin:
    """``const + sum(c * atom)``; `terms` maps atoms to non-zero coefficients in a canonical order."""

    const: int
    terms: tuple[tuple[Atom, int], ...] = ()

    @staticmethod
    def of(value: IntLike) -> Lin:
        return value if isinstance(value, Lin) else Lin(int(value))

    @staticmethod
    def symbol(name: Atom) -> Lin:
        return Lin(0, ((name, 1),))

    @cached_property
    def _hash(self) -> int:
        return hash((self.const, self.terms))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _is_plain(self) -> bool:
        return all(isinstance(atom, str) for atom, _ in self.terms)

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The symbols in it, those inside of expressions included."""
        plain = frozenset(atom for atom, _ in self.terms if isinstance(atom, str))
        return plain.union(*(atom.symbols for atom, _ in self.terms if not isinstance(atom, str)))

    @property
    def is_const(self) -> bool:
        return not self.terms

    def __add__(self, other: IntLike) -> Lin:
        other = Lin.of(other)
        terms = dict(self.terms)
        for atom, coefficient in other.terms:
            terms[atom] = terms.get(atom, 0) + coefficient
        return Lin(self.const + other.const, _canonical(terms))

    __radd__ = __add__

    def __neg__(self) -> Lin:
        return Lin(-self.const, tuple((a, -c) for a, c in self.terms))

    def __sub__(self, other: IntLike) -> Lin:
        return self + (-Lin.of(other))

    def __rsub__(self, other: IntLike) -> Lin:
        return Lin.of(other) - self

    def scaled(self, factor: int) -> Lin:
        """This form times a constant."""
        if factor == 0:
            return Lin(0)
        return Lin(self.const * factor, tuple((a, c * factor) for a, c in self.terms))

    def coefficient(self, name: Atom) -> int:
        return dict(self.terms).get(name, 0)

    def substitute(self, symbols: Mapping[str, IntLike], on_expr: Callable[[Expr], Expr] | None = None) -> Lin:
        """Replace symbols by forms; `on_expr` maps the atoms that are expressions."""
        if self._is_plain and self.symbols.isdisjoint(symbols):
            return self
        result = Lin(self.const)
        for atom, coefficient in self.terms:
            result = result + _substituted(atom, symbols, on_expr).scaled(coefficient)
        return result

    def __str__(self) -> str:
        parts = [str(a) if c == 1 else f"{c}*{a}" for a, c in self.terms]
        if self.const or not parts:
            parts.append(str(self.const))
        return " + ".join(parts)


def _canonical(terms: dict[Atom, int]) -> tuple[tuple[Atom, int], ...]:
    return tuple(sorted(((a, c) for a, c in terms.items() if c), key=lambda item: _order(item[0])))


def _order(atom: Atom) -> tuple[int, str]:
    # Expressions are ordered by their text, so that the order does not depend on the hash seed.
    return (0, atom) if isinstance(atom, str) else (1, str(atom))


def _substituted(atom: Atom, symbols: Mapping[str, IntLike], on_expr: Callable[[Expr], Expr] | None) -> Lin:
    if isinstance(atom, str):
        return Lin.of(symbols[atom]) if atom in symbols else Lin.symbol(atom)
    if on_expr is None:
        return Lin.symbol(atom)
    return as_linear(on_expr(atom))


def as_linear(expr: Expr) -> Lin:
    """The linear form of an integer expression: itself as an atom where it is not linear."""
    from sdfgad.ir.expr import Const, Int

    if isinstance(expr, Int):
        return expr.value
    if isinstance(expr, Const):
        return Lin(int(expr.value))
    return Lin.symbol(expr)
