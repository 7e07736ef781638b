"""Allocation sizes: the bytes of an array of elements, in whole units, as ``memory.h`` and ``device.h`` count them."""

from __future__ import annotations

from sdfgad.ir.program import Call

# What `memory.h` rounds up to.
LINE = 64
# The same of `device.h`.
DEVICE_UNIT = 512


def array(size: int, item: int, unit: int = LINE) -> int:
    """The bytes that an array of `size` elements of `item` bytes takes."""
    return max(unit, -(-size * item // unit) * unit)


class Types:
    """The size of an element, of its real part, and of both in double precision."""

    def __init__(self, call: Call) -> None:
        dtype = call.inputs[0].dtype
        parts = 2 if dtype.kind == "c" else 1
        self.item, self.wide = dtype.itemsize, 8 * parts
        self.real = self.item // parts

    def result(self, size: int) -> int:
        return array(size if self.item < self.wide else 0, self.wide)

    def real_result(self, size: int) -> int:
        return array(size if self.item < self.wide else 0, 8)
