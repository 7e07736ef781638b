"""Expansion of library nodes to what they compute: maps, tasklets and nested SDFGs."""

from __future__ import annotations

from typing import Any

from dace.sdfg import nodes

from sdfgad.errors import UnsupportedGraph
from sdfgad.sdfg import factorisations, fourier_nodes, linear_algebra, onnx_nodes
from sdfgad.sdfg.library import OWN, LibraryCall, Product
from sdfgad.sdfg.scope import located

TODO = "Expand it before, to maps and tasklets in Python: `node.expand(state)`."
# What DaCe calls an expansion to its own graphs.
PURE = "pure"
MOST_ROUNDS = 20


def expand(sdfg: Any) -> None:
    """Expands library nodes, and those that come out of that; some of linear algebra, transforms, and those of
    ONNX for which we have operators, become statements.

    Raises:
        UnsupportedGraph: one has no expansion to a graph.
    """
    for _ in range(MOST_ROUNDS):
        found = [(n, state) for n, state in sdfg.all_nodes_recursive() if isinstance(n, nodes.LibraryNode)]
        found = [(node, state) for node, state in found if not _is_call(node, state)]
        if not found:
            return
        for node, state in found:
            _expand_one(node, state)
    raise UnsupportedGraph(f"the library nodes of `{sdfg.name}` expand to ever more of them", todo=TODO)


def _is_call(node: Any, state: Any) -> bool:
    is_one = any(known.is_known(node) for known in (linear_algebra, factorisations, fourier_nodes))
    return is_one or onnx_nodes.is_read(node, state)


def _expand_one(node: Any, state: Any) -> None:
    chosen = OWN if isinstance(node, (Product, LibraryCall)) else _pure(node, state)
    name, kind = node.label, type(node).__name__
    try:
        node.expand(state, chosen)
    except Exception as error:
        what = f"the library node `{name}` of type {kind} in the state `{state.label}` cannot be expanded: {error}"
        raise UnsupportedGraph(what, located(node), TODO) from error


def _pure(node: Any, state: Any) -> str:
    """The name of the expansion to a graph."""
    known = type(node).implementations
    for name in (PURE, "specialize", *(name for name in known if name.startswith(PURE))):
        if name in known:
            return str(name)
    what = f"the library node `{node.label}` of type {type(node).__name__} in the state `{state.label}`"
    raise UnsupportedGraph(f"{what} has no expansion to a graph", located(node), TODO)
