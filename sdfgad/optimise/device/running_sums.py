"""Reduction recognition: what each trip of a loop adds to a total becomes a contribution, which others may overtake.

``total = total + f(i)`` is ``total += f(i)``, and so is ``old = total; …; total = old + f(i)``, as Python evaluates
``total += f(i)`` where `f` is a function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from sdfgad.dependence.regions import is_whole
from sdfgad.ir.expr import Expr, Read, reads
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    rewrite_statement,
    touch_counts,
    transform,
)
from sdfgad.optimise.sums.terms import increment


def running_sums(program: Program) -> Program:
    """The program with such sums in loops."""
    users = touch_counts(program.body)
    temporary = frozenset(n for n in program.buffers if users[n] == 2 and n not in program.interface)
    each = partial(_of_loop, buffers=program.buffers, temporary=temporary)
    return program.with_body(transform(program.body, each))


def _of_loop(statement: Statement, buffers: Mapping[str, Buffer], temporary: frozenset[str]) -> Block:
    if not isinstance(statement, Loop) or statement.is_parallel:
        return (statement,)
    body = list(statement.body)
    for copy in statement.body:
        if _is_snapshot(copy, buffers, temporary):
            _join(body, copy)
    sums = [_added(s, s.target) if isinstance(s, Compute) else None for s in body]
    names = {one.target.buffer for one in sums if one is not None}
    # What else reads the total needs it in order.
    names -= {name for s, one in zip(body, sums, strict=True) for name in s.mentioned - _only_added(one or s)}
    found = (one if one and one.target.buffer in names else s for s, one in zip(body, sums, strict=True))
    return (replace(statement, body=tuple(found)),) if names else (statement,)


def _only_added(statement: Statement) -> frozenset[str]:
    """What a statement only adds to."""
    if not isinstance(statement, Compute) or statement.accumulate != "add" or statement.fresh:
        return frozenset()
    return frozenset((statement.target.buffer,)) - {read.buffer for read in statement.read}


def _is_snapshot(statement: Statement, buffers: Mapping[str, Buffer], temporary: frozenset[str]) -> bool:
    """Whether a statement copies all of a buffer to a temporary that one other statement reads."""
    if not isinstance(statement, Compute) or statement.accumulate or not isinstance(statement.value, Read):
        return False
    source, target = statement.value, statement.target
    is_same = source.index == target.index and source.dtype == buffers[target.buffer].dtype
    is_copy = is_same and source.buffer != target.buffer and target.buffer in temporary
    return is_copy and buffers[source.buffer].shape == buffers[target.buffer].shape and is_whole(buffers, statement)


def _join(body: list[Statement], copy: Statement) -> None:
    """Removes a copy that is added to where the next statement that mentions the buffer assigns that sum to it."""
    assert isinstance(copy, Compute)
    assert isinstance(copy.value, Read)
    of, old = copy.value.buffer, copy.target.buffer
    first = next(k for k, s in enumerate(body) if s is copy)
    last = next((k for k, s in enumerate(body) if k > first and of in s.mentioned), None)
    statement = body[last] if last is not None else None
    if last is None or not isinstance(statement, Compute) or statement.target.buffer != of:
        return
    snapshot = Access(old, statement.target.index)
    found = _added(statement, snapshot)
    if found is not None and old not in found.mentioned:
        own: dict[Expr, Expr] = {snapshot.read(copy.value.dtype): statement.target.read(copy.value.dtype)}
        body[last] = rewrite_statement(statement, replace_node=own.get)
        del body[first]


def _added(statement: Compute, own: Access) -> Compute | None:
    """An assignment as a contribution, if it is the sum of an old value and of what does not depend on the target."""
    value, target = statement.value, statement.target
    added = increment(own, value) if statement.accumulate is None else None
    if added is None or value.dtype.kind not in "fc" or not all(form.is_affine for form in target.index):
        return None
    is_read = any(read.buffer == target.buffer for read in reads(added))
    return None if is_read else replace(statement, value=added, accumulate="add")
