"""Map-reduce fusion by rows: sums along rows, and what else is done along these, are a block of threads for each row.

``m[i] = max x[i, :]``, ``w[i, :] = exp(x[i, :] - m[i])``, ``s[i] = sum w[i, :]`` and ``y[i, :] = w[i, :] / s[i]`` are
one launch: the threads of a block work on a row, with barriers between the steps, and find it in the cache. Each row
may need of the other statements only the same row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sdfgad.dependence.order import commute, run_in_step
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import (
    Block,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    computes,
    substituted,
    with_blocks,
)
from sdfgad.optimise.device.fuse_points import WINDOW, at_point, renamed
from sdfgad.optimise.names import names_of
from sdfgad.schedule.device_sums import Sum, points
from sdfgad.schedule.kernels import Form, form_of

# Fewer rows leave nearly all of a device idle, and longer ones had better be divided among several blocks.
FEWEST_ROWS, LONGEST_ROW = 1 << 5, 1 << 14
# What the threads of a block do, in order.
MOST = 32


@dataclass
class _Rows:
    """Statements whose first parameters, or outermost loops, go through the same rows."""

    params: Params
    items: list[Statement]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.params)

    def emitted(self) -> Statement:
        """The loops over rows; a single statement stays as it is."""
        if len(self.items) == 1:
            return self.items[0]
        body: Block = tuple(one for item in self.items for one in _in_row(item, self.names))
        for name, extent in reversed(self.params):
            loop = Loop.over(name, extent, body, self.items[0].where, is_parallel=True)
            body = (replace(loop, is_in_block=True),)
        return body[0]

    def depends_on(self, statement: Statement) -> bool:
        return any(not one.mentioned.isdisjoint(statement.mentioned) for one in self.items)


def fuse_rows(program: Program) -> Program:
    """The program with such statements in parallel loops over the rows."""
    return program.with_body(_Fusion(program).block(program.body))


class _Fusion:
    def __init__(self, program: Program) -> None:
        self.names, self.buffers, self.bounds = names_of(program), program.buffers, frozenset(program.bounds)

    def block(self, block: Block) -> Block:
        found: list[_Rows | Statement] = []
        for statement in block:
            if isinstance(statement, Loop) and (statement.is_parallel or statement.is_in_block):
                inside: Statement = statement
            else:
                inside = with_blocks(statement, self.block)
            if self.joins(found, inside):
                continue
            rows = self.begun(inside)
            found.append(rows or inside)
            if rows is not None:
                self.absorb(found, rows)
        return tuple(one.emitted() if isinstance(one, _Rows) else one for one in found)

    def begun(self, statement: Statement) -> _Rows | None:
        """The rows of a sum that a block of threads adds up for each element."""
        if not self.is_free(statement) or form_of(statement, self.buffers) is not Form.BLOCK:
            return None
        assert isinstance(statement, Compute)
        box = Sum(statement)
        if (box.elements or 0) < FEWEST_ROWS or not _is_short(box.terms):
            return None
        params = tuple((self.names.fresh("row"), box.extents[name]) for name in box.own)
        return _Rows(params, [renamed(statement, box.own, tuple(name for name, _ in params))])

    def absorb(self, found: list[_Rows | Statement], rows: _Rows) -> None:
        """Statements just before the first sum that go through the same rows."""
        while len(found) > 1 and not isinstance(before := found[-2], _Rows):
            same = self.along(rows, before)
            if same is None:
                return
            rows.items.insert(0, same)
            del found[-2]

    def joins(self, found: list[_Rows | Statement], statement: Statement) -> bool:
        """Whether a statement joins rows before it, the latest ones that it can."""
        for one in list(reversed(found))[:WINDOW]:
            same = self.along(one, statement) if isinstance(one, _Rows) and len(one.items) < MOST else None
            if same is not None:
                assert isinstance(one, _Rows)
                one.items.append(same)
                return True
            if not all(commute(item, statement) for item in (one.items if isinstance(one, _Rows) else [one])):
                return False
        return False

    def along(self, rows: _Rows, statement: Statement) -> Statement | None:
        """The statement with the rows' names, if each row of it meets only the same row of the others."""
        same = self.with_rows(statement, rows) if rows.depends_on(statement) and self.is_free(statement) else None
        if same is None:
            return None
        pairs = ((one, name) for one in rows.items for name in rows.names)
        return same if all(run_in_step(one, name, same, name, may_add=False) for one, name in pairs) else None

    def with_rows(self, statement: Statement, rows: _Rows) -> Statement | None:
        if isinstance(statement, Loop):
            is_nest = form_of(statement, self.buffers) is Form.POINTS
            return _nest_with_rows(statement, rows.params) if is_nest else None
        if not isinstance(statement, Compute) or form_of(statement, self.buffers) not in (Form.POINTS, Form.BLOCK):
            return None
        box, count = Sum(statement), len(rows.params)
        own, rest = box.own[:count], box.own[count:]
        is_same = [box.extents[name] for name in own] == [extent for _, extent in rows.params]
        is_fit = is_same and not box.is_atomic and _is_short(points([box.extents[name] for name in rest]))
        # The one thread or block of such a sum would read a column of memory.
        is_fit = is_fit and (bool(rest) or box.is_along or not box.summed)
        return renamed(statement, own, rows.names) if is_fit else None

    def is_free(self, statement: Statement) -> bool:
        """Whether the host checks nothing before a statement: slots of tapes, of which there may be too few."""
        targets = (self.buffers[one.target.buffer] for one in computes((statement,)))
        return all(extent.symbols.isdisjoint(self.bounds) for target in targets for extent in target.shape)


def _is_short(extent: int | None) -> bool:
    return extent is not None and extent <= LONGEST_ROW


def _nest_with_rows(loop: Loop, params: Params) -> Loop | None:
    """A nest of parallel loops around computations with other names for the outermost ones."""
    (name, extent), *rest = params
    if not loop.is_parallel or loop.trips != extent or loop.start != Lin(0):
        return None
    body = substituted(loop.body, {loop.var: Lin.symbol(name)})
    if rest:
        inner = _nest_with_rows(body[0], tuple(rest)) if isinstance(body[0], Loop) and len(body) == 1 else None
        return replace(loop, var=name, body=(inner,)) if inner is not None else None
    return replace(loop, var=name, body=body) if _is_row(body) else None


def _is_row(block: Block) -> bool:
    """Whether a block is computations, maybe in a nest of parallel loops."""
    (first, *others) = block
    if isinstance(first, Loop) and not others:
        return first.is_parallel and first.trips.is_const and _is_short(first.trips.const) and _is_row(first.body)
    return all(isinstance(one, Compute) for one in block)


def _in_row(statement: Statement, names: tuple[str, ...]) -> Block:
    """What is done in a row."""
    if isinstance(statement, Compute):
        return (at_point(statement, names),)
    assert isinstance(statement, Loop)
    return statement.body if len(names) == 1 else _in_row(statement.body[0], names[1:])
