"""States: the dataflow of a state or of a map's scope as statements, in a topological order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from dace import dtypes, symbolic
from dace.sdfg import nodes, utils

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Const, Lin, Op
from sdfgad.ir.program import (
    ZERO,
    Access,
    Block,
    Compute,
    Loop,
    Params,
    Statement,
    rewrite_statement,
    walk,
)
from sdfgad.sdfg import factorisations, fourier_nodes, linear_algebra, onnx_nodes
from sdfgad.sdfg.accumulation import operation_of
from sdfgad.sdfg.computations_read import call_of, computes_of
from sdfgad.sdfg.copies import copy_of, is_copy
from sdfgad.sdfg.descriptors import values_of
from sdfgad.sdfg.library import BoxTasklet, CallTasklet
from sdfgad.sdfg.normalisation import steps_in, with_symbols
from sdfgad.sdfg.operations import converted
from sdfgad.sdfg.points import runs_in_any_order
from sdfgad.sdfg.races import refuse_races
from sdfgad.sdfg.scope import TODO, Scope, located
from sdfgad.sdfg.substitution import substituted
from sdfgad.sdfg.views import inside_of, with_views

# Reads an SDFG with what its names mean.
Reader = Callable[[Any, Scope], Block]


def state_of(state: Any, scope: Scope, whole: Reader) -> Block:
    """The statements of a state."""
    return flow(state, None, scope, whole)


def flow(state: Any, entry: Any, scope: Scope, whole: Reader) -> Block:
    """The statements of a state, or of the scope of a map."""
    if not scope.buffers.is_foreign:
        _refuse_copies(state, entry)
        return tuple(s for node in code_nodes(state, entry) for s in node_of(state, node, scope, whole))
    found: list[tuple[Any, Block]] = []
    scope = with_views(state, entry, scope)
    for node in nodes_in(state, entry):
        with named(state, node):
            found.append((node, moved_to(state, node, scope)))
            if isinstance(node, (nodes.CodeNode, nodes.EntryNode)):
                found.append((node, node_of(state, node, scope, whole)))
            elif not isinstance(node, (nodes.AccessNode, nodes.MapExit)):
                raise UnsupportedGraph(f"the node `{node.label}` of type {type(node).__name__}", todo=TODO)
    refuse_races(state, [(node, block) for node, block in found if block], scope)
    return tuple(statement for _, block in found for statement in block)


@contextmanager
def named(state: Any, node: Any) -> Iterator[None]:
    """A context in which errors name the state, and the node's line."""
    try:
        yield
    except UnsupportedGraph as error:
        place = f", in the state `{state.label}`"
        if ", in the state `" not in error.what and f"`{state.label}`" not in error.what:
            error.what += place
        error.where = error.where or located(node)
        error.locate(located(node))
        error.args = (error._text(),)
        raise


def moved_to(state: Any, node: Any, scope: Scope) -> Block:
    """What is copied to an array, or through the border of a map, when a node's turn comes."""
    edges = state.in_edges(node) if isinstance(node, (nodes.AccessNode, nodes.MapExit)) else ()
    found = tuple(copy_of(state, edge, scope) for edge in edges if is_copy(state, edge))
    return (*_cleared(state, node, scope), *found) if isinstance(node, nodes.AccessNode) else found


def _cleared(state: Any, node: Any, scope: Scope) -> Block:
    """The zeros that an array has where it is allocated."""
    if not node.setzero:
        return ()
    uses = [one for one in scope.sdfg.states() if any(n.data == node.data for n in one.data_nodes())]
    first = next(n for n in nodes_in(state, state.entry_node(node)) if getattr(n, "data", None) == node.data)
    descriptor = scope.sdfg.arrays[node.data]
    is_local = descriptor.lifetime == dtypes.AllocationLifetime.Scope and descriptor.transient
    if len(uses) != 1 or not is_local:
        what = f"`{node.data}` is cleared where it is allocated, which is not in one state"
        raise UnsupportedGraph(what, todo="Clear it by a map.")
    if first is not node:
        return ()
    buffer = scope.buffer(node.data)
    names = [scope.buffers.names.fresh("c") for _ in buffer.shape]
    place = Access(buffer.name, tuple(map(Lin.symbol, names)))
    return (Compute(tuple(zip(names, buffer.shape, strict=True)), place, Const(0, buffer.dtype)),)


