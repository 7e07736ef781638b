"""Arrays of library nodes: copies of what memlets name, which calls of our library take and return whole."""

from __future__ import annotations

from typing import Any

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Access, Buffer, Compute, Statement, Whole
from sdfgad.sdfg.scope import Scope
from sdfgad.sdfg.views import part_of
from sdfgad.sdfg.windows import Part

TODO = "Pass whole arrays of one size, or parts in steps of 1."


def copied(memlet: Any, scope: Scope, found: list[Statement], source: Buffer | None = None, rank: int = 2) -> Buffer:
    """A new array with what a memlet names, a vector as a column if the rank is 2; or that part, set from an array.

    Raises:
        UnsupportedGraph: the part has steps, or another shape than the array.
    """
    part = part_of(memlet.subset, scope)
    if any(step != Lin(1) for step in part.steps) or memlet.wcr is not None:
        raise UnsupportedGraph(f"the memlet `{memlet}` of a library node", todo=TODO)
    long = _axes(part, rank)
    shape = tuple(part.sizes[k] for k in long)
    shape = (*shape, *[Lin(1)] * (rank - len(shape)))
    if source is not None and source.shape != shape:
        raise UnsupportedGraph(f"the memlet `{memlet}` of a library node has another shape than what it is", todo=TODO)
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


def _axes(part: Part, rank: int) -> list[int]:
    """The axes of a part that an array of a rank has, which are all of its own if there are as many or fewer."""
    long = [k for k, size in enumerate(part.sizes) if size != Lin(1)]
    return [*range(len(part.sizes))] if len(part.sizes) <= rank else long


def is_same_part(one: Any, other: Any, scope: Scope) -> bool:
    """Whether two memlets name the same elements in the same order."""
    first, second = (part_of(memlet.subset, scope) for memlet in (one, other))
    if first.sizes != second.sizes or first.steps != second.steps:
        return False
    names = [scope.buffers.names.fresh("c") for _ in first.sizes]

    def place(memlet: Any, part: Part) -> Access:
        moves = (Lin.symbol(name) if size != Lin(1) else Lin(0) for name, size in zip(names, part.sizes, strict=True))
        return scope.access(memlet.data, tuple(start + move for start, move in zip(part.starts, moves, strict=True)))

    return place(one, first) == place(other, second)


def refuse_strided(memlet: Any, scope: Scope) -> None:
    """Raises: UnsupportedGraph, where the numbers of a row are not one after the other, as LAPACK takes them."""
    part, layout = part_of(memlet.subset, scope), scope.layout(memlet.data)
    wide = [k for k, size in enumerate(part.sizes) if size != Lin(1)]
    if len(wide) > 1 and layout.strides[wide[-1]] != Lin(1):
        what = f"the rows of the memlet `{memlet}` have strides, which DaCe's call of LAPACK does not take"
        raise UnsupportedGraph(what, todo="Copy it to an array that is stored row by row.")


def whole(buffer: Buffer) -> Whole:
    return Whole(buffer.name, buffer.shape, buffer.dtype)
