"""Statements of an SDFG that others have written, for given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from dace.sdfg import nodes
from dace.sdfg.state import LoopRegion

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Check
from sdfgad.sdfg.reader import whole
from sdfgad.sdfg.scope import Buffers, Kept, Scope

# How often the graph is read again: once for each symbol that is a variable.
MOST_VARIABLES = 1000


@dataclass(frozen=True)
class Statements:
    """What a graph computes.

    Attributes:
        constants: the buffers of the graph's own constants, which are arrays.
    """

    body: Block
    buffers: Mapping[str, Buffer]
    constants: Mapping[str, np.ndarray[Any, Any]]
    checks: tuple[Check, ...]


def statements_of(
    sdfg: Any, symbols: Mapping[str, Lin], numbers: Mapping[str, Lin], floats: Mapping[str, Any]
) -> Statements:
    """The statements of a graph whose library nodes are expanded.

    Args:
        symbols: the forms of symbols that are known.
        numbers: scalars of integers that the caller passes and nothing writes, with their forms.
        floats: symbols that are no integers, with their dtypes: each becomes an input of its own.

    Raises:
        UnsupportedGraph: the graph has something that no statement can express.
    """
    variables = frozenset[tuple[int, str]]()
    for _ in range(MOST_VARIABLES):
        try:
            return _read(sdfg, symbols, numbers, floats, variables)
        except Kept as kept:
            if kept.symbol in variables:
                raise
            variables |= {kept.symbol}
    raise UnsupportedGraph(f"`{sdfg.name}` has more than {MOST_VARIABLES} symbols that change", todo="Use scalars.")


def _read(
    sdfg: Any,
    symbols: Mapping[str, Lin],
    numbers: Mapping[str, Lin],
    floats: Mapping[str, Any],
    variables: frozenset[tuple[int, str]],
) -> Statements:
    buffers = Buffers(names=Names(_bound(sdfg)), is_foreign=True, numbers=numbers, variables=variables)
    values = {name: Access(buffers.make(name, (), dtype).name).read(dtype) for name, dtype in floats.items()}
    scope = Scope(buffers, sdfg, {}, dict(symbols), values=values)
    for name, descriptor in sdfg.arrays.items():
        if not descriptor.transient:
            scope.buffer(name)
    body = whole(sdfg, scope)
    constants = {name: np.asarray(value) for name, value in buffers.constants.items()}
    return Statements(body, dict(buffers.found), constants, tuple(buffers.checks))


def _bound(sdfg: Any) -> set[str]:
    """The names of all symbols and counters: counters of ours have others, as they would hide these."""
    found = set[str]()
    for one in sdfg.all_sdfgs_recursive():
        found |= set(one.symbols)
        found |= {loop.loop_variable for loop in one.all_control_flow_regions() if isinstance(loop, LoopRegion)}
    maps = (node.map for node, _ in sdfg.all_nodes_recursive() if isinstance(node, nodes.MapEntry))
    return found.union(*(one.params for one in maps))
