"""Reduction recognition: assignments that only add to what is there, as contributions, which may come in any order.

Passes make one assignment of several contributions, ``x[i] = (i < n ? x[i] + a : x[i]) + b``: that adds
``(i < n ? a : 0) + b``.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import Const, Expr, Op, reads
from sdfgad.ir.program import Block, Compute, Loop, Statement, computes, transform, walk


def with_contributions(loop: Loop) -> Loop:
    """The loop with contributions to what it only adds to."""
    found = {one: added for one in computes(loop.body) if (added := as_contribution(one)) is not None}
    names = {one.target.buffer for one in found}
    names -= {name for s in walk((loop,)) for name in s.touched - _only_added(s, found)}

    def each(statement: Statement) -> Block:
        is_one = isinstance(statement, Compute) and statement.target.buffer in names
        return (found.get(statement, statement),) if is_one and isinstance(statement, Compute) else (statement,)

    return replace(loop, body=transform(loop.body, each, names)) if names else loop


def _only_added(statement: Statement, found: dict[Compute, Compute]) -> frozenset[str]:
    """What a statement only adds to, once it is a contribution."""
    if not isinstance(statement, Compute):
        return frozenset()
    one = found.get(statement, statement)
    is_sum = one.accumulate == "add" and not one.fresh
    return frozenset((one.target.buffer,)) - {read.buffer for read in one.read} if is_sum else frozenset()


def as_contribution(statement: Compute) -> Compute | None:
    """An assignment of the old value and more to an element as a contribution; None if it does something else."""
    target, value = statement.target, statement.value
    if statement.accumulate is not None or value.dtype.kind not in "fc":
        return None
    added = _less(value, target.read(value.dtype))
    is_read = added is None or any(read.buffer == target.buffer for read in reads(added))
    return None if added is None or is_read else replace(statement, value=added, accumulate="add")


def _less(value: Expr, own: Expr) -> Expr | None:
    """A value less the old one, where it is that and something more on each way."""
    if value is own:
        return Const(0, own.dtype)
    if not isinstance(value, Op) or value.dtype != own.dtype:
        return None
    if value.name == "select":
        condition, *sides = value.args
        less = [_less(side, own) for side in sides]
        return None if None in less else Op("select", (condition, *(s for s in less if s is not None)), own.dtype)
    if value.name not in ("add", "subtract"):
        return None
    left, right = value.args
    if (found := _less(left, own)) is not None:
        if found is not Const(0, own.dtype):
            return Op(value.name, (found, right), own.dtype)
        return right if value.name == "add" else Op("negative", (right,), own.dtype)
    return _less(Op("add", (right, left), own.dtype), own) if value.name == "add" and _less(right, own) else None
