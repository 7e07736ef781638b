"""Reduction tree: long sums of few elements become sums of parts, as many as a device has threads for.

``s = sum of x[k]`` becomes ``parts[p] = sum of x[p * Q + q]`` over q, and ``s = sum of parts[p]``. The number of parts
follows from the extents, so that a sum has the same value on each device.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sdfgad.ir.expr import Lin, rewrite
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, Program, Statement, transform
from sdfgad.optimise.device.guards import where_below
from sdfgad.optimise.names import names_of
from sdfgad.schedule.device_sums import BLOCK, RESIDENT, SHORT, Sum
from sdfgad.schedule.kernels import Form, form_of

# So many terms at least are summed by a thread of a part.
LENGTH = 16


def split_sums(program: Program) -> Program:
    """The program with such sums in parts."""
    splitter = _Splitter(names_of(program), dict(program.buffers))
    body = transform(program.body, splitter.each)
    return replace(program, body=body, buffers=splitter.buffers)


class _Splitter:
    def __init__(self, names: Names, buffers: dict[str, Buffer]) -> None:
        self.names, self.buffers = names, buffers

    def each(self, statement: Statement) -> Block:
        if not isinstance(statement, Compute) or form_of(statement, self.buffers) not in (Form.POINTS, Form.BLOCK):
            return (statement,)
        box = Sum(statement)
        parts = parts_of(box, form_of(statement, self.buffers))
        if parts < 2:
            return (statement,)
        name = max(box.summed, key=lambda one: box.extents[one].const)
        return self.split(statement, box, name, min(parts, box.extents[name].const))

    def split(self, statement: Compute, box: Sum, name: str, wanted: int) -> Block:
        """The sum in at most so many parts, along one of its parameters, and the sum of these."""
        extent = box.extents[name].const
        length = math.ceil(extent / wanted)
        count = math.ceil(extent / length)
        part, inner = self.names.fresh("part"), self.names.fresh("term")
        place = Lin.symbol(part).scaled(length) + Lin.symbol(inner)
        value = rewrite(statement.value, {name: place})
        if count * length != extent:
            value = where_below(place, extent, value, statement.accumulate)
        own = [(n, box.extents[n]) for n in box.own]
        axes = [*own, (part, Lin(count))] if box.is_along else [(part, Lin(count)), *own]
        buffer = Buffer(
            self.names.fresh("parts"), tuple(e for _, e in axes), self._dtype(statement), where=statement.where
        )
        self.buffers[buffer.name] = buffer
        access = Access(buffer.name, tuple(Lin.symbol(n) for n, _ in axes))
        rest = [(n, box.extents[n]) for n in box.summed if n != name]
        first = Compute(
            (*axes, *rest, (inner, Lin(length))), access, value, statement.accumulate, statement.where, True
        )
        total = replace(statement, params=tuple(axes), value=access.read(buffer.dtype))
        return first, total

    def _dtype(self, statement: Compute) -> np.dtype[np.generic]:
        return self.buffers[statement.target.buffer].dtype


def parts_of(box: Sum, form: Form) -> int:
    """The number of parts of a sum; 1 if it is not worth two kernels, or if its extents are not known."""
    if not box.summed or box.elements is None or box.terms is None or not box.elements:
        return 1
    if form is Form.BLOCK:
        blocks = RESIDENT // BLOCK
        return min(blocks // box.elements, box.terms // (BLOCK * LENGTH))
    return min(RESIDENT // box.elements, box.terms // SHORT)