def _refuse_copies(state: Any, entry: Any) -> None:
    """Raises: UnsupportedGraph, where an edge of a scope goes from an array to another one."""
    parents = state.scope_dict()
    for edge in state.edges():
        copied = isinstance(edge.dst, nodes.AccessNode) and isinstance(edge.src, (nodes.AccessNode, nodes.EntryNode))
        copied |= isinstance(edge.src, nodes.AccessNode) and isinstance(edge.dst, nodes.ExitNode)
        if copied and not edge.data.is_empty() and entry in (parents[edge.src], parents[edge.dst]):
            raise UnsupportedGraph(f"the copy of `{edge.data.data}` in `{state.label}`")


def nodes_in(state: Any, entry: Any) -> list[Any]:
    """The nodes of a state or of a map's scope in the order in which DaCe's generators run them; the exit is last."""
    parents = state.scope_dict()
    ordered = utils.dfs_topological_sort(state, [n for n in state.nodes() if state.in_degree(n) == 0])
    exits = [] if entry is None else [state.exit_node(entry)]
    return [*(n for n in ordered if parents[n] is entry and not isinstance(n, nodes.ExitNode)), *exits]


def code_nodes(state: Any, entry: Any = None) -> list[Any]:
    """The nodes of a state that compute something, in a topological order; of one scope, if that is given."""
    return [node for node in nodes_in(state, entry) if isinstance(node, (nodes.CodeNode, nodes.EntryNode))]


def node_of(state: Any, node: Any, scope: Scope, whole: Reader) -> Block:
    """The statements of a node, with all that is in its scope."""
    if isinstance(node, nodes.MapEntry):
        return map_of(state, node, scope, whole)
    if isinstance(node, nodes.NestedSDFG):
        return nested_of(state, node, scope, whole)
    if isinstance(node, CallTasklet):
        return (call_of(state, node, scope),)
    for known in (linear_algebra, factorisations, fourier_nodes, onnx_nodes) if scope.buffers.is_foreign else ():
        if known.is_known(node):
            return known.call_of(state, node, scope)
    if isinstance(node, BoxTasklet):
        params = tuple((n, scope.form(last) + 1) for n, (_, last, _) in zip(node.params, node.range, strict=True))
        return tuple(computes_of(state, node, params, scope.with_symbols({n: Lin.symbol(n) for n in node.params})))
    if isinstance(node, nodes.Tasklet):
        return tuple(computes_of(state, node, (), scope))
    raise UnsupportedGraph(f"the node `{node.label}` of type {type(node).__name__}", todo=TODO)


# --- maps


def map_of(state: Any, entry: Any, scope: Scope, whole: Reader) -> Block:
    """The statements of a map: a box of points around a tasklet, or a loop, parallel if ours, around anything else."""
    params, starts, shifts = list[tuple[str, Lin]](), dict[str, Lin](), dict[str, Lin]()
    first, inner = with_ranges(state, entry, scope)
    for name, (begin, last, step) in zip(entry.map.params, entry.map.range.ndrange(), strict=True):
        start, width = inner.form(begin), _width(entry, step)
        span = inner.form(last) + 1 - start
        counter, inner = inner.with_counter(name)
        params.append((counter, steps_in(span, width)))
        if start != ZERO or width != 1:
            starts[counter], shifts[counter] = start, start + Lin.symbol(counter).scaled(width)
    if not scope.buffers.is_foreign:
        _refuse_copies(state, entry)
    inside = code_nodes(state, entry)
    if len(inside) == 1 and isinstance(inside[0], nodes.Tasklet) and _is_box(tuple(params)):
        found = box_of(state, inside[0], tuple(params), shifts, inner)
        if found is not None:
            return (*first, *found)
    body = flow(state, entry, inner, whole)
    is_parallel = not scope.buffers.is_foreign
    for name, trips in reversed(params):
        if name in shifts and shifts[name] == Lin.symbol(name) + starts[name]:
            body = (Loop(name, trips, body, (), start=starts[name], is_parallel=is_parallel),)
        else:
            body = with_symbols(body, {name: shifts[name]}) if name in shifts else body
            body = (Loop(name, trips, body, (), is_parallel=is_parallel),)
    return (*first, *body)


