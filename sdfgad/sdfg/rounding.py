"""Implicit conversions that C++ makes and that lose a value's derivative."""

from __future__ import annotations

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Expr, Read
from sdfgad.sdfg.scope import Scope


def refuse_rounding(value: Expr, read: Read, what: str, scope: Scope) -> None:
    """Raises: UnsupportedGraph, where C++ drops the fraction of what is written to an array of integers."""
    is_loss = value.dtype.kind in "fc" and read.dtype.kind in "biu"
    is_loss |= value.dtype.kind == "c" and read.dtype.kind == "f"
    if is_loss and scope.buffers.is_foreign:
        name = scope.buffers.found[read.buffer].source or read.buffer
        loses = f"{what} writes a {value.dtype} to `{name}`, which is of {read.dtype}"
        raise UnsupportedGraph(
            loses, todo=f"Make `{name}` of {value.dtype}, or convert what is written: dace.int64(x)."
        )
