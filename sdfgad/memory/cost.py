"""Cost model: predicts how long statements take, without running them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sdfgad.ir.expr import Expr, Lin, Op, postorder
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Block, Branch, Buffer, Call, Compute, Loop, Statement, boxed_reads, buffers_of, walk
from sdfgad.memory.lifetimes import evaluate
from sdfgad.plan.machine import Machine, seconds
from sdfgad.schedule.products import product_of
from sdfgad.schedule.work import UNKNOWN_TRIPS

# Blocks of this size are returned to the system when they are released; smaller ones are used again.
RETURNED = 32 << 20


class Cost:
    """Predicts nanoseconds.

    Args:
        integers: the values of a program's run-time integers.
        trips: by counter, the mean numbers of trips of loops where these are data and have been counted.
    """

    def __init__(
        self,
        buffers: Mapping[str, Buffer],
        integers: Mapping[str, int],
        machine: Machine,
        trips: Mapping[str, int] | None = None,
    ) -> None:
        self.buffers, self.machine = buffers, machine
        self.values, self.counted = dict(integers), dict(trips or {})
        self.in_cache = False

    def block(self, block: Block) -> float:
        return sum(self.statement(statement) for statement in block)

    def statement(self, statement: Statement) -> float:
        if isinstance(statement, Compute):
            return self._compute(statement)
        if isinstance(statement, Call):
            return self._call(statement)
        if isinstance(statement, Branch):
            return max(self.block(statement.then), self.block(statement.orelse))
        return self._loop(statement)

    def within(self, statement: Statement) -> float:
        """The time of a statement fused with the readers of its values, which are not moved through memory then."""
        if not isinstance(statement, Compute) or product_of(statement, self.buffers) is not None:
            return self.statement(statement)
        points, names = self._points(statement), _operations(statement.value)
        cheap = sum(OPERATIONS[name].is_instruction for name in names)
        return self._seconds(points, cheap + 1, len(names) - cheap, 0, 0)

    def trips(self, loop: Loop) -> int:
        if loop.var in self.counted:
            return self.counted[loop.var]
        return UNKNOWN_TRIPS if loop.is_open else self.size(loop.trips)

    def size(self, form: Lin) -> int:
        """The value of a form, at least 0; a guess if it depends on data."""
        try:
            return max(evaluate(form, self.values), 0)
        except (KeyError, ValueError):
            return UNKNOWN_TRIPS

    def copying(self, size: int, of: int) -> float:
        """The time to copy `size` bytes to or from storage of `of` bytes."""
        in_cache = 2 * of < self.machine.cache_bytes
        rate = self.machine.cache_bytes_per_second if in_cache else self.machine.bytes_per_second
        return 2 * size / rate * 1e9

    def tape(self, size: int, of: int, among: int) -> float:
        """The time to store `size` bytes on a tape of `of` bytes and restore them; all tapes have `among` bytes."""
        is_new = of >= RETURNED
        return 2 * self.copying(size, among) + (of * self.machine.fresh_seconds_per_byte * 1e9 if is_new else 0.0)

    def _loop(self, loop: Loop) -> float:
        trips = self.trips(loop)
        if not trips:
            return 0.0
        outer = self.values.get(loop.var)
        # Where inner trips vary with the counter, those in the middle are the average.
        self.values[loop.var] = trips // 2
        around, self.in_cache = self.in_cache, self.in_cache or self._fits(loop.body)
        body = self.block(loop.body)
        self.in_cache = around
        if outer is None:
            del self.values[loop.var]
        else:
            self.values[loop.var] = outer
        return trips * body

    def _fits(self, block: Block) -> bool:
        """Whether all that a block mentions fits into the cache, with room for adjoints."""
        names = {name for statement in walk(block) for name in buffers_of(statement)}
        return 2 * sum(self._bytes(name) for name in names) < self.machine.cache_bytes

    def _bytes(self, name: str) -> int:
        buffer = self.buffers[name]
        return math.prod(self.size(extent) for extent in buffer.shape) * buffer.dtype.itemsize

    def _compute(self, statement: Compute) -> float:
        points = self._points(statement)
        if product_of(statement, self.buffers) is not None:
            return self._seconds(0, 0, 0, self._moved(statement, points), 2 * points)
        names = _operations(statement.value)
        cheap = sum(OPERATIONS[name].is_instruction for name in names)
        return self._seconds(points, cheap + 1, len(names) - cheap, self._moved(statement, points), 0)

    def _points(self, statement: Compute) -> int:
        return math.prod(self.size(extent) for _, extent in statement.params)

    def _call(self, call: Call) -> float:
        """A library function on matrices: cubic where it is one of linear algebra."""
        sizes = [math.prod(self.size(extent) for extent in whole.shape) for whole in (*call.inputs, *call.outputs)]
        moved = sum(n * whole.dtype.itemsize for n, whole in zip(sizes, (*call.inputs, *call.outputs), strict=True))
        rows = max((self.size(whole.shape[-1]) for whole in call.inputs if whole.shape), default=1)
        return self._seconds(0, 0, 0, moved, 4 * max(sizes) * rows)

    def _seconds(self, points: int, operations: int, transcendentals: int, moved: int, flops: int) -> float:
        made = seconds(
            self.machine,
            points=points,
            operations=operations,
            transcendentals=transcendentals,
            bytes=moved,
            flops=flops,
            in_cache=self.in_cache,
        )
        return made * 1e9

    def _moved(self, statement: Compute, points: int) -> int:
        """What is read and written, each element once."""
        names = {read.buffer for read, _ in boxed_reads(statement)} | {statement.target.buffer}
        total = 0
        for name in names:
            buffer = self.buffers[name]
            total += min(points * buffer.dtype.itemsize, self._bytes(name))
        return total


def _operations(value: Expr) -> list[str]:
    """The operations on a value's operands; those in their indices take next to nothing."""
    return [node.name for node in postorder(value, without=value.reads) if isinstance(node, Op)]