def with_ranges(state: Any, entry: Any, scope: Scope) -> tuple[Block, Scope]:
    """Numbers that a map reads of data for its ranges, kept in scalars."""
    found, symbols = list[Statement](), dict[str, Lin]()
    for edge in state.in_edges(entry):
        if edge.dst_conn is None or edge.dst_conn.startswith("IN_"):
            continue
        if not scope.buffers.is_foreign or edge.data.subset.num_elements() != 1:
            raise UnsupportedGraph(f"the map `{entry.map.label}` reads its range")
        places = tuple(scope.form(begin) for begin, _, _ in edge.data.subset.ndrange())
        value = scope.value(scope.read(edge.data.data, places))
        buffer = scope.buffers.make(scope.buffers.names.fresh(edge.dst_conn), (), np.int64)
        target = Access(buffer.name)
        found.append(Compute((), target, converted(value, buffer.dtype)))
        symbols[edge.dst_conn] = Lin.symbol(target.read(buffer.dtype))
    return tuple(found), scope.with_symbols(symbols) if symbols else scope


def box_of(state: Any, tasklet: Any, params: Params, shifts: dict[str, Lin], scope: Scope) -> Block | None:
    """The statements of a map around one tasklet; None where its points have to run one after the other."""
    if not scope.buffers.is_foreign:
        found = computes_of(state, tasklet, params, scope)
        return tuple(rewrite_statement(s, shifts) for s in found) if shifts else tuple(found)
    if any(is_copy(state, e) for n in nodes_in(state, state.entry_node(tasklet)) for e in state.in_edges(n)):
        return None
    if any(
        isinstance(e.dst, nodes.AccessNode) or isinstance(e.src, nodes.AccessNode) for e in state.all_edges(tasklet)
    ):
        return None
    with named(state, tasklet):
        found = computes_of(state, tasklet, params, with_views(state, state.entry_node(tasklet), scope))
    statements = tuple(rewrite_statement(s, shifts) for s in found) if shifts else tuple(found)
    return statements if len(statements) < 2 and all(map(runs_in_any_order, statements)) else None


def _width(entry: Any, step: Any) -> int:
    """Raises: UnsupportedGraph, where the step of a map is not a positive number."""
    if not symbolic.issymbolic(step) and int(step) > 0:
        return int(step)
    raise UnsupportedGraph(f"the map `{entry.map.label}` steps by `{step}`", todo="Write a sequential loop.")


def _is_box(params: Params) -> bool:
    """Whether no extent depends on another parameter."""
    names = {name for name, _ in params}
    return all(names.isdisjoint(extent.symbols) for _, extent in params)


# --- nested SDFGs


def nested_of(state: Any, node: Any, scope: Scope, whole: Reader) -> Block:
    """The statements of a nested SDFG, with the names of the SDFG around it."""
    inner = inside_of(state, node, scope)
    block = whole(node.sdfg, inner)
    _refuse_late_accumulation(state, node, inner, block)
    return substituted(block, [inner.buffer(name).name for name in values_of(node.sdfg)])


def _refuse_late_accumulation(state: Any, node: Any, inner: Scope, block: Block) -> None:
    """Raises: UnsupportedGraph, where a nested SDFG only assigns what the edge out of it accumulates.

    DaCe hands over the array, and so accumulates only what is accumulated inside.
    """
    for edge in state.out_edges(node):
        if edge.data.wcr is None:
            continue
        buffer, kind = inner.buffer(edge.src_conn).name, operation_of(edge.data.wcr)
        kinds = {_kind(s, buffer) for s in walk(block) if buffer in s.written and isinstance(s, Compute)}
        if kind not in kinds or not kinds <= {kind, ""}:
            what = f"the nested SDFG `{node.label}` assigns what the edge out of it accumulates into `{edge.data.data}`"
            raise UnsupportedGraph(what, todo="Accumulate in the tasklet inside.")


def _kind(statement: Compute, buffer: str) -> str:
    """How a statement accumulates into a buffer; "" for an assignment."""
    if statement.accumulate is not None:
        return str(statement.accumulate)
    value = statement.value
    is_product = isinstance(value, Op) and value.name == "multiply" and statement.target.read(value.dtype) in value.args
    return "multiply" if is_product else ""
