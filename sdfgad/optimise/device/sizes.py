"""Known sizes of buffers, by which passes decide whether temporaries are no larger than what a program holds."""

from __future__ import annotations

from sdfgad.ir.program import Buffer, Program
from sdfgad.schedule.kernels import points


def known_bytes(buffer: Buffer) -> int:
    """The bytes of a buffer; 0 if they are not known."""
    return (points(list(buffer.shape)) or 0) * buffer.dtype.itemsize


def largest_bytes(program: Program) -> int:
    """Those of the largest buffer."""
    return max(map(known_bytes, program.buffers.values()), default=0)
