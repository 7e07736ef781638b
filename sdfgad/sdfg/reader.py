"""SDFG import: reads an SDFG as statements: what `writer` wrote, what DaCe's transformations made of it, or others'."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dace.sdfg.state import (
    ConditionalBlock,
    ControlFlowRegion,
    FunctionCallRegion,
    LoopRegion,
    NamedRegion,
    SDFGState,
)

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.program import Block, Compute, Program, Statement, written
from sdfgad.sdfg import loops_read, states
from sdfgad.sdfg.branches import branch
from sdfgad.sdfg.computations_read import clears, is_clear
from sdfgad.sdfg.descriptors import bounds_of, values_of
from sdfgad.sdfg.jumps_read import Parts, cleared, inside_graph, is_jump, jump_of
from sdfgad.sdfg.operations import linear, truth
from sdfgad.sdfg.scope import Buffers, Exits, Scope, located
from sdfgad.sdfg.stale_symbols import StaleSymbols, assigned_inside
from sdfgad.sdfg.substitution import substituted
from sdfgad.sdfg.variables import assigned_variables, refuse_dependent, with_variables

TODO = "Write loops as LoopRegions and choices as ConditionalBlocks, which leave at their end."


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


def whole(sdfg: Any, scope: Scope) -> Block:
    """The statements of an SDFG, in which some symbols may be variables."""
    first, scope = with_variables(sdfg, scope)
    scope = inside_graph(sdfg, scope)
    body = region(sdfg, scope)
    return (*first, *cleared(body, scope.exits.returned), *body)


def region(graph: Any, scope: Scope) -> Block:
    """The statements of a control-flow region, one block after the other."""
    found = Parts.of(scope)
    stale, before = StaleSymbols(), None
    for block, assignments in chain(graph):
        stale.enter(block, assignments, scope)
        if scope.buffers.is_foreign:
            refuse_dependent(assignments, block.label)
        found.last.extend(assigned_variables(assignments, scope))
        scope = assigned(assignments, scope)
        statements = block_of(block, scope)
        stale.leave(block, scope, written(statements))
        if is_clear(before) and not assignments and len(statements) == 1 and clears(found.last[-1], statements[0]):
            found.last.pop()
            statements = (as_fresh(statements[0]),)
        found.add(statements)
        scope, before = scope.without(assigned_inside(block)), block
    return found.joined()


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
    seen = set[Any]()
    while block not in seen:
        seen.add(block)
        yield block, assignments
        if is_jump(block):
            return
        edges = graph.out_edges(block)
        if not edges:
            return
        if len(edges) > 1 or not edges[0].data.is_unconditional():
            raise UnsupportedGraph(f"the block `{block.label}` has conditional successors", todo=TODO)
        block, assignments = edges[0].dst, edges[0].data.assignments
    raise UnsupportedGraph(f"the block `{block.label}` comes after itself", todo=TODO)


def assigned(assignments: dict[str, str], scope: Scope) -> Scope:
    names = [name for name in assignments if not scope.is_variable(name)]
    values = {name: scope.parser.text(str(assignments[name])) for name in names}
    for name, value in values.items():
        if value.dtype.kind not in "iu" and scope.buffers.is_foreign:
            raise scope.kept(name, f"the symbol `{name}` is no integer")
    forms = {name: linear(value) for name, value in values.items()}
    return scope.with_symbols(forms) if forms else scope


def block_of(block: Any, scope: Scope) -> Block:
    if isinstance(block, SDFGState):
        return states.state_of(block, scope, whole)
    if isinstance(block, LoopRegion):
        return loops_read.loop_of(block, scope, region)
    if isinstance(block, ConditionalBlock):
        return branch_of(block.branches, scope)
    if is_jump(block):
        return jump_of(block, scope)
    if type(block) in (ControlFlowRegion, NamedRegion):
        return region(block, scope)
    if type(block) is FunctionCallRegion:
        # What `return` leaves is not said: DaCe's code leaves the graph.
        return region(block, replace(scope, exits=Exits()))
    raise UnsupportedGraph(f"the block `{block.label}` of type {type(block).__name__}", located(block), TODO)


def branch_of(branches: list[Any], scope: Scope) -> Block:
    if not branches:
        return ()
    (condition, body), *rest = branches
    if condition is None:
        return region(body, scope)
    value = truth(scope.parser.text(condition.as_string))
    then, orelse = region(body, scope), branch_of(rest, scope)
    return branch(value, then, orelse, scope, located(body))
