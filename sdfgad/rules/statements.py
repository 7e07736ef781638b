"""The adjoint of one statement, by how it accumulates.

A rule returns a `Pullback`: cotangents of what the statement reads, whether the target's own cotangent ends with
the statement, and statements that must come first. It never accumulates, clears or stores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from sdfgad.ir.expr import Expr, Lin, Read, rewrite, symbols_in
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Accumulate, Buffer, Compute
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
    share, totals = extremum_share(statement, t)
    return Pullback(tuple(pullback(statement.value, share, active, statement.where)), True, totals)


def extremum_share(statement: Compute, t: Expr) -> tuple[Expr, tuple[Total, ...]]:
    """At each point, its part of `t`: 0, or t divided by the number of elements that attain the extremum."""
    value, index = statement.value, statement.target.index
    one, zero = const(1, value), const(0, value)
    attains = compare("equal", value, Read(TOP, index, value.dtype))
    kind: Accumulate = "maximum" if statement.accumulate == "maximum" else "minimum"
    lowest = const(-math.inf if kind == "maximum" else math.inf, value)
    totals = (
        Total(TOP, lowest, kind, value),
        Total(COUNT, zero, "add", select(attains, one, zero)),
    )
    return select(attains, div(t, Read(COUNT, index, value.dtype)), zero), totals


def stored_totals(
    statement: Compute, totals: tuple[Total, ...], like: Buffer, buffers: dict[str, Buffer], names: Names
) -> tuple[tuple[Compute, ...], Callable[[Expr], Expr]]:
    """The statements that compute totals into storage shaped like the target, and what makes expressions read it.

    The storage is added to `buffers`.
    """
    places: dict[str, Access] = {}

    def stored(node: Expr) -> Expr | None:
        return places[node.buffer].read(node.dtype) if isinstance(node, Read) and node.buffer in places else None

    def reading(expr: Expr) -> Expr:
        return rewrite(expr, replace=stored)

    first: list[Compute] = []
    for total in totals:
        value = reading(total.value)
        buffer = replace(like, name=names.fresh(f"{like.name}_{total.name.strip('<>')}"), dtype=value.dtype)
        buffers[buffer.name] = buffer
        place = Access(buffer.name, statement.target.index)
        first.append(Compute(target_params(statement), place, total.start, None, statement.where))
        first.append(Compute(statement.params, place, value, total.accumulate, statement.where))
        places[total.name] = place
    return tuple(first), reading


def target_params(statement: Compute) -> tuple[tuple[str, Lin], ...]:
    """The parameters of the box that select the target element; the others are summed over."""
    names = symbols_in(statement.target.index)
    return tuple((name, extent) for name, extent in statement.params if name in names)
