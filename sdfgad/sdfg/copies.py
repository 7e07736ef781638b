"""Copies: an edge from one array to another as an assignment of elements."""

from __future__ import annotations

import math
from typing import Any

from dace import subsets
from dace.sdfg import nodes

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin
from sdfgad.ir.folding import folded
from sdfgad.ir.program import Access, Compute, Params
from sdfgad.parse.strides import ravelled, unravelled
from sdfgad.sdfg.accumulation import accumulated
from sdfgad.sdfg.operations import converted
from sdfgad.sdfg.points import runs_in_any_order
from sdfgad.sdfg.rounding import refuse_rounding
from sdfgad.sdfg.scope import Scope, located

Index = tuple[Lin, ...]
ONE = Lin(1)
TODO = "Copy it by a map with a tasklet, element by element."


def is_copy(state: Any, edge: Any) -> bool:
    """Whether an edge copies an array; of the edges through a map's border the one inside is it."""
    if edge.data.is_empty() or "views" in (edge.src_conn, edge.dst_conn):
        return False
    if isinstance(edge.src, nodes.EntryNode):
        return isinstance(edge.dst, nodes.AccessNode)
    return isinstance(edge.src, nodes.AccessNode) and isinstance(edge.dst, (nodes.AccessNode, nodes.ExitNode))


def copy_of(state: Any, edge: Any, scope: Scope) -> Compute:
    """The assignment that an edge between arrays is.

    Raises:
        UnsupportedGraph: the parts are of different sizes, or of one array and overlap.
    """
    path = state.memlet_path(edge)
    first, last = path[0].src, path[-1].dst
    what = f"the copy of `{first}` to `{last}` in `{state.label}`"
    if not isinstance(first, nodes.AccessNode) or not isinstance(last, nodes.AccessNode):
        raise UnsupportedGraph(f"{what} has no array at its other end", todo=TODO)
    source, target = _parts(edge.data, state, edge, first.data, last.data)
    source_part = _part(source, target, first.data, scope, what)
    target_part = _part(target, source, last.data, scope, what)
    params, places = _matched(source_part, target_part, scope, what)
    read, written = (scope.read(n, i) for n, i in zip((first.data, last.data), places, strict=True))
    refuse_rounding(read, written, what, scope)
    value, where = converted(scope.value(read), written.dtype), located(first)
    access = Access(written.buffer, written.index)
    found = Compute(params, access, value, None, where)
    if edge.data.wcr is not None:
        found = accumulated(edge.data.wcr, params, access, value, written.dtype, where)
    if not runs_in_any_order(found):
        raise UnsupportedGraph(f"{what} may read what it has written", where, TODO)
    return found


def _parts(memlet: Any, state: Any, edge: Any, source: str, target: str) -> tuple[Any, Any]:
    """The subsets of both arrays; None where the memlet does not tell one."""
    if source == target:
        memlet.try_initialize(state.sdfg, state, edge)
        return memlet.src_subset, memlet.dst_subset
    if memlet.data == source:
        return memlet.subset, memlet.other_subset
    return memlet.other_subset, memlet.subset


Part = list[tuple[Lin, Lin, int]]


def _part(subset: Any, other: Any, name: str, scope: Scope, what: str) -> Part:
    """The start, the number of elements and the step along each axis of what is copied."""
    if subset is None:
        return _like(other, name, scope, what)
    if not isinstance(subset, subsets.Range):
        raise UnsupportedGraph(f"{what} has a subset of type {type(subset).__name__}", todo=TODO)
    found: Part = []
    for first, last, step in subset.ndrange():
        if not str(step).isdigit() or int(step) < 1:
            raise UnsupportedGraph(f"{what} steps by `{step}`", todo=TODO)
        span = scope.form(last) - scope.form(first)
        if int(step) != 1 and not span.is_const:
            raise UnsupportedGraph(f"{what} steps by `{step}`, up to what is no number", todo=TODO)
        count = span + 1 if int(step) == 1 else Lin(span.const // int(step) + 1)
        found.append((scope.form(first), count, int(step)))
    return found


def _like(other: Any, name: str, scope: Scope, what: str) -> Part:
    """From the first element on as much as of the other array, or all where that is as much."""
    shape = scope.layout(name).shape
    whole: Part = [(Lin(0), extent, 1) for extent in shape]
    if other is None:
        return whole
    sizes = [scope.form(size) for size in other.size()]
    if len(sizes) == len(shape) and all(_is_at_most(size, extent) for size, extent in zip(sizes, shape, strict=True)):
        return [(Lin(0), size, 1) for size in sizes]
    if _count(sizes) == _count(list(shape)) is not None:
        return whole
    raise UnsupportedGraph(f"{what} does not say to which part", todo="Give the memlet both subsets.")


def _is_at_most(size: Lin, extent: Lin) -> bool:
    return size == extent or (size.is_const and extent.is_const and size.const <= extent.const)


def _count(sizes: list[Lin]) -> int | None:
    return math.prod(size.const for size in sizes) if all(size.is_const for size in sizes) else None


def _matched(source: Part, target: Part, scope: Scope, what: str) -> tuple[Params, tuple[Index, Index]]:
    """A box, and the places of its points in both arrays, which are in the same row-major order."""
    long = [(k, count) for k, (_, count, _) in enumerate(source) if count != ONE]
    other = [(k, count) for k, (_, count, _) in enumerate(target) if count != ONE]
    names = [scope.buffers.names.fresh("c") for _ in other]
    params = tuple((name, count) for name, (_, count) in zip(names, other, strict=True))
    at = {k: Lin.symbol(name) for name, (k, _) in zip(names, other, strict=True)}
    inside = tuple(at.get(k, Lin(0)) for k in range(len(target)))
    if [count for _, count in long] == [count for _, count in other]:
        there = {k: Lin.symbol(name) for name, (k, _) in zip(names, long, strict=True)}
        moved = tuple(there.get(k, Lin(0)) for k in range(len(source)))
        return params, (_places(source, moved), _places(target, inside))
    sizes = [[count for _, count, _ in part] for part in (source, target)]
    if _count(sizes[0]) is None or _count(sizes[0]) != _count(sizes[1]):
        raise UnsupportedGraph(f"{what} is of parts of different sizes", todo=TODO)
    flat = ravelled(inside, [size.const for size in sizes[1]])
    ranges = {name: (0, count.const - 1) for name, count in params}
    moved = tuple(folded(form, ranges) for form in unravelled(flat, [size.const for size in sizes[0]]))
    return params, (_places(source, moved), _places(target, inside))


def _places(part: Part, inside: Index) -> Index:
    return tuple(first + form.scaled(step) for (first, _, step), form in zip(part, inside, strict=True))
