"""The outermost states of an SDFG: the statements of their marked nodes, and when each array is held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from dace.sdfg.state import SDFGState

from sdfgad.ir.program import Block, Compute, Program, Statement, written
from sdfgad.sdfg.computations_read import clears
from sdfgad.sdfg.descriptors import bounds_of
from sdfgad.sdfg.marks import is_marked, storage
from sdfgad.sdfg.reader import assigned, chain, code_nodes, node_of, top_scope
from sdfgad.sdfg.scope import Scope


class Outline:
    """What the code of an SDFG's outermost states depends on together.

    Attributes:
        program: the statements of the marked nodes, in order.
    """

    def __init__(self, sdfg: Any) -> None:
        self.sdfg = sdfg
        self._states: list[Any] = []
        # The positions in the program of what a node computes.
        self._positions: dict[Any, range] = {}
        self.program = self._read(top_scope(sdfg))

    def positions(self, node: Any) -> range:
        """Where the statements of a marked node are in the program."""
        return self._positions[node]

    def _read(self, scope: Scope) -> Program:
        body: list[Statement] = []
        for block, assignments in chain(self.sdfg):
            scope = assigned(assignments, scope)
            if isinstance(block, SDFGState):
                self._states.append(block)
                for node in filter(is_marked, code_nodes(block)):
                    self._append(body, node, node_of(block, node, scope))
        outside = [name for name, descriptor in self.sdfg.arrays.items() if not descriptor.transient]
        changed = written(tuple(body))
        inputs = tuple(name for name in outside if name not in changed)
        outputs = {name: name for name in outside if name in changed}
        bounds = set[str]().union(*map(bounds_of, self.sdfg.arrays.values()))
        integers = tuple(self.sdfg.symbols)
        buffers = scope.buffers.found
        return Program(self.sdfg.name, buffers, inputs, integers, outputs, tuple(body), bounds=tuple(sorted(bounds)))

    def _append(self, body: list[Statement], node: Any, block: Block) -> None:
        """What only clears the target of the next statement is part of that."""
        if body and len(block) == 1 and clears(body[-1], block[0]):
            before = next(n for n, found in self._positions.items() if len(body) - 1 in found)
            self._positions[before] = range(len(body) - 1, len(body) - 1)
            body.pop()
            assert isinstance(block[0], Compute)
            block = (replace(block[0], fresh=True),)
        self._positions[node] = range(len(body), len(body) + len(block))
        body += block

    # --- arrays

    @cached_property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that the program allocates, in the order of their numbers."""
        mentioned = {node.data for state in self.sdfg.states() for node in state.data_nodes()}
        return tuple(n for n, d in self.sdfg.arrays.items() if d.transient and d.storage == storage and n in mentioned)

    def is_throughout(self, name: str) -> bool:
        """Whether an array is held all the time: not only outermost states mention it."""
        return name not in self._spans

    def begins(self, state: Any) -> Iterator[str]:
        """The arrays that a state is the first one to mention."""
        return (name for name in self.arrays if self._spans.get(name, (None,))[0] is state)

    def ends(self, state: Any) -> Iterator[str]:
        """The arrays that no state from this one on mentions, but the one before did."""
        position = self._states.index(state) if state in self._states else 0
        before = self._states[position - 1] if position else None
        return (name for name in self.arrays if before and self._spans.get(name, (None, None))[1] is before)

    @cached_property
    def _spans(self) -> dict[str, tuple[Any, Any]]:
        """The first and the last state that mentions an array."""
        found: dict[str, tuple[Any, Any]] = {}
        for state in self._states:
            for name in {node.data for node in state.data_nodes()}:
                found[name] = (found.get(name, (state,))[0], state)
        elsewhere = {n.data for s in self.sdfg.states() if s not in set(self._states) for n in s.data_nodes()}
        elsewhere |= {name for edge in self.sdfg.all_interstate_edges() for name in edge.data.free_symbols}
        return {name: span for name, span in found.items() if name not in elsewhere}
