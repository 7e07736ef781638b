"""SDFG import: reads an SDFG as statements, as `writer` wrote it or as DaCe's transformations have changed it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dace import symbolic
from dace.sdfg import nodes, utils
from dace.sdfg.state import ConditionalBlock, ControlFlowRegion, LoopRegion, SDFGState

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Int, Lin, Read
from sdfgad.ir.program import (
    ZERO,
    Block,
    Branch,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    rewrite_statement,
    written,
)
from sdfgad.sdfg.computations_read import call_of, clears, computes_of, is_clear
from sdfgad.sdfg.descriptors import bounds_of, values_of
from sdfgad.sdfg.library import BoxTasklet, CallTasklet
from sdfgad.sdfg.normalisation import downwards, steps_in, upwards, with_symbols
from sdfgad.sdfg.parsing import linear
from sdfgad.sdfg.scope import Buffers, Scope
from sdfgad.sdfg.stale_symbols import StaleSymbols, assigned_inside
from sdfgad.sdfg.substitution import substituted


def read(sdfg: Any) -> Program:
    """The program of an SDFG whose library nodes are expanded for our own generators.

    Raises:
        UnsupportedGraph: the SDFG has something that no statement can express.
    """
    scope = top_scope(sdfg)
    body = substituted(region(sdfg, scope), values_of(sdfg))
    outside = [name for name, descriptor in sdfg.arrays.items() if not descriptor.transient]
    changed = written(body)
    inputs = tuple(name for name in outside if name not in changed)
    outputs = {name: name for name in outside if name in changed}
    bounds = tuple(sorted(set[str]().union(*map(bounds_of, sdfg.arrays.values()))))
    mentioned = frozenset(outside).union(*(statement.mentioned for statement in body))
    buffers = {name: buffer for name, buffer in scope.buffers.found.items() if name in mentioned}
    return Program(sdfg.name, buffers, inputs, integers_of(sdfg), outputs, body, bounds=bounds)


def integers_of(sdfg: Any) -> tuple[str, ...]:
    """The symbols that a caller passes: neither counters nor symbols that the graph itself assigns first."""
    assigned = {name for edge in sdfg.all_interstate_edges() for name in edge.data.assignments}
    assigned |= {loop.loop_variable for loop in sdfg.all_control_flow_regions() if isinstance(loop, LoopRegion)}
    passed = sdfg.free_symbols if assigned & set(sdfg.symbols) else set()
    return tuple(name for name in sdfg.symbols if name not in assigned or name in passed)


def top_scope(sdfg: Any) -> Scope:
    scope = Scope(Buffers(), sdfg, {}, {})
    for name in sdfg.arrays:
        scope.buffer(name)
    return scope


# --- control flow


def region(graph: Any, scope: Scope) -> Block:
    """The statements of a control-flow region, one block after the other."""
    found: list[Statement] = []
    stale, before = StaleSymbols(), None
    for block, assignments in chain(graph):
        stale.enter(block, assignments)
        scope = assigned(assignments, scope)
        statements = block_of(block, scope)
        stale.leave(block, scope, written(statements))
        if is_clear(before) and not assignments and len(statements) == 1 and clears(found[-1], statements[0]):
            found.pop()
            statements = (as_fresh(statements[0]),)
        found += statements
        scope, before = scope.without(assigned_inside(block)), block
    return tuple(found)


def as_fresh(statement: Statement) -> Compute:
    """An accumulation with the clear before it, as one statement."""
    assert isinstance(statement, Compute)
    return replace(statement, fresh=True)


def chain(graph: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    """The blocks of a region in order, each with what is assigned to symbols before.

    Raises:
        UnsupportedGraph: a block has several successors.
    """
    block, assignments = graph.start_block, dict[str, str]()
    while True:
        yield block, assignments
        edges = graph.out_edges(block)
        if not edges:
            return
        if len(edges) > 1 or not edges[0].data.is_unconditional():
            raise UnsupportedGraph(f"the block `{block.label}` has conditional successors")
        block, assignments = edges[0].dst, edges[0].data.assignments


def assigned(assignments: dict[str, str], scope: Scope) -> Scope:
    values = {name: linear(scope.parser.text(str(value))) for name, value in assignments.items()}
    return scope.with_symbols(values) if values else scope


def block_of(block: Any, scope: Scope) -> Block:
    if isinstance(block, SDFGState):
        return state_of(block, scope)
    if isinstance(block, LoopRegion):
        return (loop_of(block, scope),)
    if isinstance(block, ConditionalBlock):
        return branch_of(block.branches, scope)
    if type(block) is ControlFlowRegion:
        return region(block, scope)
    raise UnsupportedGraph(f"the block `{block.label}` of type {type(block).__name__}")


def branch_of(branches: list[Any], scope: Scope) -> Block:
    if not branches:
        return ()
    (condition, body), *rest = branches
    if condition is None:
        return region(body, scope)
    return (Branch(scope.parser.text(condition.as_string), region(body, scope), branch_of(rest, scope)),)


def loop_of(loop: Any, scope: Scope) -> Loop:
    """A counted loop, of steps of any length.

    Raises:
        UnsupportedGraph: the loop is not of the form ``for (i = a; i < b; i += c)``, up or down.
    """
    var, first, step = loop.loop_variable, _start(loop, scope), _step(loop, scope)
    condition: Any = loop.loop_condition.code[0]
    condition = condition.value if isinstance(condition, ast.Expr) else condition
    is_one = isinstance(condition, ast.Compare) and len(condition.ops) == 1
    is_known = is_one and ast.unparse(condition.left) == var and not loop.inverted
    if not is_known or not isinstance(condition.ops[0], (ast.Lt, ast.LtE) if step > 0 else (ast.Gt, ast.GtE)):
        raise UnsupportedGraph(f"the loop `{loop.label}` goes on while `{loop.loop_condition.as_string}`")
    bound = scope.parser.expression(condition.comparators[0], {})
    if any(var in edge.data.assignments for edge in loop.all_interstate_edges()):
        raise UnsupportedGraph(f"the loop `{loop.label}` assigns its counter")
    counter, inner = scope.without(assigned_inside(loop)).with_counter(var)
    body = region(loop, inner)
    if abs(step) != 1 and any(read.buffer in written(body) for read in Int(first).reads):
        raise UnsupportedGraph(f"the loop `{loop.label}` changes where it started")
    is_open = isinstance(bound, Read) and bound.buffer in written(body)
    data = {node.id for node in ast.walk(condition) if isinstance(node, ast.Name) and node.id in scope.sdfg.arrays}
    moving = any(scope.buffer(name).name in written(body) for name in data)
    if moving and not (is_open and step == 1):
        raise UnsupportedGraph(f"the loop `{loop.label}` changes how long it goes on")
    end = Lin.symbol(bound) if is_open else linear(bound)
    closed = isinstance(condition.ops[0], (ast.LtE, ast.GtE))
    if step < 0:
        least = end if closed else end + 1
        return downwards(counter, least, first - least + 1, -step, first, body)
    trips = (end + 1 if closed else end) - first
    return replace(upwards(counter, first, trips, step, body), is_open=is_open)


def _start(loop: Any, scope: Scope) -> Lin:
    assignment = loop.init_statement.code[0]
    return linear(scope.parser.expression(assignment.value, {}))


def _step(loop: Any, scope: Scope) -> int:
    assignment, var = loop.update_statement.code[0], loop.loop_variable
    after = scope.with_symbols({var: Lin.symbol(var)}).parser.expression(assignment.value, {})
    step = linear(after) - Lin.symbol(var)
    if not step.is_const or not step.const:
        raise UnsupportedGraph(f"the loop `{loop.label}` steps by `{loop.update_statement.as_string}`")
    return step.const


# --- states


def state_of(state: Any, scope: Scope) -> Block:
    """The statements of a state."""
    _refuse_copies(state, None)
    return tuple(s for node in code_nodes(state) for s in node_of(state, node, scope))


def _refuse_copies(state: Any, entry: Any) -> None:
    """Raises: UnsupportedGraph, where an edge of a scope goes from an array to another one."""
    parents = state.scope_dict()
    for edge in state.edges():
        copied = isinstance(edge.dst, nodes.AccessNode) and isinstance(edge.src, (nodes.AccessNode, nodes.EntryNode))
        copied |= isinstance(edge.src, nodes.AccessNode) and isinstance(edge.dst, nodes.ExitNode)
        if copied and not edge.data.is_empty() and entry in (parents[edge.src], parents[edge.dst]):
            raise UnsupportedGraph(f"the copy of `{edge.data.data}` in `{state.label}`")


def code_nodes(state: Any, scope_nodes: set[Any] | None = None) -> list[Any]:
    """The nodes of a state that compute something, in a topological order; of one scope, if that is given."""
    parents = state.scope_dict()
    ordered = utils.dfs_topological_sort(state, [n for n in state.nodes() if state.in_degree(n) == 0])
    return [n for n in ordered if parents[n] is scope_nodes and isinstance(n, (nodes.CodeNode, nodes.EntryNode))]


def node_of(state: Any, node: Any, scope: Scope) -> Block:
    """The statements of a node, with all that is in its scope."""
    if isinstance(node, nodes.MapEntry):
        return map_of(state, node, scope)
    if isinstance(node, nodes.NestedSDFG):
        return nested_of(state, node, scope)
    if isinstance(node, CallTasklet):
        return (call_of(state, node, scope),)
    if isinstance(node, BoxTasklet):
        params = tuple((n, scope.form(last) + 1) for n, (_, last, _) in zip(node.params, node.range, strict=True))
        return tuple(computes_of(state, node, params, scope.with_symbols({n: Lin.symbol(n) for n in node.params})))
    if isinstance(node, nodes.Tasklet):
        return tuple(computes_of(state, node, (), scope))
    raise UnsupportedGraph(f"the node `{node.label}` of type {type(node).__name__}")


def map_of(state: Any, entry: Any, scope: Scope) -> Block:
    """The statements of a map: a box of points around a tasklet, or a parallel loop around anything else."""
    params, starts, shifts = list[tuple[str, Lin]](), dict[str, Lin](), dict[str, Lin]()
    inner = scope
    for name, (first, last, step) in zip(entry.map.params, entry.map.range.ndrange(), strict=True):
        start, width = inner.form(first), _width(entry, step)
        span = inner.form(last) + 1 - start
        counter, inner = inner.with_counter(name)
        params.append((counter, steps_in(span, width)))
        if start != ZERO or width != 1:
            starts[counter], shifts[counter] = start, start + Lin.symbol(counter).scaled(width)
    _refuse_copies(state, entry)
    inside = code_nodes(state, entry)
    if len(inside) == 1 and isinstance(inside[0], nodes.Tasklet) and _is_box(tuple(params)):
        found = computes_of(state, inside[0], tuple(params), inner)
        return tuple(rewrite_statement(s, shifts) for s in found) if shifts else tuple(found)
    body: Block = tuple(s for node in inside for s in node_of(state, node, inner))
    for name, trips in reversed(params):
        if name in shifts and shifts[name] == Lin.symbol(name) + starts[name]:
            body = (Loop(name, trips, body, (), start=starts[name], is_parallel=True),)
        else:
            body = with_symbols(body, {name: shifts[name]}) if name in shifts else body
            body = (Loop(name, trips, body, (), is_parallel=True),)
    return body


def _width(entry: Any, step: Any) -> int:
    """Raises: UnsupportedGraph, where the step of a map is not a positive number."""
    if not symbolic.issymbolic(step) and int(step) > 0:
        return int(step)
    raise UnsupportedGraph(f"the map `{entry.map.label}` steps by `{step}`")


def _is_box(params: Params) -> bool:
    """Whether no extent depends on another parameter."""
    names = {name for name, _ in params}
    return all(names.isdisjoint(extent.symbols) for _, extent in params)


def nested_of(state: Any, node: Any, scope: Scope) -> Block:
    """The statements of a nested SDFG, with the names of the SDFG around it."""
    arrays: dict[str, str] = {}
    for edge in state.all_edges(node):
        connector = edge.dst_conn if edge.dst is node else edge.src_conn
        if connector is None:
            continue
        if edge.data.wcr is not None:
            raise UnsupportedGraph(f"the nested SDFG `{node.label}` accumulates into all of `{edge.data.data}`")
        if not _is_whole(edge.data, scope.sdfg):
            raise UnsupportedGraph(f"the nested SDFG `{node.label}` sees only a part of `{edge.data.data}`")
        arrays[connector] = scope.buffer(edge.data.data).name
    symbols = {name: scope.form(value) for name, value in node.symbol_mapping.items()}
    inner = Scope(scope.buffers, node.sdfg, arrays, symbols)
    block = region(node.sdfg, inner)
    return substituted(block, [inner.buffer(name).name for name in values_of(node.sdfg)])


def _is_whole(memlet: Any, sdfg: Any) -> bool:
    if memlet.subset is None:
        return True
    sizes = zip(memlet.subset.ndrange(), sdfg.arrays[memlet.data].shape, strict=True)
    return all(first == 0 and last == size - 1 and step == 1 for (first, last, step), size in sizes)
