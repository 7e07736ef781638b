"""Code motion of clears: an adjoint that each trip of a loop zeroes at its end is zeroed at the trip's start instead.

An adjoint of a temporary is cleared before the loop, and again when its statement has been reversed: it is zero
whenever a trip begins. Cleared at the start of the trip instead, it carries no value from trip to trip. Then its first
contribution can assign it (`first_assign`), and it can be contracted (`contract`).

If it is read after the loop, what the trips clear is cleared once more there:
``a = 0; loop: (a[1:] += e; …; a[1:] = 0)`` becomes ``a = 0; loop: (a[1:] = 0; a[1:] += e; …); a[1:] = 0``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sdfgad.dependence.intervals import interval
from sdfgad.dependence.regions import is_same_region, is_whole
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Int, Lin, reads, symbols_of
from sdfgad.ir.program import Block, Branch, Buffer, Compute, Loop, Program, Statement, reads_of
from sdfgad.optimise.accumulation.first_assign import is_clear


def clear_early(program: Program) -> Program:
    """The program with the clears of such buffers at the start of the trips."""
    for name in program.buffers:
        if name not in program.interface:
            program = _moved(program, name)
    return program


def _moved(program: Program, name: str) -> Program:
    users = program.users.get(name, ())
    if len(users) < 2:
        return program
    first, second, *later = users
    is_start = isinstance(first, Compute) and is_clear(first, 0.0) and is_whole(program.buffers, first)
    if not is_start or not isinstance(second, Loop) or second.is_open:
        return program
    loop = None if later else _in_loop(program, second, name)
    if loop is None:
        return program.with_body(_with(program.body, second, _rotated(program, second, name, bool(later))))
    body = tuple(loop if s is second else s for s in program.body if s is not first)
    return program.with_body(body)


def _rotated(program: Program, loop: Loop, name: str, is_needed: bool) -> Block:
    """The loop with the clear at the start of each trip; followed by the clear once more, if that is needed.

    The elements are zero when the loop begins.
    """
    found = [s for s in loop.body if name in s.mentioned]
    last = found[-1]
    if len(found) < 2 or not isinstance(last, Compute) or not is_clear(last, 0.0) or not _is_fixed(last, loop):
        return (loop,)
    if is_needed and not (_runs(loop) or _is_inside(program.buffers, last)):
        # Without trips there need be no such elements.
        return (loop,)
    body = tuple(s for s in loop.body if s is not last)
    turned = replace(loop, body=_with(body, found[0], (last, found[0])))
    return (turned, last) if is_needed else (turned,)


def _is_fixed(clear: Compute, loop: Loop) -> bool:
    """Whether a clear sets the same elements in all trips."""
    forms = [Int(form) for form in (*clear.target.index, *(extent for _, extent in clear.params))]
    return not reads(*forms) and all(loop.var not in symbols_of(form) for form in forms)


def _runs(loop: Loop) -> bool:
    return loop.trips.is_const and loop.trips.const > 0


def _is_inside(buffers: Mapping[str, Buffer], clear: Compute) -> bool:
    """Whether all elements that a clear sets are certainly in bounds."""
    spans = [interval(form, dict(clear.params)) for form in clear.target.index]
    shape = buffers[clear.target.buffer].shape
    return all(
        span is not None and span[0] == Lin(0) and extent.is_const and 0 <= span[1] <= span[2] < extent.const
        for span, extent in zip(spans, shape, strict=True)
    )


def _in_loop(program: Program, loop: Loop, name: str) -> Loop | None:
    """The loop with the clear at the start of its trips; None if that would change results."""
    body = None if loop.is_open else _in_block(program, loop.body, name)
    return None if body is None else replace(loop, body=body)


def _in_block(program: Program, block: Block, name: str) -> Block | None:
    """A block, before and after which a buffer is zero, with the clear at its start or in a nested block."""
    found = [s for s in block if name in s.mentioned]
    nested = _nested(program, found[0], name) if len(found) == 1 else None
    if nested is not None:
        return _with(block, found[0], (nested,))
    last = found[-1]
    if isinstance(last, Branch):
        return _before_branch(program, block, found, name)
    if len(found) < 2 or not isinstance(last, Compute) or not is_clear(last, 0.0):
        return None
    if not is_whole(program.buffers, last) and not all(_is_within(s, last, name) for s in found[:-1]):
        return None
    body = tuple(s for s in block if s is not last)
    position = next(k for k, s in enumerate(body) if name in s.mentioned)
    return (*body[:position], last, *body[position:])


def _before_branch(program: Program, block: Block, found: list[Statement], name: str) -> Block | None:
    """The same if the last statement that mentions the buffer is a branch that clears it on both sides."""
    last, first = found[-1], found[0]
    assert isinstance(last, Branch)
    ends = [next((s for s in reversed(side) if name in s.mentioned), None) for side in (last.then, last.orelse)]
    clears = [s for s in ends if isinstance(s, Compute) and is_clear(s, 0.0) and is_whole(program.buffers, s)]
    if len(clears) < 2:
        return None
    then, orelse = (
        tuple(s for s in side if s is not clear) for side, clear in zip((last.then, last.orelse), clears, strict=True)
    )
    changed = _with(block, last, (replace(last, then=then, orelse=orelse),))
    position = next(k for k, s in enumerate(block) if s is first)
    return (*changed[:position], clears[0], *changed[position:])


def _nested(program: Program, statement: Statement, name: str) -> Statement | None:
    """A loop, or a branch of which one side mentions the buffer, with the clear inside."""
    if isinstance(statement, Loop):
        return _in_loop(program, statement, name)
    if not isinstance(statement, Branch) or any(read.buffer == name for read in reads_of(statement)):
        return None
    sides = [any(name in s.mentioned for s in side) for side in (statement.then, statement.orelse)]
    if all(sides):
        return None
    side = _in_block(program, statement.then if sides[0] else statement.orelse, name)
    if side is None:
        return None
    return replace(statement, then=side) if sides[0] else replace(statement, orelse=side)


def _with(block: Block, old: Statement, new: Block) -> Block:
    return tuple(s for one in block for s in (new if one is old else (one,)))


def _is_within(statement: Statement, clear: Compute, name: str) -> bool:
    """Whether a statement touches no elements of the buffer other than those that are cleared."""
    if not isinstance(statement, Compute):
        return False
    writes = statement.target.buffer == name
    if writes and not is_same_region(clear, statement):
        return False
    touched = [use for use in uses_of(statement) if use.buffer == name and use.kind == "read"]
    as_read = (replace(statement, target=replace(clear.target, index=use.index)) for use in touched)
    return all(is_same_region(clear, one) for one in as_read)
