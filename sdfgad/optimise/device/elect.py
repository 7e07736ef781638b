"""Scatter to gather (inspector and executor): of the trips that assign an element which data chooses, one is elected.

``for k: a[i[k]] = v[k]`` leaves in each element what the last trip has assigned that came there:

    last[i[k]] = max(last[i[k]], k)
    a[p] = v[last[p]] where some trip came

And ``for k: s[k] = a[i[k]]; a[i[k]] = 0``, which is the adjoint of that, has the old value in the first one alone:

    first[i[k]] = min(first[i[k]], k)
    s[k] = a[i[k]] if first[i[k]] >= k else 0
    a[p] = 0 where some trip came

Extrema of integers do not depend on an order, and the rest are boxes over trips and over elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, Read, Rewriter, as_linear, cast, reads, symbols_in
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Accumulate,
    Block,
    Buffer,
    Compute,
    Loop,
    Statement,
    reads_of,
    rewrite_statement,
    written,
)
from sdfgad.optimise.device.guards import chosen
from sdfgad.optimise.device.temporaries import filled
from sdfgad.schedule.device_sums import points

# How a table keeps the greatest trip, or the least one, and what it has where no trip came; trips are at least 0.
GREATEST: tuple[Accumulate, int] = "maximum", -1
LEAST: tuple[Accumulate, int] = "minimum", int(np.iinfo(INT).max)


@dataclass(frozen=True)
class Elected:
    """A loop without an assignment that data places, statements before and after it instead, and their table."""

    before: Block
    loop: Loop
    after: Block
    table: Buffer


@dataclass(frozen=True)
class Placed:
    """An assignment ``if guard: target = value`` whose target data places.

    Attributes:
        axes: those that data places. The others have the same index in all trips, but for the statement's parameters.
    """

    statement: Compute
    guard: Expr | None
    value: Expr
    axes: tuple[int, ...]

    @property
    def target(self) -> Access:
        return self.statement.target

    @property
    def place(self) -> tuple[Lin, ...]:
        return tuple(self.target.index[axis] for axis in self.axes)


def elected(loop: Loop, buffers: Mapping[str, Buffer], names: Names) -> Elected | None:
    """A loop of computations without its first such assignment; None if it has none."""
    if not loop.start.is_const or loop.start.const < 0:
        return None
    placed = (_placed(statement, loop) for statement in loop.body)
    found = (_Election(loop, one, buffers, names).result() for one in placed if one is not None)
    return next((one for one in found if one is not None), None)


def _placed(statement: Statement, loop: Loop) -> Placed | None:
    """The assignment, if what places it is not changed by the loop, and is the same for all its parameters."""
    if not isinstance(statement, Compute) or statement.accumulate is not None:
        return None
    guard, value = _guard_of(statement)
    index, params = statement.target.index, {name for name, _ in statement.params}
    axes = tuple(axis for axis, form in enumerate(index) if loop.var in form.symbols and not form.is_affine)
    others = [form for axis, form in enumerate(index) if axis not in axes]
    placing = [Int(index[axis]) for axis in axes] + ([guard] if guard is not None else [])
    varying = symbols_in((*others, *(extent for _, extent in statement.params)))
    is_box = all(form.is_affine for form in others) and loop.var not in varying
    is_box = is_box and all(form in map(Lin.symbol, params) or params.isdisjoint(form.symbols) for form in others)
    is_fixed = written(loop.body).isdisjoint(read.buffer for read in reads(*placing))
    is_for_all = all(params.isdisjoint(one.symbols) for one in placing)
    return Placed(statement, guard, value, axes) if axes and is_box and is_fixed and is_for_all else None


def _guard_of(statement: Compute) -> tuple[Expr | None, Expr]:
    """The condition and the value of an assignment that, where the condition does not hold, changes nothing."""
    value, target = statement.value, statement.target
    if isinstance(value, Op) and value.name == "select":
        condition, new, old = value.children
        if isinstance(old, Read) and (old.buffer, old.index) == (target.buffer, target.index):
            return condition, new
    return None, value


class _Election:
    def __init__(self, loop: Loop, placed: Placed, buffers: Mapping[str, Buffer], names: Names) -> None:
        self.loop, self.placed, self.names = loop, placed, names
        self.target = buffers[placed.target.buffer]
        self.value = cast(placed.value, self.target.dtype)
        self.shape = tuple(self.target.shape[axis] for axis in placed.axes)
        # The counters of the axes that data places.
        self.own = tuple(names.fresh("p") for _ in placed.axes)

    def result(self) -> Elected | None:
        others = [s for s in self.loop.body if s is not self.placed.statement]
        touching = [s for s in others if self.target.name in s.mentioned]
        if not points(list(self.shape)) or any(r.buffer == self.target.name for r in reads(self.placed.value)):
            return None
        if touching:
            return self.taken(others) if self.can_be_taken(touching) else None
        return self.assigned(others) if self.is_unchanged() else None

    # --- the last trip

    def is_unchanged(self) -> bool:
        """Whether the value can be computed after the loop: no later statement of a trip changes what it reads."""
        at = self.loop.body.index(self.placed.statement)
        return written(self.loop.body[at:]).isdisjoint(read.buffer for read in reads(self.placed.value))

    def assigned(self, others: list[Statement]) -> Elected:
        """Each element has the value of the last trip that came there."""
        table, (kind, nobody) = self.table("last"), LEAST if self.loop.backward else GREATEST
        winner = self.at_element(table)
        value = Rewriter({self.loop.var: as_linear(winner)})(self.value)
        rest = replace(self.loop, body=tuple(others))
        return Elected(self.votes(table, kind, nobody), rest, (self.everywhere(winner, nobody, value),), table)

    # --- the first trip

    def can_be_taken(self, touching: list[Statement]) -> bool:
        """Whether trips read the very elements that they assign then, and all assign the same number."""
        at, value = self.loop.body.index(self.placed.statement), self.placed.value
        is_before = all(self.loop.body.index(one) < at for one in touching)
        return is_before and all(map(self.is_read_alike, touching)) and not reads(value) and not value.symbols

    def is_read_alike(self, one: Statement) -> bool:
        if not isinstance(one, Compute) or one.target.buffer == self.target.name:
            return False
        extents = dict(one.params)
        is_whole = all(extents.get(name) == extent for name, extent in self.placed.statement.params)
        found = (read for read in reads_of(one) if read.buffer == self.target.name)
        return is_whole and all(read.index == self.placed.target.index for read in found)

    def taken(self, others: list[Statement]) -> Elected:
        """The first trip that comes to an element finds the old value there, later ones what it has assigned."""
        table, (kind, nobody) = self.table("first"), GREATEST if self.loop.backward else LEAST
        here, trip, value = Read(table.name, self.placed.place, INT), Int(Lin.symbol(self.loop.var)), self.value
        is_later = Op("greater" if self.loop.backward else "less", (here, trip), BOOL)

        def found(node: Expr) -> Expr | None:
            is_taken = isinstance(node, Read) and node.buffer == self.target.name
            return Op("select", (is_later, value, node), node.dtype) if is_taken else None

        body = tuple(rewrite_statement(one, replace_node=found) for one in others)
        after = self.everywhere(self.at_element(table), nobody, value)
        return Elected(self.votes(table, kind, nobody), replace(self.loop, body=body), (after,), table)

    # --- parts

    def table(self, name: str) -> Buffer:
        return Buffer(self.names.fresh(name), self.shape, INT)

    def at_element(self, table: Buffer) -> Read:
        return Read(table.name, tuple(map(Lin.symbol, self.own)), INT)

    def votes(self, table: Buffer, kind: Accumulate, nobody: int) -> Block:
        """Each trip, where it assigns, votes for itself."""
        guard, loop = self.placed.guard, self.loop
        index: tuple[Lin, ...] = self.placed.place
        value: Expr = Int(Lin.symbol(loop.var))
        if guard is not None:
            index = tuple(chosen(guard, form) for form in index)
            value = Op("select", (guard, value, Const(nobody, INT)), INT)
        one = Compute((), Access(table.name, index), value, kind, self.placed.statement.where)
        counter = self.names.fresh(loop.var)
        moved = rewrite_statement(one, {loop.var: loop.start + Lin.symbol(counter)})
        return filled(table, nobody, loop.where), replace(moved, params=((counter, loop.trips),))

    def everywhere(self, winner: Read, nobody: int, value: Expr) -> Compute:
        """The elements where some trip came."""
        is_some = Op("not_equal", (winner, Const(nobody, INT)), BOOL)
        statement, own = self.placed.statement, dict(zip(self.placed.axes, map(Lin.symbol, self.own), strict=True))
        access = Access(self.target.name, tuple(own.get(a, form) for a, form in enumerate(statement.target.index)))
        value = Op("select", (is_some, value, access.read(self.target.dtype)), self.target.dtype)
        params = (*zip(self.own, self.shape, strict=True), *statement.params)
        return replace(statement, params=params, target=access, value=value)
