"""What nested SDFGs and views see of arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dace
import numpy as np
from dace.sdfg import nodes, utils

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin
from sdfgad.sdfg.scope import Scope
from sdfgad.sdfg.windows import Layout, Part, Window, axis, seen

VIEWS = "Let a view see one part of one array, or copy that part before."
WHOLE = "A nested SDFG sees all of an array: let it see a part through a view, or copy that before."


def inside_of(state: Any, node: Any, scope: Scope) -> Scope:
    """The meaning of names in a nested SDFG.

    Raises:
        UnsupportedGraph: it accumulates into what it sees, or sees it with other strides.
    """
    arrays, windows = dict[str, str](), dict[str, Window]()
    _refuse_floats(node, scope)
    symbols = {n: scope.form(value) for n, value in node.symbol_mapping.items() if str(value) not in scope.values}
    values = {name: scope.values[str(v)] for name, v in node.symbol_mapping.items() if str(v) in scope.values}
    inner = Scope(scope.buffers, node.sdfg, arrays, symbols, windows=windows, values=values)
    for edge in state.all_edges(node):
        connector = edge.dst_conn if edge.dst is node else edge.src_conn
        if connector is None:
            continue
        if not scope.buffers.is_foreign:
            _refuse_own(edge, node, scope)
            arrays[connector] = scope.buffer(edge.data.data).name
            continue
        found = _window(edge.data, node.sdfg.arrays[connector], scope, inner, f"`{connector}` in `{node.label}`")
        if connector in windows and windows[connector] != found:
            raise UnsupportedGraph(f"the nested SDFG `{node.label}` reads another part as `{connector}` than it writes")
        windows[connector] = found
    return inner


def _refuse_floats(node: Any, scope: Scope) -> None:
    """Raises: UnsupportedGraph, where a symbol that is no integer is passed another value than a symbol's."""
    for name, value in node.symbol_mapping.items():
        kind = node.sdfg.symbols.get(name)
        if kind is not None and np.dtype(kind.type).kind not in "iu" and str(value) not in scope.values:
            what = f"the nested SDFG `{node.label}` is passed `{value}` for the symbol `{name}`, which is no integer"
            raise UnsupportedGraph(what, todo="Pass it in a scalar.")


def _refuse_own(edge: Any, node: Any, scope: Scope) -> None:
    if edge.data.wcr is not None:
        raise UnsupportedGraph(f"the nested SDFG `{node.label}` accumulates into all of `{edge.data.data}`")
    if not is_whole(edge.data, scope.sdfg):
        raise UnsupportedGraph(f"the nested SDFG `{node.label}` sees only a part of `{edge.data.data}`")


def is_whole(memlet: Any, sdfg: Any) -> bool:
    if memlet.subset is None:
        return True
    sizes = zip(memlet.subset.ndrange(), sdfg.arrays[memlet.data].shape, strict=True)
    return all(first == 0 and last == size - 1 and step == 1 for (first, last, step), size in sizes)


def _window(memlet: Any, descriptor: Any, scope: Scope, inner: Scope, what: str) -> Window:
    """All of an array, whatever part of it a memlet names: DaCe hands over its first element.

    Raises:
        UnsupportedGraph: the nested SDFG has an array of another shape, other strides or another type for it.
    """
    if memlet.data is None:
        raise UnsupportedGraph(f"{what} is connected to no array", todo=WHOLE)
    name, outer = memlet.data, scope.sdfg.arrays[memlet.data]
    layout, inside = scope.layout(name), Layout.of(descriptor, inner.symbols)
    if is_stream(descriptor) or descriptor.dtype != outer.dtype or layout != inside:
        raise UnsupportedGraph(f"{what} is not as `{name}` is, of which it sees all", todo=WHOLE)
    buffer = scope.buffer(name)
    index = tuple(Lin.symbol(axis(k)) for k in range(len(layout.shape)))
    shape = () if isinstance(descriptor, dace.data.Scalar) else inside.shape
    return Window(buffer.name, shape, scope.access(name, index).index)


def is_stream(descriptor: Any) -> bool:
    return not isinstance(descriptor, (dace.data.Array, dace.data.Scalar)) or isinstance(descriptor, dace.data.Stream)


def _seen(name: str, subset: Any, descriptor: Any, scope: Scope, inner: Layout, what: str) -> Window:
    """What an array with a descriptor sees of another one from the first element of a subset on."""
    outer = scope.sdfg.arrays[name]
    if is_stream(descriptor):
        raise UnsupportedGraph(f"{what} is a {type(descriptor).__name__}, and no array")
    buffer = scope.buffer(name)
    if descriptor.dtype != outer.dtype:
        raise UnsupportedGraph(f"{what} is of {descriptor.dtype}, and what it sees is of {outer.dtype}")
    index = seen(inner, scope.layout(name), part_of(subset, scope), what)
    shape = () if isinstance(descriptor, dace.data.Scalar) else inner.shape
    return Window(buffer.name, shape, scope.access(name, index).index)


def part_of(subset: Any, scope: Scope) -> Part:
    """The part of an array that a subset is."""
    starts, steps = zip(*((scope.form(first), scope.form(step)) for first, _, step in subset.ndrange()), strict=True)
    return Part(starts, tuple(scope.form(size) for size in subset.size()), steps)


# --- views


def with_views(state: Any, entry: Any, scope: Scope) -> Scope:
    """The scope in which the views of a state, or of a map's scope, are what they see.

    Raises:
        UnsupportedGraph: a view sees several parts, or other types or strides.
    """
    parents = state.scope_dict()
    views = [n for n in state.data_nodes() if parents[n] is entry and is_view(scope.sdfg.arrays[n.data])]
    left = list(views)
    while left:
        ready = [node for node in left if not any(_viewed(state, node) == other.data for other in left)]
        if not ready:
            raise UnsupportedGraph(f"the view `{left[0].data}` sees itself", todo=VIEWS)
        for node in ready:
            scope = _with_view(state, node, scope)
        left = [node for node in left if node not in ready]
    return scope


def is_view(descriptor: Any) -> bool:
    return isinstance(descriptor, dace.data.View)


def _viewed(state: Any, node: Any) -> str:
    """The name of what a view sees."""
    found = utils.get_view_node(state, node)
    if not isinstance(found, nodes.AccessNode):
        raise UnsupportedGraph(f"the view `{node.data}` sees no array, or several", todo=VIEWS)
    return str(found.data)


def _with_view(state: Any, node: Any, scope: Scope) -> Scope:
    name, edge = _viewed(state, node), utils.get_view_edge(state, node)
    memlet, outer = edge.data, scope.sdfg.arrays[_viewed(state, node)]
    subset = memlet.subset if memlet.data == name else memlet.other_subset
    if subset is None:
        subset = dace.subsets.Range.from_array(outer)
    inner = scope.layout(node.data)
    found = _seen(name, subset, scope.sdfg.arrays[node.data], scope, inner, f"the view `{node.data}`")
    if memlet.data != name and any(scope.form(f) != Lin(0) for f, _, _ in memlet.subset.ndrange()):
        raise UnsupportedGraph(f"the view `{node.data}` begins before what it sees", todo=VIEWS)
    before = scope.windows.get(node.data)
    in_state = [n for n in state.data_nodes() if n.data == node.data]
    if before is not None and before != found and len(in_state) > 1:
        raise UnsupportedGraph(f"the view `{node.data}` sees several parts in one state", todo=VIEWS)
    return replace(scope, windows={**scope.windows, node.data: found})
