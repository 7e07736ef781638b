"""Type widening (promotion): rows of masks and bytes are copied to rows of int64 before a loop in vectors reads them.

GCC vectorises a loop for its smallest type: with one byte among doubles, a vector of 32 bytes makes it take 32 trips at
a time, with eight copies of each operation on doubles, whose values spill from the registers, and up to 31 trips one by
one at the end. ``for i: y[i] = … mask[i] …`` becomes ``for k: wide[k] = mask[k]; for i: y[i] = … wide[i] …``; a row of
bytes that the loop writes is copied back after it. Where one byte in memory would be left, nothing is copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Lin, Op, Read, Rewriter, postorder, symbols_in
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    reads_of,
    transform,
    with_blocks,
)
from sdfgad.optimise.names import names_of
from sdfgad.schedule.target import cpu

BYTE = np.dtype(np.uint8)
# Operations whose result in int64 is that in bytes.
EXACT = {"select", "bitwise_and", "bitwise_or", "bitwise_xor"}


def widen(program: Program) -> Program:
    """The program with such rows copied, in loops around such loops: what runs once is not worth it."""
    widening = _Widen(dict(program.buffers), names_of(program))
    body = tuple(with_blocks(s, partial(transform, each=widening.statement)) for s in program.body)
    return replace(program, buffers=widening.buffers, body=body)


@dataclass(frozen=True)
class Row:
    """The elements of an array of bytes or booleans that an innermost loop reads, or writes, one in each trip.

    Attributes:
        access: the element of a trip.
        wide: the element of the row that stands for it.
        is_read: whether a trip reads what was there before the loop.
        is_written: whether the loop assigns it.
    """

    access: Access
    dtype: np.dtype[np.generic]
    wide: Access
    is_read: bool
    is_written: bool


@dataclass
class _Widen:
    buffers: dict[str, Buffer]
    names: Names = field(repr=False)

    def statement(self, statement: Statement) -> Block:
        if not isinstance(statement, Loop) or not _is_worth_it(statement):
            return (statement,)
        rows = {row.access.buffer: row for row in self._rows(statement)}
        body = tuple(_rewritten(s, rows) for s in statement.body if isinstance(s, Compute))
        if not rows or any(map(self.has_bytes, body)):
            return (statement,)
        for row in rows.values():
            self.buffers[row.wide.buffer] = Buffer(row.wide.buffer, (statement.trips,), INT)
        before = [self._copied(statement, row) for row in rows.values() if row.is_read]
        after = [self._copied_back(statement, row) for row in rows.values() if row.is_written]
        return (*before, replace(statement, body=body), *after)

    def _rows(self, loop: Loop) -> Iterator[Row]:
        uses: dict[str, list[tuple[Access, str]]] = {}
        for statement in loop.body:
            assert isinstance(statement, Compute)
            for read in statement.read:
                uses.setdefault(read.buffer, []).append((Access(read.buffer, read.index), "reads"))
            kind = "assigns" if statement.assigns else "updates"
            uses.setdefault(statement.target.buffer, []).append((statement.target, kind))
        for name, found in uses.items():
            buffer, (access, first), kinds = self.buffers[name], found[0], [kind for _, kind in found]
            is_row = buffer.dtype in (BYTE, BOOL) and buffer.shape and _is_along(access.index, loop.var)
            is_alike = {one for one, _ in found} == {access} and "updates" not in kinds
            if is_row and is_alike:
                wide = Access(self.names.fresh(f"{name}_wide"), (Lin.symbol(loop.var) - loop.start,))
                yield Row(access, buffer.dtype, wide, first == "reads", "assigns" in kinds)

    def _copied(self, loop: Loop, row: Row) -> Compute:
        """The copy of a row to its wide form."""
        params, narrow, wide = self._places(loop, row)
        return Compute(params, wide, Op("cast", (narrow.read(row.dtype),), INT), where=loop.where)

    def _copied_back(self, loop: Loop, row: Row) -> Compute:
        params, narrow, wide = self._places(loop, row)
        value = wide.read(INT)
        # As a graph is read back.
        is_set = Op("not_equal", (value, Const(0, INT)), BOOL)
        narrowed = is_set if row.dtype == BOOL else Op("cast", (value,), row.dtype)
        return Compute(params, narrow, narrowed, where=loop.where)

    def _places(self, loop: Loop, row: Row) -> tuple[Params, Access, Access]:
        """The parameters of a copy, and the elements of a row and of its wide form."""
        counter = self.names.fresh("w")
        at = {loop.var: Lin.symbol(counter) + loop.start}
        narrow, wide = (
            Access(one.buffer, tuple(lin.substitute(at) for lin in one.index)) for one in (row.access, row.wide)
        )
        return ((counter, loop.trips),), narrow, wide

    def has_bytes(self, statement: Compute) -> bool:
        """Whether a statement still computes with bytes, or has elements of arrays of them."""
        names = {statement.target.buffer, *(read.buffer for read in reads_of(statement))}
        is_array = any(self.buffers[n].dtype in (BYTE, BOOL) and self.buffers[n].shape for n in names & {*self.buffers})
        return is_array or any(node.dtype == BYTE for node in postorder(statement.value))


def _is_worth_it(loop: Loop) -> bool:
    """Whether a loop is an innermost one in vectors, not long, of many operations, some of them on floating numbers."""
    if not (loop.is_parallel and loop.trips.is_const and 1 < loop.trips.const <= cpu().widened_trips):
        return False
    if reads_of(loop) or not all(isinstance(s, Compute) and not s.params for s in loop.body):
        return False
    nodes = {node for s in loop.body if isinstance(s, Compute) for node in postorder(s.value)}
    operations = [node for node in nodes if isinstance(node, Op)]
    return len(operations) >= cpu().widened_operations and any(op.dtype.kind == "f" for op in operations)


def _is_along(index: tuple[Lin, ...], var: str) -> bool:
    """Whether successive trips use successive elements."""
    return var not in symbols_in((*index[:-1], index[-1] - Lin.symbol(var)))


def _rewritten(statement: Compute, rows: dict[str, Row]) -> Compute:
    """A statement of the loop that reads and writes the wide rows."""
    value = Rewriter({}, lambda node: _wide(node, rows))(statement.value)
    row = rows.get(statement.target.buffer)
    if row is None:
        return replace(statement, value=value)
    return replace(statement, target=row.wide, value=_as_int(value))


def _wide(node: Expr, rows: dict[str, Row]) -> Expr | None:
    """An expression whose operands are rewritten, on int64 instead of bytes; None if it is as it was."""
    if isinstance(node, Read) and node.buffer in rows:
        read = rows[node.buffer].wide.read(INT)
        return read if node.dtype == BYTE else Op("not_equal", (read, Const(0, INT)), BOOL)
    if not isinstance(node, Op):
        return None
    is_byte, has_int = node.dtype == BYTE, any(arg.dtype == INT for arg in node.args)
    if node.name == "cast":
        return Op("cast", node.args, INT) if is_byte and node.args[0].dtype == BOOL else None
    if is_byte and node.name in EXACT:
        return Op(node.name, tuple(map(_as_int_operand, node.args)), INT)
    if node.dtype == BOOL and has_int and any(arg.dtype == BYTE for arg in node.args):
        return Op(node.name, tuple(map(_as_int_operand, node.args)), BOOL)
    return None


def _as_int_operand(value: Expr) -> Expr:
    return Const(int(value.value), INT) if isinstance(value, Const) and value.dtype == BYTE else value


def _as_int(value: Expr) -> Expr:
    return value if value.dtype == INT else Op("cast", (_as_int_operand(value),), INT)
