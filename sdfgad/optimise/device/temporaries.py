"""Temporaries of a device's passes: whether they are no larger than what a program holds, and their first values."""

from __future__ import annotations

from typing import Any

from sdfgad.errors import Location
from sdfgad.ir.expr import Const
from sdfgad.ir.program import Buffer, Compute, Program, Whole
from sdfgad.schedule.device_sums import points

# Fewer contributions than that part of an array's elements are better handled one after another.
SPARSE = 16


def filled(buffer: Buffer, value: Any, where: Location | None) -> Compute:
    """All elements as one number."""
    whole = Whole(buffer.name, buffer.shape, buffer.dtype)
    return Compute(whole.params, whole.access, Const(value, buffer.dtype), where=where)


def cleared(buffer: Buffer, where: Location | None) -> Compute:
    """All elements as 0."""
    return filled(buffer, buffer.dtype.type(0).item(), where)


def is_dense(elements: int, contributions: int) -> bool:
    """Whether a pass over all elements is worth it for so many contributions to them."""
    return 0 < elements <= SPARSE * contributions


def known_bytes(buffer: Buffer) -> int:
    """The bytes of a buffer; 0 if they are not known."""
    return (points(list(buffer.shape)) or 0) * buffer.dtype.itemsize


def largest_bytes(program: Program) -> int:
    """Those of the largest buffer."""
    return max(map(known_bytes, program.buffers.values()), default=0)
