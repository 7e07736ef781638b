"""Sizes of arrays in bytes, by which passes limit what they add: nothing larger than what the program has already."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sdfgad.ir.program import Buffer


def known_bytes(buffer: Buffer) -> int:
    """The bytes of an array; 0 where an extent is known at run time only."""
    is_known = all(extent.is_const for extent in buffer.shape)
    return math.prod(extent.const for extent in buffer.shape) * buffer.dtype.itemsize if is_known else 0


def largest(buffers: Mapping[str, Buffer]) -> int:
    """The bytes of the largest array."""
    return max(map(known_bytes, buffers.values()), default=0)
