"""Outline of an SDFG for code generation: the statements of its marked nodes, and the live range of each array."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from dace import dtypes
from dace.sdfg import utils
from dace.sdfg.state import LoopRegion, SDFGState

from sdfgad.ir.expr import Lin
from sdfgad.ir.linear_forms import canonical
from sdfgad.ir.program import Program, Statement, written
from sdfgad.options import Device
from sdfgad.sdfg.computations_read import clears, has_copies, is_clear, single_node
from sdfgad.sdfg.descriptors import bounds_of
from sdfgad.sdfg.marks import is_marked, storage
from sdfgad.sdfg.reader import as_fresh, top_scope, whole
from sdfgad.sdfg.scope import Scope
from sdfgad.sdfg.states import code_nodes, node_of


class Arrays:
    """The arrays that a graph's code allocates.

    Attributes:
        arrays: them, in the order of their numbers.
    """

    arrays: tuple[str, ...]

    def number(self, name: str) -> int:
        return self._numbers[name]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.arrays)}


class Outline(Arrays):
    """What the code of all states of one SDFG depends on; nested SDFGs belong to the nodes that hold them.

    Attributes:
        program: the statements of the marked nodes, one state after the other, without the control flow around.
        device: what these were optimised for.
    """

    device: Device = "cpu"

    def __init__(self, sdfg: Any) -> None:
        self.sdfg = sdfg
        # The positions in the program of what a node computes.
        self._positions: dict[Any, range] = {}
        self.program = self._read(top_scope(sdfg))
        named = {node.data for state in sdfg.states() for node in state.data_nodes()}
        ours = ((name, d) for name, d in sdfg.arrays.items() if d.transient and d.storage == storage)
        self.arrays = tuple(name for name, _ in ours if name in named)

    def positions(self, node: Any) -> range:
        """The positions in the program of a marked node's statements."""
        return self._positions[node]

    def is_absorbed(self, state: Any) -> bool:
        """Whether a state computes nothing, or only clears what the statement of the next one clears."""
        computing = [node for node in code_nodes(state) if not is_marked(node) or self._positions[node]]
        return not computing and not has_copies(state)

    @cached_property
    def is_straight(self) -> bool:
        """Whether the states run one after the other."""
        blocks = self.sdfg.nodes()
        return all(isinstance(b, SDFGState) and self.sdfg.out_degree(b) <= 1 for b in blocks)

    def _read(self, scope: Scope) -> Program:
        body: list[Statement] = []
        # DaCe's code keeps the values of symbols; here they stand for themselves.
        blocks = [b for b in self.sdfg.all_control_flow_blocks() if isinstance(b, LoopRegion)]
        own = {loop.loop_variable for loop in blocks}
        own |= {name for edge in self.sdfg.all_interstate_edges() for name in edge.data.assignments}
        scope = scope.with_symbols({name: Lin.symbol(name) for name in own})
        for region in self.sdfg.all_control_flow_regions():
            before = None
            for block in utils.dfs_topological_sort(region, [region.start_block]) if region.number_of_nodes() else ():
                if isinstance(block, SDFGState):
                    self._state(block, before if _follows(region, before, block) else None, body, scope)
                before = block
        body = list(canonical(tuple(body), scope.buffers.found))
        outside = [name for name, descriptor in self.sdfg.arrays.items() if not descriptor.transient]
        changed = written(tuple(body))
        inputs = tuple(name for name in outside if name not in changed)
        outputs = {name: name for name in outside if name in changed}
        bounds = set[str]().union(*map(bounds_of, self.sdfg.arrays.values()))
        integers, buffers = tuple(self.sdfg.symbols), scope.buffers.found
        return Program(self.sdfg.name, buffers, inputs, integers, outputs, tuple(body), bounds=tuple(sorted(bounds)))

    def _state(self, state: Any, before: Any, body: list[Statement], scope: Scope) -> None:
        """Reads the nodes of a state; one that accumulates what the state before it clears does both."""
        for node in filter(is_marked, code_nodes(state)):
            block = node_of(state, node, scope, whole)
            cleared = single_node(before) if is_clear(before) and node is single_node(state) else None
            if cleared in self._positions and len(block) == 1 and clears(body[-1], block[0]):
                self._positions[cleared] = range(0)
                body.pop()
                block = (as_fresh(block[0]),)
            self._positions[node] = range(len(body), len(body) + len(block))
            body += block

    # --- arrays

    def local_to(self, node: Any) -> set[str]:
        """The register variables that only the scope of an outermost map mentions: each of its trips has its own."""
        return {name for name, nodes_ in self._outermost.items() if nodes_ == {node} and self._is_register(name)}

    def _is_register(self, name: str) -> bool:
        descriptor = self.sdfg.arrays[name]
        return bool(descriptor.transient and descriptor.storage == dtypes.StorageType.Register)

    @cached_property
    def _outermost(self) -> dict[str, set[Any]]:
        """The outermost maps in whose scopes an array is mentioned; None stands for a state itself."""
        found: dict[str, set[Any]] = {}
        for state in self.sdfg.states():
            parents = state.scope_dict()
            for node in state.data_nodes():
                scope = parents[node]
                while scope is not None and parents[scope] is not None:
                    scope = parents[scope]
                found.setdefault(node.data, set()).add(scope)
        for name in self._on_edges:
            found.setdefault(name, set()).add(None)
        return found

    @cached_property
    def _on_edges(self) -> set[str]:
        """What is read between states."""
        return {name for edge in self.sdfg.all_interstate_edges() for name in edge.data.free_symbols}

    def is_throughout(self, name: str) -> bool:
        """Whether an array is live in all states."""
        return name not in self._spans

    def begins(self, state: Any) -> Iterator[str]:
        """The arrays that are live from this state on: it mentions them first."""
        return (name for name in self.arrays if self._spans.get(name, (None,))[0] is state)

    def ends(self, state: Any) -> Iterator[str]:
        """The arrays that are dead from this state on: the state before mentions them last."""
        edges = self.sdfg.in_edges(state) if self.is_straight else []
        before = edges[0].src if edges else None
        return (name for name in self.arrays if before and self._spans.get(name, (None, None))[1] is before)

    @cached_property
    def _spans(self) -> dict[str, tuple[Any, Any]]:
        """The first and the last state that mentions an array, where states run one after the other."""
        found: dict[str, tuple[Any, Any]] = {}
        if not self.is_straight:
            return found
        for state in utils.dfs_topological_sort(self.sdfg, [self.sdfg.start_block]):
            for name in {node.data for node in state.data_nodes()}:
                found[name] = (found.get(name, (state,))[0], state)
        return {name: span for name, span in found.items() if name not in self._on_edges}


def _follows(region: Any, before: Any, block: Any) -> bool:
    """Whether a block runs right after the one before, and nowhere else."""
    edges = region.in_edges(block)
    is_plain = len(edges) == 1 and edges[0].src is before and not edges[0].data.assignments
    return is_plain and region.out_degree(before) == 1
