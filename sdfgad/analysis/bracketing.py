"""Bracketing: loops that narrow an interval by comparisons alone, as bisection does.

``if f(mid, a) > 0: hi = mid`` and ``else: lo = mid``: which end moves depends on ``a``, the ends themselves do not in a
differentiable way. So where the interval ends has no derivative by ``a``, which users may not expect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sdfgad.analysis.activity import Dependences, active_buffers
from sdfgad.errors import Location
from sdfgad.ir.expr import Expr, Op, Read, reads
from sdfgad.ir.program import Block, Branch, Compute, Loop, Program, Statement, reads_of, walk, written

# The buffers that the loop has before the trip, of which an expression in it is computed.
Sources = Callable[[Expr], frozenset[str]]


@dataclass(frozen=True)
class Bracketing:
    """A loop that narrows an interval, and the inputs that decide how, but not differentiably.

    Attributes:
        inputs: buffers of the program.
        where: the statement that moves one end.
    """

    inputs: frozenset[str]
    where: Location | None


@dataclass(frozen=True)
class _Move:
    """An end of an interval that becomes a value where a condition holds, or where it does not."""

    end: str
    value: frozenset[str]
    condition: frozenset[str]
    where: Location | None


def bracketings(program: Program, wrt: Iterable[str], output: str, dependences: Dependences) -> Iterator[Bracketing]:
    """The loops in which comparisons that depend on `wrt` narrow an interval on whose ends the output depends.

    Args:
        dependences: the reads through which a statement's value varies differentiably.
    """
    found = [pair for loop in walk(program.body) if isinstance(loop, Loop) for pair in _pairs(program, loop)]
    if not found:
        return
    wrt = tuple(wrt)
    _, useful = active_buffers(program, wrt, output, dependences)
    # A loop around has the same statements.
    for first, second in {(first.end, second.end): (first, second) for first, second in found}.values():
        ends = {first.end, second.end}
        if ends.isdisjoint(useful):
            continue
        # Not by the ends themselves: of those the function of which a root is sought may be a constant one.
        others, condition = _without(dependences, ends), first.condition - ends
        inputs = {one for one in wrt if not _varied(program, one, others).isdisjoint(condition)}
        if inputs:
            yield Bracketing(frozenset(inputs), first.where)


def _varied(program: Program, name: str, dependences: Dependences) -> set[str]:
    """The buffers that depend on an input."""
    edges = [
        (target, read.buffer)
        for statement in walk(program.body)
        for target in written((statement,))
        for read in dependences(statement)
    ]
    found, before = {name}, 0
    while before != len(found):
        before = len(found)
        found |= {target for target, source in edges if source in found}
    return found


def _without(dependences: Dependences, ends: set[str]) -> Dependences:
    return lambda statement: [read for read in dependences(statement) if read.buffer not in ends]


def _pairs(program: Program, loop: Loop) -> Iterator[tuple[_Move, _Move]]:
    """Two ends, each of which becomes what is computed of both alone."""
    floating = {name for name, buffer in program.buffers.items() if buffer.is_floating}
    if len(floating.intersection(one.target.buffer for one in _choices(loop.body))) < 2:
        return
    moves = _moves(loop.body, _sources_in(tuple(walk(loop.body))))
    ends = [move for move in moves if move.end in floating and len(move.value) == 2 and move.end in move.value]
    for number, first in enumerate(ends):
        for second in ends[number + 1 :]:
            if {first.end, second.end} == first.value == second.value and first.condition == second.condition:
                yield first, second


def _sources_in(body: tuple[Statement, ...]) -> Sources:
    """What expands the names that one statement of a trip computes, before others read them."""
    writers, exposed = dict[str, int](), set[str]()
    for one in body:
        exposed |= {read.buffer for read in reads_of(one)} - writers.keys()
        for name in written((one,)) if isinstance(one, Compute) else ():
            writers[name] = writers.get(name, 0) + 1
    expanded = dict[str, frozenset[str]]()

    def sources(expression: Expr) -> frozenset[str]:
        read = {one.buffer for one in reads(expression)}
        return frozenset().union(*(expanded.get(name, {name}) for name in read))

    for one in body:
        if isinstance(one, Compute) and writers[one.target.buffer] == 1 and one.target.buffer not in exposed:
            expanded[one.target.buffer] = sources(one.value)
    return sources


def _choices(block: Block) -> Iterator[Compute]:
    """The statements that run where a condition holds, or choose by one."""
    for one in walk(block):
        if isinstance(one, Branch):
            yield from (statement for statement in (*one.then, *one.orelse) if isinstance(statement, Compute))
        elif isinstance(one, Compute) and isinstance(one.value, Op) and one.value.name == "select":
            yield one


def _moves(block: Block, sources: Sources) -> Iterator[_Move]:
    for one in block:
        if isinstance(one, Branch):
            for statement in (*one.then, *one.orelse):
                if isinstance(statement, Compute):
                    yield _Move(statement.target.buffer, sources(statement.value), sources(one.condition), one.where)
            yield from _moves((*one.then, *one.orelse), sources)
        elif isinstance(one, Compute) and isinstance(one.value, Op) and one.value.name == "select":
            yield from _chosen(one, one.value, sources)


def _chosen(statement: Compute, value: Op, sources: Sources) -> Iterator[_Move]:
    """``lo = np.where(condition, mid, lo)``."""
    end, (condition, *sides) = statement.target.buffer, value.args
    kept = [side for side in sides if isinstance(side, Read) and side.buffer == end]
    for side in sides:
        if kept and side not in kept:
            yield _Move(end, sources(side), sources(condition), statement.where)
