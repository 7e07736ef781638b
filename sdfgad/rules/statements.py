"""The adjoint of one statement, by how it accumulates.

A rule returns a `Pullback`: cotangents of what the statement reads, whether the target's own cotangent ends with
the statement, and statements that must come first. It never accumulates, clears or stores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sdfgad.ir.expr import Expr, Read
from sdfgad.ir.linear import Lin
from sdfgad.ir.program import Access, Compute
from sdfgad.rules.algebra import compare, const, div, select
from sdfgad.rules.expression import pullback


@dataclass(frozen=True)
class Pullback:
    """What flows back through a statement.

    Attributes:
        cotangents: for each read of an active buffer, its cotangent at every point of the statement's box.
        ends_target: whether the value that the target had before does not matter to the value it has after.
        count: a value to be summed per target element first, available to `cotangents` as `COUNT`.
        uses_result: whether `cotangents` read the target as the statement leaves it.
    """

    cotangents: tuple[tuple[Read, Expr], ...]
    ends_target: bool
    count: Expr | None = None
    uses_result: bool = False


COUNT = "count"
StatementRule = Callable[[Compute, Expr, frozenset[str]], Pullback]
STATEMENT_RULES: dict[str | None, StatementRule] = {}


def rule(*accumulate: str | None) -> Callable[[StatementRule], StatementRule]:
    """Register the rule of statements that accumulate in one of these ways."""

    def register(function: StatementRule) -> StatementRule:
        STATEMENT_RULES.update(dict.fromkeys(accumulate, function))
        return function

    return register


@rule(None)
def assignment(statement: Compute, t: Expr, active: frozenset[str]) -> Pullback:
    return Pullback(tuple(pullback(statement.value, t, active, statement.where)), True)


@rule("add")
def accumulation(statement: Compute, t: Expr, active: frozenset[str]) -> Pullback:
    return Pullback(tuple(pullback(statement.value, t, active, statement.where)), False)


@rule("maximum", "minimum")
def extremum(statement: Compute, t: Expr, active: frozenset[str]) -> Pullback:
    """The elements that attain the extremum share the cotangent evenly."""
    value = statement.value
    result = statement.target.read(value.dtype)
    attains = compare("equal", value, result)
    one, zero = const(1, value), const(0, value)
    share = select(attains, div(t, Read(COUNT, statement.target.index, value.dtype)), zero)
    cotangents = pullback(value, share, active, statement.where)
    return Pullback(tuple(cotangents), True, select(attains, one, zero), uses_result=True)


def target_params(statement: Compute) -> tuple[tuple[str, Lin], ...]:
    """The parameters of the box that select the target element; the others are summed over."""
    return tuple((name, extent) for name, extent in statement.params if _mentions(statement.target, name))


def _mentions(access: Access, symbol: str) -> bool:
    from sdfgad.ir.expr import Int, symbols_of

    return any(symbol in symbols_of(Int(lin)) for lin in access.index)
