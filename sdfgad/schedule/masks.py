"""Masked loops: a loop whose body runs only where a mask is set can skip from one set element to the next."""

from __future__ import annotations

from collections.abc import Mapping

from sdfgad.ir.expr import BOOL, Lin, Read
from sdfgad.ir.program import Branch, Buffer, Loop, written


def mask_of(loop: Loop, buffers: Mapping[str, Buffer]) -> str | None:
    """The boolean array ``m`` of a loop ``for i: if m[i]: …`` whose body does not write it; None for other loops."""
    if loop.is_open or len(loop.body) != 1:
        return None
    (branch,) = loop.body
    if not isinstance(branch, Branch) or branch.orelse or not isinstance(branch.condition, Read):
        return None
    mask = branch.condition
    is_own = mask.index == (Lin.symbol(loop.var),) and buffers[mask.buffer].dtype == BOOL
    return mask.buffer if is_own and mask.buffer not in written(branch.then) else None
