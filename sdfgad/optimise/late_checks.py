"""Loop fusion of checks: a loop that only checks moves into a later loop over the same trips.

``loop i: for p: status max= …`` and the later ``loop backwards i: for p: …`` read the same rows, which are then read
once. Checks may run at any time, as `status` is read only after the program has ended.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import (
    Block,
    Compute,
    Loop,
    Program,
    Statement,
    reads_of,
    rewrite_statement,
    transform,
    walk,
    writes_of,
)

# How many statements later.
WINDOW = 16


def check_late(program: Program) -> Program:
    """The program with such checks in the later loops."""
    body = list(program.body)
    for position in reversed(range(len(body))):
        loop = body[position]
        if not isinstance(loop, Loop) or not _only_checks(loop.body):
            continue
        home = _home(loop, body[position + 1 : position + 1 + WINDOW], {*program.inputs})
        if home is not None:
            other = body[position + 1 + home]
            assert isinstance(other, Loop)
            body[position + 1 + home] = replace(other, body=(*_renamed(loop, other.var), *other.body))
            del body[position]
    return program.with_body(tuple(body))


def _only_checks(block: Block) -> bool:
    """Whether a block consists of checks only."""
    return all(_is_check(statement) for statement in block)


def _is_check(statement: Statement) -> bool:
    if not isinstance(statement, Compute) or statement.target.buffer != "status":
        return False
    return statement.accumulate == "maximum" and not statement.fresh


def _home(loop: Loop, later: list[Statement], inputs: set[str]) -> int | None:
    """The position of a later loop over the same trips, if no statement up to it changes what is checked."""
    needed = {read.buffer for statement in walk((loop,)) for read in reads_of(statement)}
    for position, statement in enumerate(later):
        read = {read.buffer for s in walk((statement,)) for read in reads_of(s)}
        made = {access.buffer for s in walk((statement,)) if not _is_check(s) for access, _ in writes_of(s)}
        if "status" in read or made & {*needed, "status"}:
            return None
        # Nothing is to be kept for longer.
        is_there = bool(needed & read) and needed <= read | inputs
        if is_there and isinstance(statement, Loop) and _is_alike(statement, loop):
            return position
    return None


def _is_alike(loop: Loop, other: Loop) -> bool:
    """Whether loops have the same trips, known before they run, and the first one is not parallel."""
    are_plain = not loop.is_open and not other.is_open and not reads_of(loop) and not reads_of(other)
    return are_plain and (loop.start, loop.trips) == (other.start, other.trips) and not loop.is_parallel


def _renamed(loop: Loop, var: str) -> Block:
    return transform(loop.body, lambda s: (rewrite_statement(s, {loop.var: Lin.symbol(var)}),))
