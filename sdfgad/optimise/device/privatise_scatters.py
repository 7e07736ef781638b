"""Scatter privatisation: contributions to elements that data chooses go to copies of the target, one for each thread.

``h[k[i]] += x[i]`` becomes ``copies[p, k[q * P + p]] += x[q * P + p]``, where a thread p runs q in order, and
``h = sum of copies[p]``. So sums have one order, without atomics. There are as many threads as copies fit.
"""

from __future__ import annotations

import math
from dataclasses import replace

from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, Op, as_linear
from sdfgad.ir.ops import identity
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    Whole,
    rewrite_statement,
    transform,
)
from sdfgad.optimise.device.guards import where_below
from sdfgad.optimise.names import names_of
from sdfgad.schedule.kernels import Form, form_of, points

# The most copies, and bytes of all of them.
MOST_COPIES = 1 << 12
MOST_BYTES = 1 << 25
# Fewer copies than that take longer than one thread of the host.
FEWEST = 64


def privatise_scatters(program: Program) -> Program:
    """The program with such statements."""
    privatising = _Privatising(program)
    body = transform(program.body, privatising.each)
    return replace(program, body=body, buffers=privatising.buffers)


class _Privatising:
    def __init__(self, program: Program) -> None:
        self.names, self.buffers = names_of(program), dict(program.buffers)
        sizes = (points(list(b.shape)) for b in program.buffers.values())
        # Copies are no larger than what the program holds anyway.
        self.most = min(MOST_BYTES, 8 * max((size or 0 for size in sizes), default=0))

    def each(self, statement: Statement) -> Block:
        if not isinstance(statement, Compute) or form_of(statement, self.buffers) is not Form.HOST:
            return (statement,)
        target = self.buffers[statement.target.buffer]
        size, total = points(list(target.shape)), points([extent for _, extent in statement.params])
        is_sum = statement.accumulate == "add" and all(r.buffer != target.name for r in statement.read)
        if not is_sum or not size or not total:
            return (statement,)
        copies = min(MOST_COPIES, self.most // (size * target.dtype.itemsize), math.isqrt(total))
        return (statement,) if copies < FEWEST else self.privatised(statement, target, copies)

    def privatised(self, statement: Compute, target: Buffer, copies: int) -> Block:
        """The statement on so many copies, or a few less, and their sum."""
        name, extent = max(((n, e.const) for n, e in statement.params), key=lambda item: item[1])
        length = math.ceil(extent / min(copies, extent))
        copies = math.ceil(extent / length)
        buffer = Buffer(self.names.fresh("copies"), (Lin(copies), *target.shape), target.dtype, where=statement.where)
        self.buffers[buffer.name] = buffer
        copy, step = self.names.fresh("copy"), self.names.fresh("step")
        place = Lin.symbol(step).scaled(copies) + Lin.symbol(copy)
        added = self._added(statement, buffer, (name, place, extent, copy))
        params = tuple((step, Lin(length)) if n == name else (n, e) for n, e in added.params)
        loop = Loop.over(copy, Lin(copies), (replace(added, params=params),), statement.where, is_parallel=True)
        return _cleared(buffer, statement), loop, self._total(statement, target, buffer)

    def _added(self, statement: Compute, buffer: Buffer, split: tuple[str, Lin, int, str]) -> Compute:
        """A thread's contributions; steps beyond the last point contribute nothing to some element."""
        name, place, extent, copy = split
        is_whole = buffer.shape[0].const * math.ceil(extent / buffer.shape[0].const) == extent
        inside = place if is_whole else as_linear(Op("minimum", (Int(place), Const(extent - 1, INT)), INT))
        moved = rewrite_statement(replace(statement, params=()), {name: inside})
        value: Expr = moved.value
        if not is_whole:
            value = where_below(place, extent, value, "add")
        access = Access(buffer.name, (Lin.symbol(copy), *moved.target.index))
        return replace(moved, params=statement.params, target=access, value=value, fresh=False)

    def _total(self, statement: Compute, target: Buffer, buffer: Buffer) -> Compute:
        whole = Whole(target.name, target.shape, target.dtype)
        copy = self.names.fresh("copy")
        value = Access(buffer.name, (Lin.symbol(copy), *whole.access.index)).read(buffer.dtype)
        return replace(statement, params=((copy, buffer.shape[0]), *whole.params), target=whole.access, value=value)


def _cleared(buffer: Buffer, statement: Compute) -> Compute:
    whole = Whole(buffer.name, buffer.shape, buffer.dtype)
    return Compute(
        whole.params, whole.access, Const(identity("add", buffer.dtype), buffer.dtype), where=statement.where
    )
