"""Temporaries of a device's passes: whether they are no larger than what a program holds, and their first values."""

from __future__ import annotations

from sdfgad.errors import Location
from sdfgad.ir.expr import Const
from sdfgad.ir.program import Buffer, Compute, Program, Whole
from sdfgad.schedule.kernels import points


def cleared(buffer: Buffer, where: Location | None) -> Compute:
    """All elements as 0."""
    whole = Whole(buffer.name, buffer.shape, buffer.dtype)
    return Compute(whole.params, whole.access, Const(buffer.dtype.type(0).item(), buffer.dtype), where=where)


def known_bytes(buffer: Buffer) -> int:
    """The bytes of a buffer; 0 if they are not known."""
    return (points(list(buffer.shape)) or 0) * buffer.dtype.itemsize


def largest_bytes(program: Program) -> int:
    """Those of the largest buffer."""
    return max(map(known_bytes, program.buffers.values()), default=0)
