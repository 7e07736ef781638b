"""Conversion of dataflow to computations: tasklets, and the maps around them, become statements over boxes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from dace import dtypes
from dace.sdfg import nodes
from dace.sdfg.state import SDFGState

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Const, Expr, Lin, Read
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Access, Call, Compute, Params, Statement, Whole, reads_of
from sdfgad.sdfg.accumulation import accumulated, operation_of
from sdfgad.sdfg.computations import own
from sdfgad.sdfg.cpp_tasklets import statements_of_cpp
from sdfgad.sdfg.descriptors import is_affine
from sdfgad.sdfg.library import BoxTasklet, CallTasklet
from sdfgad.sdfg.marks import CLEARS
from sdfgad.sdfg.operations import converted, linear
from sdfgad.sdfg.parsing import TaskletParser, filled, is_partial
from sdfgad.sdfg.rounding import refuse_rounding
from sdfgad.sdfg.scope import Scope, located


def computes_of(state: Any, tasklet: Any, params: Params, scope: Scope) -> list[Statement]:
    """The computations of a tasklet for all points of a box.

    Raises:
        UnsupportedGraph: the tasklet is neither in Python nor in what is read of C++, or does something else than
            assign expressions to connectors.
    """
    _refuse_effects(tasklet)
    if scope.buffers.is_foreign:
        _refuse_types(state, tasklet, scope)
    inputs = {edge.dst_conn: edge for edge in state.in_edges(tasklet) if edge.dst_conn}
    code, targets = _without_subscripts(_code_of(tasklet, scope))

    def lookup(name: str, index: tuple[Lin, ...] | None) -> Expr | None:
        if name in inputs:
            return scope.value(_read(inputs[name].data, index, scope))
        return scope.lookup(name, index)

    parser = TaskletParser(lookup, scope.buffers.is_foreign)
    values = parser.tasklet(code)
    found: list[Statement] = []
    for edge in state.out_edges(tasklet):
        if edge.src_conn is None:
            continue
        if edge.src_conn not in values:
            raise _unassigned(tasklet, edge)
        index = targets.get(edge.src_conn)
        places = None if index is None else tuple(linear(parser.expression(node, values)) for node in index)
        _refuse_late_accumulation(state, edge)
        found.append(_written(tasklet, edge, values[edge.src_conn], _read(edge.data, places, scope), params, scope))
    _refuse_order(tasklet, found)
    return found


def _written(tasklet: Any, edge: Any, value: Expr, read: Read, params: Params, scope: Scope) -> Compute:
    """The statement that writes an output of a tasklet to an element."""
    if is_partial(value):
        if not edge.data.dynamic or edge.data.wcr is not None:
            raise _unassigned(tasklet, edge)
        value = filled(value, scope.value(read))
    refuse_rounding(value, read, f"the tasklet `{tasklet.label}`", scope)
    value, target = converted(value, read.dtype), Access(read.buffer, read.index)
    if isinstance(tasklet, BoxTasklet):
        return Compute(params, target, value, "add", located(tasklet), fresh=tasklet.fresh)
    plain = Compute(params, target, value, None, located(tasklet))
    return plain if edge.data.wcr is None else _combined(edge.data.wcr, plain, scope)


def _unassigned(tasklet: Any, edge: Any) -> UnsupportedGraph:
    what = f"the tasklet `{tasklet.label}` does not assign `{edge.src_conn}`, or not in every case"
    return UnsupportedGraph(what, todo="Assign it on both sides of an `if`, or make its memlet dynamic.")


def _code_of(tasklet: Any, scope: Scope) -> list[ast.stmt]:
    """The statements of a tasklet, of one in C++ as those of Python."""
    if tasklet.language == dtypes.Language.CPP and scope.buffers.is_foreign:
        _refuse_global_code(tasklet)
        return statements_of_cpp(tasklet.code.as_string, tasklet.label)
    if tasklet.language != dtypes.Language.Python:
        raise UnsupportedGraph(
            f"the tasklet `{tasklet.label}` is in {tasklet.language.name}, and not in Python",
            todo="Write it in Python, or take it out of what is differentiated.",
        )
    found: list[ast.stmt] = tasklet.code.code
    return found


def _refuse_global_code(tasklet: Any) -> None:
    if any(part.as_string.strip() for part in (tasklet.code_global, tasklet.code_init, tasklet.code_exit)):
        what = f"the tasklet `{tasklet.label}` has global code, or code that runs once"
        raise UnsupportedGraph(what, todo="Write what it does in the tasklet itself.")


def _refuse_effects(tasklet: Any) -> None:
    if tasklet.side_effects:
        raise UnsupportedGraph(f"the tasklet `{tasklet.label}` has side effects", todo="Take it out of the graph.")


def _refuse_types(state: Any, tasklet: Any, scope: Scope) -> None:
    """Raises: UnsupportedGraph, where a connector is of another type than the elements of its array."""
    connectors = {**tasklet.in_connectors, **tasklet.out_connectors}
    for edge in state.all_edges(tasklet):
        name = edge.dst_conn if edge.dst is tasklet else edge.src_conn
        kind = connectors.get(name)
        if kind is None or kind.type is None or edge.data.data is None:
            continue
        base = kind.base_type if isinstance(kind, dtypes.pointer) else kind
        array = scope.sdfg.arrays[edge.data.data].dtype
        if base != array:
            what = f"the connector `{name}` of `{tasklet.label}` is of {base}, and its array is of {array}"
            raise UnsupportedGraph(what, todo="Leave the connector's type open, and convert in the tasklet.")


def _combined(wcr: Any, plain: Compute, scope: Scope) -> Compute:
    """A statement that combines what it assigns with what is there."""
    if operation_of(wcr) == "multiply" and not scope.buffers.is_foreign:
        raise UnsupportedGraph(f"the write-conflict resolution `{wcr}`")
    return accumulated(wcr, plain.params, plain.target, plain.value, plain.value.dtype, plain.where)


def call_of(state: Any, tasklet: CallTasklet, scope: Scope) -> Call:
    """A call of a library function."""

    def wholes(edges: Iterable[Any], prefix: str) -> tuple[Whole, ...]:
        by_name = {edge.dst_conn or edge.src_conn: edge.data.data for edge in edges if not edge.data.is_empty()}
        buffers = [scope.buffer(by_name[f"{prefix}{k}"]) for k in range(len(by_name))]
        return tuple(Whole(buffer.name, buffer.shape, buffer.dtype) for buffer in buffers)

    inputs = wholes(state.in_edges(tasklet), "_in")
    outputs = wholes([e for e in state.out_edges(tasklet) if e.src_conn], "_out")
    return Call(tasklet.function, inputs, outputs, tuple(tasklet.sizes))


def clears(first: Statement, second: Statement) -> bool:
    """Whether a statement only assigns the identity of an accumulation to all targets of the latter."""
    if not isinstance(first, Compute) or not isinstance(second, Compute) or second.accumulate is None:
        return False
    params = tuple(item for item in second.params if item[0] in own(second))
    is_start = isinstance(first.value, Const) and first.value.value == OPERATIONS[second.accumulate].identity
    is_same = first.target == second.target and first.params == params
    # It is cleared once for all points, and what it adds is computed before: no point may read it.
    is_apart = is_affine(first.target.index) and second.target.buffer not in {read.buffer for read in reads_of(second)}
    return is_start and is_same and is_apart and first.assigns and not second.fresh


def is_clear(block: Any) -> bool:
    """Whether a block is a state of nothing but a tasklet that the writer has marked as a clear."""
    node = single_node(block) if isinstance(block, SDFGState) else None
    tasklets = [n for n in block.nodes() if isinstance(n, nodes.Tasklet)] if node is not None else []
    return len(tasklets) == 1 and CLEARS in tasklets[0].location


def single_node(state: Any) -> Any:
    """The only node of a state, with what is inside, if there is one; None where the state also copies arrays."""
    parents = state.scope_dict()
    found = [n for n in state.nodes() if parents[n] is None and isinstance(n, (nodes.CodeNode, nodes.EntryNode))]
    return found[0] if len(found) == 1 and not has_copies(state) else None


def has_copies(state: Any) -> bool:
    """Whether a state copies arrays."""
    return any(isinstance(e.src, nodes.AccessNode) and isinstance(e.dst, nodes.AccessNode) for e in state.edges())


def _read(memlet: Any, index: tuple[Lin, ...] | None, scope: Scope) -> Read:
    """What a connector reads: its only element, or with an index one of the part that it sees."""
    if memlet.data is None:
        raise UnsupportedGraph("an edge of a tasklet has no data", todo="Put a scalar between two tasklets.")
    if memlet.subset is None or not all(step == 1 or first == last for first, last, step in memlet.subset.ndrange()):
        raise UnsupportedGraph(f"the memlet `{memlet}`")
    starts = tuple(scope.form(first) for first, _, _ in memlet.subset.ndrange())
    if index is None:
        if memlet.subset.num_elements() != 1:
            raise UnsupportedGraph(f"the memlet `{memlet}` has more than one element")
        return scope.read(memlet.data, starts)
    index = _unsqueezed(index, memlet, scope) if scope.buffers.is_foreign else index
    if len(index) != len(starts):
        raise UnsupportedGraph(f"an element of the memlet `{memlet}` with {len(index)} indices")
    return scope.read(memlet.data, tuple(a + b for a, b in zip(index, starts, strict=True)))


def _unsqueezed(index: tuple[Lin, ...], memlet: Any, scope: Scope) -> tuple[Lin, ...]:
    """Indices in a part of an array, of which DaCe leaves out those of axes with one element."""
    long = [k for k, size in enumerate(memlet.subset.size()) if scope.form(size) != Lin(1)]
    if len(index) == len(memlet.subset.size()) or len(index) != len(long):
        return index
    return tuple(index[long.index(k)] if k in long else Lin(0) for k in range(len(memlet.subset.size())))


def _without_subscripts(code: list[Any]) -> tuple[list[ast.stmt], dict[str, list[ast.expr]]]:
    """A tasklet's code with assignments to names alone, and the indices of those that had some."""
    found, targets = list[ast.stmt](), dict[str, list[ast.expr]]()
    for statement in code:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            index = target.slice
            if target.value.id in targets:
                what = f"elements of `{target.value.id}` are assigned more than once in a tasklet"
                raise UnsupportedGraph(what, todo="Write a tasklet for each element.")
            targets[target.value.id] = list(index.elts) if isinstance(index, ast.Tuple) else [index]
            statement = ast.Assign([target.value], statement.value)
        found.append(statement)
    return found, targets


def _refuse_late_accumulation(state: Any, edge: Any) -> None:
    """Raises: UnsupportedGraph, where a map accumulates what its tasklet assigns."""
    if edge.data.wcr is None and isinstance(edge.dst, nodes.ExitNode):
        outer = f"OUT_{edge.dst_conn.removeprefix('IN_')}"
        if any(one.data.wcr is not None for one in state.out_edges_by_connector(edge.dst, outer)):
            raise UnsupportedGraph(f"the map accumulates into `{edge.data.data}`, and its tasklet does not")


def _refuse_order(tasklet: Any, found: list[Statement]) -> None:
    """A tasklet reads everything before it writes anything; as statements its outputs come one after the other."""
    for position, first in enumerate(found):
        for second in found[position + 1 :]:
            if any(name in first.written for name in second.mentioned):
                raise UnsupportedGraph(
                    f"the tasklet `{tasklet.label}` writes `{sorted(first.written)[0]}` more than once"
                )
