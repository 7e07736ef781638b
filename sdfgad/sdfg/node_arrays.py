"""Arrays of library nodes: copies of what memlets name, which calls of our library take and return whole."""

from __future__ import annotations

from typing import Any

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Access, Buffer, Compute, Statement, Whole
from sdfgad.sdfg.scope import Scope
from sdfgad.sdfg.views import part_of

TODO = "Pass whole arrays of one size, or parts in steps of 1."


def copied(memlet: Any, scope: Scope, found: list[Statement], source: Buffer | None = None) -> Buffer:
    """A new array with what a memlet names, a vector as a column; or that part, set from an array."""
    part = part_of(memlet.subset, scope)
    if any(step != Lin(1) for step in part.steps) or memlet.wcr is not None:
        raise UnsupportedGraph(f"the memlet `{memlet}` of a library node", todo=TODO)
    long = [k for k, size in enumerate(part.sizes) if size != Lin(1)]
    long = [*range(len(part.sizes))] if len(part.sizes) <= 2 else long
    shape = tuple(part.sizes[k] for k in long)
    shape = shape if len(shape) == 2 else (*shape, Lin(1))
    names = [scope.buffers.names.fresh("c") for _ in shape]
    index = tuple(map(Lin.symbol, names))
    at = dict(zip(long, index, strict=False))
    place = tuple(start + at.get(k, Lin(0)) for k, start in enumerate(part.starts))
    params = tuple(zip(names, shape, strict=True))
    element = scope.read(memlet.data, place)
    if source is not None:
        value = Access(source.name, index).read(source.dtype)
        found.append(Compute(params, Access(element.buffer, element.index), value))
        return source
    buffer = scope.buffers.make(scope.buffers.names.fresh("matrix"), shape, element.dtype)
    found.append(Compute(params, Access(buffer.name, index), element))
    return buffer


def whole(buffer: Buffer) -> Whole:
    return Whole(buffer.name, buffer.shape, buffer.dtype)
