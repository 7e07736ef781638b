"""Runs statements over the same box together: one loop over their common axis, and again within it.

A value that one statement makes and the next one reads is then still in a register or in the cache. Statements share a
loop if no trip of one meets another trip of the other at an element whose value depends on their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sdfgad.ir.expr import Const, rewrite
from sdfgad.ir.linear import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, Loop, Program, Statement, walk
from sdfgad.lowering.blas import product_of
from sdfgad.analysis.accesses import Use, are_apart, commute, is_same_trip, mentions, own_params, uses_of
from sdfgad.optimize.blocks import everywhere

# How many groups back a statement may join one.
WINDOW = 16
# How many statements share a loop: their arrays compete for registers and for the cache.
MOST_MEMBERS = 24


def fuse(program: Program) -> Program:
    """The program with such statements in parallel loops."""
    taken = {*program.buffers, *program.integers}
    taken |= {s.var for s in walk(program.body) if isinstance(s, Loop)}
    taken |= {name for s in walk(program.body) if isinstance(s, Compute) for name, _ in s.params}
    fusion = _Fusion(program, Names(taken))
    return program.with_body(everywhere(program.body, fusion.block))


@dataclass
class _Group:
    """Statements that share a loop, each with the name of its own counter."""

    extent: Lin
    members: list[tuple[Compute, str]]

    @property
    def statements(self) -> list[Statement]:
        return [statement for statement, _ in self.members]


class _Fusion:
    def __init__(self, program: Program, names: Names) -> None:
        self.buffers, self.names = program.buffers, names

    def block(self, block: Block) -> Block:
        groups: list[_Group | Statement] = []
        for statement in (part for one in block for part in _in_parts(one)):
            lead = self._lead(statement)
            if lead is None:
                groups.append(statement)
                continue
            assert isinstance(statement, Compute)
            group = self._home(groups, statement, lead)
            if group is None:
                groups.append(_Group(dict(statement.params)[lead], [(statement, lead)]))
            else:
                group.members.append((statement, lead))
        return tuple(self._emitted(group) for group in groups)

    def _lead(self, statement: Statement) -> str | None:
        """The parameter that a statement would run outermost; None if it is to be left alone."""
        if not isinstance(statement, Compute) or not statement.params or is_left_alone(statement, self.buffers):
            return None
        own = own_params(statement)
        name = own[0][0] if own else statement.params[0][0]
        (target,) = (use for use in uses_of(statement) if use.kind != "read")
        if not mentions(target, name):
            return name if statement.accumulate == "add" and not statement.fresh else None
        is_clean = is_same_trip(target, target, name, name) or target.is_once
        return name if is_clean else None

    def _home(self, groups: list[_Group | Statement], statement: Compute, lead: str) -> _Group | None:
        """The latest group that a statement can join without passing something that it depends on."""
        for group in list(reversed(groups))[:WINDOW]:
            if isinstance(group, _Group) and self._fits(group, statement, lead):
                return group
            passed = group.statements if isinstance(group, _Group) else [group]
            if not all(commute(one, statement) for one in passed):
                return None
        return None

    def _fits(self, group: _Group, statement: Compute, lead: str) -> bool:
        if dict(statement.params)[lead] != group.extent or len(group.members) >= MOST_MEMBERS:
            return False
        mine = uses_of(statement)
        shares = {use.buffer for use in mine if use.index}
        if all(shares.isdisjoint(use.buffer for use in uses_of(other)) for other in group.statements):
            return False
        return all(_runs_along(other, var, statement, lead) for other, var in group.members)

    def _emitted(self, group: _Group | Statement) -> Statement:
        if not isinstance(group, _Group):
            return group
        if len(group.members) == 1:
            return group.members[0][0]
        var = self.names.fresh("f")
        body = self.block(tuple(hoisted(statement, name, var) for statement, name in group.members))
        counter = Lin.symbol(var)
        guards = (counter, group.extent - counter - 1)
        where = group.members[0][0].where
        return Loop(var, group.extent, body, guards, where=where, is_parallel=True)


def _in_parts(statement: Statement) -> Block:
    """A sum into one element as its clear and its contributions, which may share a loop with others."""
    if not isinstance(statement, Compute) or not statement.fresh or own_params(statement):
        return (statement,)
    if statement.accumulate != "add":
        return (statement,)
    clear = replace(statement, params=(), value=Const(0, statement.value.dtype), accumulate=None, fresh=False)
    return clear, replace(statement, fresh=False)


def is_left_alone(statement: Compute, buffers: Mapping[str, Buffer]) -> bool:
    """Whether a statement is better run by itself: a matrix product, which a library does."""
    return product_of(statement, buffers) is not None


def _runs_along(a: Compute, of_a: str, b: Compute, of_b: str) -> bool:
    """Whether the trips of two statements may run together: each of one with the same of the other."""
    return all(_meets_in_step(x, y, of_a, of_b) for x in uses_of(a) for y in uses_of(b))


def _meets_in_step(x: Use, y: Use, of_x: str, of_y: str) -> bool:
    if x.buffer != y.buffer or (x.kind == y.kind == "read"):
        return True
    if is_same_trip(x, y, of_x, of_y) or are_apart(x, y):
        return True
    # Two sums into one element that is the same for all trips are one sum.
    are_sums = x.kind == y.kind == "add" and x.index == y.index
    return are_sums and not mentions(x, of_x) and not mentions(y, of_y)


def hoisted(statement: Compute, name: str, counter: str) -> Compute:
    """A statement at one value of a parameter, which is a counter around it."""
    symbols = {name: Lin.symbol(counter)}
    params = tuple((n, extent.substitute(symbols)) for n, extent in statement.params if n != name)
    target = Access(statement.target.buffer, tuple(_index(lin, symbols) for lin in statement.target.index))
    return replace(statement, params=params, target=target, value=rewrite(statement.value, symbols))


def _index(lin: Lin, symbols: dict[str, Lin]) -> Lin:
    return lin.substitute(symbols, lambda atom: rewrite(atom, symbols))
