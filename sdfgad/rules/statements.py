"""The adjoint of one statement, by how it accumulates.

A rule returns a `Pullback`: cotangents of what the statement reads, whether the target's own cotangent ends with
the statement, and statements that must come first. It never accumulates, clears or stores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sdfgad.ir.expr import Expr, Lin, Read, symbols_in
from sdfgad.ir.program import Accumulate, Compute
from sdfgad.rules.algebra import compare, const, div, select
from sdfgad.rules.expression import pullback


@dataclass(frozen=True)
class Total:
    """What the points that share a target element give together: ``name = start``, then ``name accumulate= value``.

    It is read as an element of `name`, which is no name of a program, at the target's index.
    """

    name: str
    start: Expr
    accumulate: Accumulate
    value: Expr


@dataclass(frozen=True)
class Pullback:
    """What flows back through a statement.

    Attributes:
        cotangents: for each read of an active buffer, its cotangent at every point of the statement's box.
        ends_target: whether the value that the target had before does not matter to the value it has after.
        totals: what must be known of each target element first, for `cotangents` and for later totals.
        uses_result: whether `cotangents` read the target as the statement leaves it.
    """

    cotangents: tuple[tuple[Read, Expr], ...]
    ends_target: bool
    totals: tuple[Total, ...] = ()
    uses_result: bool = False


TOP, COUNT = "<top>", "<count>"
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
    """The elements that attain the extremum share the cotangent evenly.

    The extremum is found again, from the very elements that are compared with it: where these are made again and it is
    kept, they may be rounded otherwise, and none would attain it.
    """
    value, index = statement.value, statement.target.index
    one, zero = const(1, value), const(0, value)
    attains = compare("equal", value, Read(TOP, index, value.dtype))
    kind: Accumulate = "maximum" if statement.accumulate == "maximum" else "minimum"
    lowest = const(-math.inf if kind == "maximum" else math.inf, value)
    totals = (
        Total(TOP, lowest, kind, value),
        Total(COUNT, zero, "add", select(attains, one, zero)),
    )
    share = select(attains, div(t, Read(COUNT, index, value.dtype)), zero)
    return Pullback(tuple(pullback(value, share, active, statement.where)), True, totals)


def target_params(statement: Compute) -> tuple[tuple[str, Lin], ...]:
    """The parameters of the box that select the target element; the others are summed over."""
    names = symbols_in(statement.target.index)
    return tuple((name, extent) for name, extent in statement.params if name in names)
