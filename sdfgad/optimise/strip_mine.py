"""Strip-mining: long loops over the same arrays that cannot be fused run together, a strip at a time.

In ``for p: t[p] = …; for p: h[t[p]] += x[p]`` the second loop scatters; fused with it, the first one would not be
vectorised. In strips of about a thousand points, which each loop goes over in turn, what one loop has written or read
is still in the cache for the next one: ``for s: for p: t[s, p] = …; for p: h[t[s, p]] += …``. Neighbouring loops that
scatter are fused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sdfgad.ir.accesses import commute
from sdfgad.ir.expr import Int, Lin, reads
from sdfgad.ir.program import (
    Block,
    Compute,
    Loop,
    Program,
    Statement,
    buffers_of,
    rewrite_statement,
    transform,
    walk,
)
from sdfgad.optimise.first_assign import is_clear
from sdfgad.optimise.fuse import hoisted, run_along, share
from sdfgad.optimise.names import names_of, with_buffers
from sdfgad.schedule.loop_order import is_single
from sdfgad.schedule.products import product_of

# Shorter arrays stay in the cache as they are.
LEAST = 1 << 16
# A strip has about so many points: the best of these divides the length, so that nothing is left over.
WIDTH = 1024
WIDTHS = (WIDTH, *(near for step in range(1, WIDTH // 2) for near in (WIDTH - step, WIDTH + step)))
# A fill of at most so many elements may go before loops.
FILLED = 1 << 13
# How many statements back a loop may join others.
WINDOW = 8


def strip_mine(program: Program) -> Program:
    """The program with such outermost loops in strips; a remainder shorter than a strip follows them."""
    return _Strips(program).made()


@dataclass
class _Group:
    """Loops that share strips; `first` is the first of them as it was."""

    first: Statement
    members: list[Loop]


class _Strips:
    def __init__(self, program: Program) -> None:
        self.program, self.names = program, names_of(program)
        self.buffers = dict(program.buffers)

    def made(self) -> Program:
        groups: list[_Group | Statement] = []
        for statement in self.program.body:
            loop = self._as_loop(statement)
            if loop is None:
                groups.append(statement)
            elif not _joined(groups, loop):
                groups.append(_Group(statement, [loop]))
        body = tuple(part for group in groups for part in self._emitted(group))
        return replace(self.program, buffers=self.buffers, body=body)

    def _as_loop(self, statement: Statement) -> Loop | None:
        """A long loop over plain statements whose trips may run in any order."""
        if isinstance(statement, Loop):
            is_plain = all(isinstance(s, Compute) and not s.params for s in statement.body)
            fits = statement.is_parallel and statement.start == Lin(0) and is_plain
            return statement if fits and _is_long(statement.trips) else None
        if not isinstance(statement, Compute) or len(statement.params) != 1 or statement.fresh:
            return None
        ((name, extent),) = statement.params
        is_sum = statement.accumulate == "add"
        if not (is_sum or statement.accumulate is None) or product_of(statement, self.program.buffers):
            return None
        counter = Lin.symbol(name)
        guards = (counter, extent - counter - 1)
        body = hoisted(statement, name, name)
        return Loop(name, extent, body, guards, where=statement.where, is_parallel=True) if _is_long(extent) else None

    def _emitted(self, group: _Group | Statement) -> Block:
        if not isinstance(group, _Group):
            return (group,)
        if len(group.members) == 1:
            return (group.first,)
        length = group.members[0].trips.const
        width = next((width for width in WIDTHS if length % width == 0), WIDTH)
        whole, rest = length // width, length % width
        name = self.names.fresh("strip")
        counter = Lin.symbol(name)
        members = self._merged(group.members)
        body = tuple(self._part(loop, counter.scaled(width), width) for loop in members)
        guards = (counter, Lin(whole - 1) - counter)
        strips = Loop(name, Lin(whole), body, guards, where=group.members[0].where, is_parallel=True)
        if not rest:
            return (strips,)
        return (strips, *(self._private(self._part(loop, Lin(length - rest), rest)) for loop in members))

    def _merged(self, loops: list[Loop]) -> list[Loop]:
        """The loops with neighbouring scatters fused: these are not vectorised anyway, and share index computations."""
        found: list[Loop] = []
        for loop in loops:
            if found and _is_scatter(found[-1]) and _is_scatter(loop):
                more = hoisted(loop, loop.var, found[-1].var)
                found[-1] = replace(found[-1], body=(*found[-1].body, *more))
            else:
                found.append(loop)
        return found

    def _part(self, loop: Loop, first: Lin, trips: int) -> Loop:
        """Some of a loop's trips."""
        name = self.names.fresh(loop.var)
        counter = Lin.symbol(name)
        symbols = {loop.var: counter + first}
        body = transform(loop.body, lambda s: (rewrite_statement(s, symbols),))
        return replace(loop, var=name, trips=Lin(trips), body=body, guards=(counter, Lin(trips - 1) - counter))

    def _private(self, loop: Loop) -> Loop:
        """A loop with temporaries private to its trips renamed, so that they can be local variables."""
        users = [set(buffers_of(s)) for statement in self.program.body for s in walk((statement,))]
        singles = {n for s in loop.body for n in buffers_of(s) if is_single(self.buffers[n])}
        names = singles - self.program.interface
        names = {n for n in names if sum(n in used for used in users) == sum(n in buffers_of(s) for s in loop.body)}
        renamed = {name: self.names.fresh(name) for name in sorted(names)}
        for name, new in renamed.items():
            self.buffers[new] = replace(self.buffers[name], name=new)
        return replace(loop, body=tuple(with_buffers(s, renamed) for s in loop.body if isinstance(s, Compute)))


def _is_long(extent: Lin) -> bool:
    return extent.is_const and extent.const >= LEAST


def _is_scatter(loop: Loop) -> bool:
    """Whether a loop only adds to elements whose indices are data."""
    targets = [s.target for s in loop.body if isinstance(s, Compute) and s.accumulate == "add"]
    return len(targets) == len(loop.body) and all(reads(*map(Int, target.index)) for target in targets)


def _joined(groups: list[_Group | Statement], loop: Loop) -> bool:
    """Adds a loop to a group that it may follow strip by strip, moving small fills before the group; whether it did."""
    for position in reversed(range(max(0, len(groups) - WINDOW), len(groups))):
        group = groups[position]
        if not isinstance(group, _Group) or not _fits(group, loop):
            continue
        between = groups[position + 1 :]
        fills = [one for one in between if not _commutes(one, loop)]
        if all(_may_precede(one, groups[position:]) for one in fills):
            group.members.append(loop)
            groups[position:] = [*fills, group, *(one for one in between if not any(one is fill for fill in fills))]
            return True
    return False


def _fits(group: _Group, loop: Loop) -> bool:
    is_alike = loop.trips == group.members[0].trips and any(share(one, loop, rank=1) for one in group.members)
    return is_alike and all(run_along(one, one.var, loop, loop.var) for one in group.members)


def _commutes(group: _Group | Statement, other: Statement) -> bool:
    return all(commute(one, other) for one in (group.members if isinstance(group, _Group) else [group]))


def _may_precede(fill: _Group | Statement, others: list[_Group | Statement]) -> bool:
    """Whether a statement is a fill of a small array that may go before others."""
    if not isinstance(fill, Compute) or not is_clear(fill):
        return False
    is_small = math.prod(e.const if e.is_const else FILLED + 1 for _, e in fill.params) <= FILLED
    return is_small and all(_commutes(other, fill) for other in others if other is not fill)
