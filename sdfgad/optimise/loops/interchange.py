"""Loop interchange: a sequential loop moves into the parallel loop that is its whole body, if that runs along memory.

``for j: for f: t[f, j] = … t[f, j - 1] …`` touches another cache line at every point; after the interchange each row is
done at once, and the value that is carried from trip to trip can stay in a register.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.dependence.order import are_independent
from sdfgad.dependence.uses import Use, own_params, uses_of
from sdfgad.ir.expr import symbols_in
from sdfgad.ir.program import Compute, Loop, Statement


def interchanged(statement: Statement) -> Statement:
    """The statement with its loops interchanged, if that is legal and better."""
    if not isinstance(statement, Loop) or statement.is_parallel or statement.is_open or len(statement.body) != 1:
        return statement
    inner = _as_loop(statement.body[0])
    if not isinstance(inner, Loop) or not inner.is_parallel or not _is_rectangular(statement, inner):
        return statement
    uses = uses_of(statement)
    if not _is_better(uses, statement.var, inner.var) or not are_independent(uses, inner.var):
        return statement
    return replace(inner, body=(interchanged(replace(statement, body=inner.body)),))


def _as_loop(statement: Statement) -> Statement:
    """An assignment over a box as a loop over its first axis."""
    if not isinstance(statement, Compute) or statement.accumulate or not statement.params:
        return statement
    own = own_params(statement)
    if len(own) < len(statement.params):
        return statement
    (name, extent), *rest = own
    return Loop.over(name, extent, (replace(statement, params=tuple(rest)),), statement.where, is_parallel=True)


def _is_rectangular(outer: Loop, inner: Loop) -> bool:
    return outer.var not in symbols_in((inner.trips, inner.start)) and all(
        lin.is_affine for lin in (outer.trips, outer.start, inner.trips)
    )


def _is_better(uses: tuple[Use, ...], outer: str, inner: str) -> bool:
    """Whether, of the accesses that the outer loop moves, more run along memory with it than with the inner loop.

    Sums over the inner loop stay sums over its vectors: with the outer loop inside each would end in every trip.
    """
    moved = [use for use in uses if use.mentions(outer)]
    is_sum = any(use.kind == "add" and not use.mentions(inner) for use in moved)
    return not is_sum and _along(moved, outer) > _along(moved, inner)


def _along(uses: list[Use], counter: str) -> int:
    return sum(abs(use.index[-1].coefficient(counter)) == 1 for use in uses if use.index)
