"""Data races: nodes of a state that no edge orders, of which one writes what the other one touches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dace import subsets
from dace.sdfg import nodes

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.program import Block, Compute, walk, written
from sdfgad.sdfg.scope import Scope, located

TODO = "Put them in two states, or connect them by an edge: no order of theirs is in the graph."


def refuse_races(state: Any, found: list[tuple[Any, Block]], scope: Scope) -> None:
    """Raises: UnsupportedGraph, where the order of two nodes matters, and is not in the graph.

    Args:
        found: the nodes in the order in which they are read, each with its statements.
    """
    effects = [(node, block, written(block), frozenset().union(*(s.mentioned for s in block))) for node, block in found]
    for position, (node, block, writes, touches) in enumerate(effects):
        for other, before, other_writes, other_touches in effects[:position]:
            shared = (writes & other_touches) | (touches & other_writes)
            for name in sorted(shared):
                if not (_only_adds(block, name) and _only_adds(before, name)):
                    _refuse_unordered(state, other, node, name, scope)


def _refuse_unordered(state: Any, first: Any, second: Any, name: str, scope: Scope) -> None:
    if _is_before(state, first, second) or _are_apart(state, first, second, name, scope):
        return
    what = f"`{first.label}` and `{second.label}` in `{state.label}` may both touch `{name}`, and one of them writes it"
    raise UnsupportedGraph(what, located(second), TODO)


def _is_before(state: Any, first: Any, second: Any) -> bool:
    """Whether a path of edges leads from one node to another one."""
    seen, waiting = {first}, [first]
    while waiting:
        for node in state.successors(waiting.pop()):
            if node is second:
                return True
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return False


def _only_adds(block: Block, name: str) -> bool:
    """Whether statements do nothing else with a buffer than add to it: sums meet in any order."""
    uses = [s for s in walk(block) if name in s.touched]
    return all(isinstance(s, Compute) and s.accumulate == "add" and not s.fresh and _reads_not(s, name) for s in uses)


def _reads_not(statement: Compute, name: str) -> bool:
    return all(read.buffer != name for read in statement.read)


def _are_apart(state: Any, first: Any, second: Any, name: str, scope: Scope) -> bool:
    """Whether the parts that two nodes touch certainly have no element in common."""
    one, other = list(_parts(state, first, name, scope)), list(_parts(state, second, name, scope))
    return all(a is not None and b is not None and subsets.intersects(a, b) is False for a in one for b in other)


def _parts(state: Any, node: Any, name: str, scope: Scope) -> Iterator[Any]:
    """The subsets of a buffer that a node touches; None where that is not known."""
    end = state.exit_node(node) if isinstance(node, nodes.EntryNode) else node
    edges = [*state.in_edges(node), *(state.out_edges(end) if not isinstance(node, nodes.AccessNode) else ())]
    for edge in edges:
        memlet = edge.data
        if memlet.is_empty():
            continue
        if memlet.data is None or memlet.data in scope.windows:
            yield None
        elif scope.buffer(memlet.data).name == name:
            yield memlet.subset
        elif isinstance(node, nodes.AccessNode):
            yield memlet.other_subset
