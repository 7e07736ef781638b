"""Graphs for DaCe's stock code generators: without our schedules, storage and marks; DaCe expands the library nodes.

So the two generators can check each other on a program, and a program can be exported to where only DaCe is installed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dace import dtypes
from dace.sdfg import nodes

from sdfgad.ir.ops import OPERATIONS, Operation
from sdfgad.sdfg.library import STOCK
from sdfgad.sdfg.marks import MARK, schedule, storage
from sdfgad.sdfg.tasklet import FUNCTION

NUMBERS = {"inf": "INFINITY", "nan": "NAN"}


def use_stock(sdfg: Any) -> None:
    """Replaces our schedules and storage by DaCe's own: outermost maps that accumulate nothing are parallel."""
    sdfg.append_global_code('#include "stock.h"\n' + functions())
    for nested in sdfg.all_sdfgs_recursive():
        for descriptor in nested.arrays.values():
            if descriptor.storage == storage:
                descriptor.storage = dtypes.StorageType.CPU_Heap
    for node, state in sdfg.all_nodes_recursive():
        if isinstance(node, nodes.MapEntry) and node.schedule == schedule:
            node.schedule = _schedule(state, node)
        elif isinstance(node, nodes.LibraryNode):
            node.implementation, node.schedule = STOCK, dtypes.ScheduleType.Sequential
        if isinstance(node, nodes.CodeNode):
            node.location.pop(MARK, None)


def _schedule(state: Any, entry: Any) -> Any:
    is_outermost = state.sdfg.parent is None and state.entry_node(entry) is None
    inside = state.scope_subgraph(entry).nodes()
    is_sum = any(edge.data.wcr for node in inside for edge in state.out_edges(node))
    has_more = any(isinstance(node, nodes.NestedSDFG) for node in inside)
    parallel = is_outermost and not is_sum and not has_more
    return dtypes.ScheduleType.CPU_Multicore if parallel else dtypes.ScheduleType.Sequential


def functions() -> str:
    """The elementary operations as functions of C++, of real and of complex operands."""
    found = [_function(name, operation) for name, operation in OPERATIONS.items() if operation.cpp]
    return "\n".join([*found, *(_number(name, text) for name, text in NUMBERS.items())]) + "\n"


def _function(name: str, operation: Operation) -> str:
    count = operation.arity
    own = [f"sdfgad::value(a{k})" for k in range(count)]
    parameters = ", ".join(f"T{k} a{k}" for k in range(count))
    types = ", ".join(f"typename T{k}" for k in range(count))
    return (
        f"template <{types}> inline auto {FUNCTION.format(name)}({parameters}) {{\n"
        f"    if constexpr (sdfgad::is_complex<T0>) {{ {_body(operation.text(is_complex=True), own)} }}\n"
        f"    else {{ {_body(operation.cpp, own)} }}\n}}"
    )


def _body(template: str, arguments: Iterable[str]) -> str:
    return f"return sdfgad::stock({template.format(*arguments)});"


def _number(name: str, text: str) -> str:
    return f"inline double {FUNCTION.format(name)}() {{ return {text}; }}"
