"""Symbols as variables: those whose values no integer form has are scalars in storage, which assignments write."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import INT, Int, Lin, Read
from sdfgad.ir.program import Access, Block, Compute
from sdfgad.sdfg.operations import converted
from sdfgad.sdfg.rounding import refuse_rounding
from sdfgad.sdfg.scope import Scope


def with_variables(sdfg: Any, scope: Scope) -> tuple[Block, Scope]:
    """The scope in which an SDFG's variables stand for what they hold, and the statements that set them first."""
    names = [name for name in sdfg.symbols if scope.is_variable(name)]
    first, symbols, values = [], dict[str, Lin](), dict(scope.values)
    for name in names:
        dtype = np.dtype(sdfg.symbols[name].type)
        dtype = INT if dtype.kind in "iu" else dtype
        buffer = scope.buffers.make(scope.buffers.names.fresh(name), (), dtype)
        read = Access(buffer.name).read(dtype)
        if dtype == INT:
            before = scope.symbols.get(name, Lin.symbol(name) if name in sdfg.free_symbols else Lin(0))
            first.append(Compute((), Access(buffer.name), Int(before)))
            symbols[name] = Lin.symbol(read)
        else:
            values[name] = read
    return tuple(first), replace(scope.with_symbols(symbols), values=values)


def assigned_variables(assignments: Mapping[str, Any], scope: Scope) -> list[Compute]:
    """The statements that assign variables."""
    names = [name for name in assignments if scope.is_variable(name)]
    return [assignment(name, scope.parser.text(str(assignments[name])), scope) for name in names]


def refuse_dependent(assignments: Mapping[str, Any], label: str) -> None:
    """Raises: UnsupportedGraph, where an assignment of an edge uses a symbol that another one on it sets."""
    for name, value in assignments.items():
        used = {node.id for node in ast.walk(ast.parse(str(value).strip())) if isinstance(node, ast.Name)}
        for other in sorted((used & assignments.keys()) - {name}):
            what = f"before `{label}`, `{name}` is set from `{other}`, which is set on the same edge"
            raise UnsupportedGraph(what, todo="Set one on an edge before.")


def assignment(name: str, value: Any, scope: Scope) -> Compute:
    """The statement that assigns a variable."""
    ((atom, _),) = scope.symbols[name].terms if name in scope.symbols else ((scope.values[name], 1),)
    assert isinstance(atom, Read)
    refuse_rounding(value, atom, f"an assignment to the symbol `{name}`", scope)
    return Compute((), Access(atom.buffer), converted(value, atom.dtype))
