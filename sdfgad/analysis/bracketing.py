"""Bracketing: loops that narrow an interval by comparisons alone, as bisection does.

``if f(mid, a) > 0: hi = mid`` and ``else: lo = mid``: which end moves depends on ``a``, the ends themselves do not in a
differentiable way. So where the interval ends has no derivative by ``a``, which users may not expect.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sdfgad.analysis.activity import Dependences, active_buffers
from sdfgad.errors import Location
from sdfgad.ir.expr import Expr, Op, Read, reads
from sdfgad.ir.program import Block, Branch, Compute, Loop, Program, Statement, reads_of, walk, written


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
    """An end of an interval that becomes a value where a test holds, or (`is_then` is false) where it does not."""

    end: str
    value: frozenset[str]
    condition: frozenset[str]
    test: Hashable
    is_then: bool
    where: Location | None

    def is_beside(self, other: _Move) -> bool:
        """Whether two ends become what is computed of both alone, one where a test holds, the other where not."""
        is_one_test = self.test == other.test and self.is_then != other.is_then
        return is_one_test and {self.end, other.end} == self.value == other.value


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
    """The two ends of each interval that a trip narrows."""
    floating = {name for name, buffer in program.buffers.items() if buffer.is_floating}
    if len(floating.intersection(one.target.buffer for one in _choices(loop.body))) < 2:
        return
    moves = [move for move in _moves(loop.body, _Trip.of(tuple(walk(loop.body)))) if move.end in floating]
    # Where one end moves, the other one stays.
    moved = {(move.end, move.test, move.is_then) for move in moves}
    ends = [move for move in moves if len(move.value) == 2 and move.end in move.value]
    ends = [
        move for move in ends if moved.isdisjoint((end, move.test, move.is_then) for end in move.value - {move.end})
    ]
    for number, first in enumerate(ends):
        yield from ((first, second) for second in ends[number + 1 :] if first.is_beside(second))


def _choices(block: Block) -> Iterator[Compute]:
    """The statements that run where a condition holds, or choose by one."""
    for one in walk(block):
        if isinstance(one, Branch):
            yield from (statement for statement in (*one.then, *one.orelse) if isinstance(statement, Compute))
        elif isinstance(one, Compute) and isinstance(one.value, Op) and one.value.name == "select":
            yield one


@dataclass(frozen=True)
class _Trip:
    """A trip of a loop: its local names, which one statement computes before others read them.

    Attributes:
        values: what they are.
        expanded: the names from before the trip of which they are computed.
    """

    values: Mapping[str, Expr]
    expanded: Mapping[str, frozenset[str]]

    @staticmethod
    def of(body: tuple[Statement, ...]) -> _Trip:
        writers, exposed = dict[str, int](), set[str]()
        computes = [one for one in body if isinstance(one, Compute)]
        for one in body:
            exposed |= {read.buffer for read in reads_of(one)} - writers.keys()
            if isinstance(one, Compute):
                writers[one.target.buffer] = writers.get(one.target.buffer, 0) + 1
        local = [one for one in computes if writers[one.target.buffer] == 1 and one.target.buffer not in exposed]
        trip = _Trip({one.target.buffer: one.value for one in local}, expanded := {})
        for one in local:
            expanded[one.target.buffer] = trip.sources(one.value)
        return trip

    def sources(self, expression: Expr) -> frozenset[str]:
        """The names from before the trip of which an expression is computed."""
        read = {one.buffer for one in reads(expression)}
        return frozenset().union(*(self.expanded.get(name, {name}) for name in read))

    def test(self, condition: Expr, is_then: bool) -> tuple[Hashable, bool]:
        """A condition by the name that holds it, and whether it is that or its negation."""
        if isinstance(condition, Op) and condition.name in ("invert", "logical_not"):
            return self.test(condition.args[0], not is_then)
        if not isinstance(condition, Read):
            return condition, is_then
        value = self.values.get(condition.buffer)
        is_negation = isinstance(value, Op) and value.name in ("invert", "logical_not")
        return self.test(value, is_then) if value is not None and is_negation else (condition.buffer, is_then)


def _moves(block: Block, trip: _Trip) -> Iterator[_Move]:
    for one in block:
        if isinstance(one, Branch):
            for side, is_then in ((one.then, True), (one.orelse, False)):
                for statement in side:
                    if isinstance(statement, Compute):
                        yield _move(statement, statement.value, one.condition, is_then, trip)
                yield from _moves(side, trip)
        elif isinstance(one, Compute) and isinstance(one.value, Op) and one.value.name == "select":
            condition, *sides = one.value.args
            kept = [isinstance(side, Read) and side.buffer == one.target.buffer for side in sides]
            if kept.count(True) == 1:
                is_then = not kept[0]
                yield _move(one, sides[0 if is_then else 1], condition, is_then, trip)


def _move(statement: Compute, value: Expr, condition: Expr, is_then: bool, trip: _Trip) -> _Move:
    test, is_then = trip.test(condition, is_then)
    sources = trip.sources(value), trip.sources(condition)
    return _Move(statement.target.buffer, *sources, test, is_then, statement.where)
