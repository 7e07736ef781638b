"""Unroll-and-jam: a few rows of a matrix run together in one inner loop, where they share vectors.

``for f: for j: Z[f, j] = x[f] * y[j]; w[j] += Z[f, j] * v[j]`` loads `y`, `v` and `w`, and stores `w`, for each row.
Several rows in one loop do that once for all of them: ``for g: for j: Z[4*g, j] = …; w[j] += …; Z[4*g + 1, j] = …; …``.
The order of what is added to an element stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from sdfgad.ir.expr import Int, Lin, reads, symbols_in
from sdfgad.ir.program import (
    Access,
    Block,
    Compute,
    Loop,
    Program,
    Statement,
    reads_of,
    substituted,
    walk,
)
from sdfgad.ir.rename import renamed
from sdfgad.optimise.blocks import flat_map
from sdfgad.optimise.loops.nest import last_trips
from sdfgad.optimise.names import names_of
from sdfgad.schedule.loop_facts import is_vector, scalar_reductions
from sdfgad.schedule.target import cpu

# Loads and stores of shared vectors in a step of a row, from which on rows run together; and statements of all rows.
LEAST_SHARED = 3
MOST_STATEMENTS = 40
# Of shorter rows there is little to gain, and fewer rows are for threads to share one by one.
LEAST_LENGTH = 64
LEAST_GROUPS = 16


def unroll_and_jam(program: Program) -> Program:
    """The program with such rows together; the remaining rows run as before."""
    return _Jamming(program).made()


class _Jamming:
    def __init__(self, program: Program) -> None:
        self.program, self.names = program, names_of(program)
        self.buffers = dict(program.buffers)
        self.mentions = Counter(name for statement in program.body for name in statement.mentioned)

    def made(self) -> Program:
        body = flat_map(self.program.body, self.jammed)
        return replace(self.program, buffers=self.buffers, body=body)

    def jammed(self, statement: Statement) -> Block:
        inner = _inner(statement)
        if inner is None:
            return (statement,)
        assert isinstance(statement, Loop)
        private = self.private(statement)
        if private is None or _shared(statement, inner) < LEAST_SHARED:
            return (statement,)
        return self.rows(statement, inner, private)

    def private(self, loop: Loop) -> list[str] | None:
        """The scalars that are private to a trip; None if trips assign anything else at the same elements."""
        assigned = {s.target for s in walk((loop,)) if isinstance(s, Compute) and s.assigns}
        found = sorted({target.buffer for target in assigned if loop.var not in symbols_in(target.index)})
        is_own = all(self.buffers[name].is_single and self.mentions[name] == 1 for name in found)
        return found if is_own and self.program.interface.isdisjoint(found) else None

    def rows(self, loop: Loop, inner: Loop, private: list[str]) -> Block:
        """The loop with rows together, and one over the rest."""
        count, at, each = loop.trips.const, loop.body.index(inner), cpu().jammed_rows
        var = self.names.fresh(f"{loop.var}_rows")
        copies = [self.copied(loop, private, Lin.symbol(var).scaled(each) + k) for k in range(each)]
        before = tuple(s for copy in copies for s in copy[:at])
        after = tuple(s for copy in copies for s in copy[at + 1 :])
        body = tuple(s for copy in copies for s in _body(copy[at]))
        jammed = replace(inner, body=body)
        own = self.buffers.keys() - self.program.buffers
        if not is_vector(jammed, own, scalar_reductions(body, inner.var)):
            return (loop,)
        together = replace(loop, var=var).with_trips(Lin(count // each), (*before, jammed, *after))
        rest = last_trips(loop, count % each)
        return (together, *renamed(rest, self.own(private)))

    def copied(self, loop: Loop, private: list[str], index: Lin) -> Block:
        """The body for one trip, with private scalars renamed."""
        return renamed(substituted(loop.body, {loop.var: index}), self.own(private))

    def own(self, private: list[str]) -> dict[str, str]:
        """New names for private scalars."""
        own = {name: self.names.fresh(name) for name in private}
        self.buffers |= {new: replace(self.buffers[name], name=new) for name, new in own.items()}
        return own


def _inner(statement: Statement) -> Loop | None:
    """The loop along the rows, of a loop over rows that has nothing else but plain statements in it."""
    if (
        not isinstance(statement, Loop)
        or not _is_plain(statement)
        or statement.trips.const < LEAST_GROUPS * cpu().jammed_rows
    ):
        return None
    loops = [s for s in statement.body if not _is_point(s)]
    inner = loops[0] if len(loops) == 1 else None
    if not isinstance(inner, Loop) or not _is_plain(inner) or inner.trips.const < LEAST_LENGTH:
        return None
    is_small = len(inner.body) * cpu().jammed_rows <= MOST_STATEMENTS and all(map(_is_point, inner.body))
    return inner if is_small else None


def _is_plain(loop: Loop) -> bool:
    return loop.is_parallel and loop.start == Lin(0) and loop.trips.is_const and not (loop.backward or loop.is_open)


def _is_point(statement: Statement) -> bool:
    is_compute = isinstance(statement, Compute) and not statement.params and not statement.fresh
    return is_compute and isinstance(statement, Compute) and statement.accumulate in (None, "add")


def _shared(loop: Loop, inner: Loop) -> int:
    """How many loads and stores of vectors there are in a step of a row that other rows do, too."""
    loads = {Access(read.buffer, read.index) for s in inner.body for read in reads_of(s)}
    sums = {s.target for s in inner.body if isinstance(s, Compute) and s.accumulate == "add"}
    return sum(_is_shared(a, loop, inner) for a in loads | sums) + sum(_is_shared(a, loop, inner) for a in sums)


def _is_shared(access: Access, loop: Loop, inner: Loop) -> bool:
    """Whether an element depends on the place in the row only."""
    is_known = not reads(*map(Int, access.index))
    return is_known and inner.var in symbols_in(access.index) and loop.var not in symbols_in(access.index)


def _body(statement: Statement) -> Iterator[Statement]:
    assert isinstance(statement, Loop)
    yield from statement.body
